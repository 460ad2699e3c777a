/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a scene: steps a forest from frame to frame. */
#ifndef MODAL_DYNAMICS_SIMULATE_H
#define MODAL_DYNAMICS_SIMULATE_H

#include "lib/base/progress.h"
#include "lib/dynamics/forest.h"
#include "lib/dynamics/scene.h"

/* The state between two frames, all that the motion goes on from. */
typedef struct modal_scene_state {
    int64_t next_frame; /* frames before it are done; 0: nothing is */
    double *q, *v, *a;  /* [coordinates] */
    modal_step_frame *frames;     /* [objects] */
    modal_step_measure *measures; /* [objects] */
} modal_scene_state;

typedef struct modal_simulation {
    const modal_scene *scene;
    const modal_basis *basis;
    const modal_device *device;
    int n_threads; /* of the preparation */
    const modal_progress *progress;
    int64_t n_frames;
    const double *times; /* [n_frames] i / fps */
    /* results; the caller's arrays */
    double *q;       /* [n_frames, coordinates] */
    double *frames;  /* [n_frames, objects, 12], or NULL */
    double *energy;  /* [n_frames, 4] kinetic, elastic, dissipated so far, external work so far; J */
    modal_scene_state state; /* in: where to begin (arrays as large as above, next_frame >= 0); out: where
                                it ended, also after an error */
    /* called when a frame is done, may be NULL; its status ends the run */
    modal_status (*frame_done)(void *context, const struct modal_simulation *simulation, modal_error *err);
    void *context;
    /* out, for reports */
    int64_t steps, iterations, halvings;
    double seconds_stepping;
} modal_simulation;

/* Steps a frame: 1 / fps over the least number of equal steps of at most scene->step. */
int64_t modal_scene_steps_per_frame(const modal_scene *scene);

/* Whether any object's frame moves, so that the trajectory needs frames. */
int modal_scene_moves(const modal_scene *scene, const modal_basis *basis);

/* Checks the scene against the basis and runs it. Errors: MODAL_ERROR_INPUT "objects[3]: ..." for what the
 * basis does not have; those of modal_forest_step. */
modal_status modal_scene_simulate(modal_simulation *simulation, modal_error *err);

modal_status modal_scene_state_alloc(modal_scene_state *state, const modal_basis *basis, modal_error *err);
void modal_scene_state_free(modal_scene_state *state);

#endif
