/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a scene: steps a forest from frame to frame. */
#ifndef MODAL_FOREST_SIMULATE_H
#define MODAL_FOREST_SIMULATE_H

#include "lib/base/progress.h"
#include "lib/forest/forest.h"
#include "lib/model/quality.h"
#include "lib/model/scene.h"
#include "lib/scene/needs.h"

/* The state between two frames, all that the motion goes on from. */
typedef struct modal_scene_state {
    int64_t next_frame; /* frames before it are done; 0: nothing is */
    double *q, *v, *a;  /* [coordinates] */
    double *lag;        /* [coordinates + 6 objects] behind a (modal_forest_state) */
    double *drift;      /* [modal_drift_numbers] behind lag (drift.h) */
    modal_step_pose *poses;     /* [objects] */
    modal_step_measure *measures; /* [objects] */
    struct modal_judged *judged;  /* [objects] (judge.h) */
} modal_scene_state;

/* The longest step that follows the motion as well as lib/forest/simulate_pace.c says. */
typedef struct modal_scene_pace {
    double step;          /* s; INFINITY: nothing asks for one */
    double frequency;     /* Hz, of what asks for it: */
    int32_t object, mode; /* a mode (what "mode"), or -1: a load on an object, or -1: on all */
    const char *what;     /* "mode", "a sine", ... */
} modal_scene_pace;

typedef struct modal_simulation {
    const modal_scene *scene;
    const modal_basis *basis;
    const modal_device *device;
    int n_threads; /* of the preparation, and of what is measured a frame */
    int look_at_solids;  /* nonzero: how strongly solids are deformed is measured, where their modes at the nodes are there */
    int look_at_loads;   /* nonzero: what the bases leave out of them is, where the bases say what is beside them */
    int64_t look_every;  /* solids of a frame that bounds on q prove sound are measured in one of so many frames; 0 and 1: in all */
    int anew;            /* modal_exact_setup.anew; no restart */
    int measure_all;     /* nonzero: every measure of every object in every frame, whatever it takes */
    int allow_inversion; /* nonzero: det F < 0 is no error */
    const modal_progress *progress;
    int64_t memory_limit, basis_bytes; /* the most for the basis, which takes the second, and the tables; 0: any */
    int64_t memory_left; /* of the machine, with the basis read; 0: not known */
    int64_t n_frames;    /* at i / fps: modal_frame_time */
    /* the frame that is done, number state.next_frame - 1, at state.q */
    double *poses;  /* [objects, 12] the caller's, or NULL: not wanted */
    double energy[4]; /* kinetic, elastic, dissipated so far, external work so far; J */
    modal_quality quality; /* how far that frame may be trusted */
    modal_scene_state state; /* in: where to begin (arrays as large as above, next_frame >= 0); out: where
                                it ended, also after an error */
    /* called for a shape whose modal matrix is not there, before the first step, with the tiles that the scene
     * needs: puts them and matrix_tiles into the basis's shape. NULL: all matrices are there. */
    modal_status (*load_tiles)(void *context, int32_t shape, int64_t n_tiles, const int64_t *tiles,
                               modal_error *err);
    /* called before the first step, when pace, step and steps_a_frame are known; may be NULL */
    void (*planned)(void *context, const struct modal_simulation *simulation);
    /* called for every force and impulse ("forces", "impulses") on a point with the stored vertex that it takes; may be NULL */
    void (*placed)(void *context, const char *list, const modal_scene_force *force, int64_t vertex, double distance);
    /* called when a frame is done, may be NULL; its status ends the run */
    modal_status (*frame_done)(void *context, const struct modal_simulation *simulation, modal_error *err);
    /* called some times a second between steps, of which `done` of all that this run will take are done; may be NULL;
     * its status ends the run */
    modal_status (*watch)(void *context, const struct modal_simulation *simulation, int64_t done, int64_t all,
                          modal_error *err);
    void *context;
    /* out, for reports */
    modal_scene_pace pace;
    double step;           /* s, of a whole step */
    int64_t steps_a_frame; /* the least number of equal ones of at most scene->step, or pace.step */
    int64_t steps, iterations, halvings;
    int64_t shortened, kept; /* what judgements did, and the balance of energies (modal_judge_counts) */
    double balance;
    double seconds_stepping, seconds_measuring;
    /* of scenes with attraction, at the frames of this run: whether there was one; the potential of the last; kinetic + elastic +
     * dissipated + potential of the first, and the most that the others differ from it; the largest potential or kinetic energy; J */
    struct { int known; double potential, first, drift, size; } attraction;
    /* of objects whose model is not linear the least det F, when and where; INFINITY: none was measured */
    struct { double value, time; int32_t object; int64_t element; } least_jacobian;
} modal_simulation;

/* The time of frame i, s. */
static inline double modal_frame_time(int64_t i, double fps) { return i == 0 ? 0 : (double)i / fps; }

/* Checks the scene against the basis and runs it. Errors: MODAL_ERROR_INPUT "objects[3]: ..." for what the
 * basis does not have; those of modal_forest_step;
 * MODAL_ERROR_NOT_CONVERGED where an element is inside out at a frame. */
modal_status modal_scene_simulate(modal_simulation *simulation, modal_error *err);

/* Numbers of a, lag and drift together. */
int64_t modal_scene_state_numbers(int64_t n_coordinates, int64_t n_objects);
modal_status modal_scene_state_alloc(modal_scene_state *state, const modal_basis *basis, modal_error *err);
void modal_scene_state_free(modal_scene_state *state);

#endif
