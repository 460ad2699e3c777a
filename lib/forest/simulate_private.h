/* SPDX-License-Identifier: Apache-2.0 */
/* A scene that runs. Only for simulate*.c: simulate_loads.c is what acts, simulate.c the rest. */
#ifndef MODAL_FOREST_SIMULATE_PRIVATE_H
#define MODAL_FOREST_SIMULATE_PRIVATE_H

#include "lib/forest/attraction.h"
#include "lib/forest/corners.h"
#include "lib/forest/deformation.h"
#include "lib/forest/judge.h"
#include "lib/forest/simulate.h"
#include "lib/oscillators/exact.h"
#include "lib/scene/motion.h"

typedef struct modal_scene_run {
    modal_simulation *s;
    double step;
    modal_body *bodies;          /* [objects] */
    const modal_scene_object **said; /* [objects] or NULL */
    modal_spline *splines;       /* [objects] */
    modal_body_point *points;
    int64_t n_points, point_capacity;
    int64_t *force_first;        /* [n_forces + 1] force i acts at the points members[force_first[i]], ... */
    int64_t *members;            /* [n_members] points */
    int64_t n_members, member_capacity;
    int32_t *sorted;             /* [n_points] place of a point after sorting by object */
    modal_curve *curves;         /* [n_forces] of the forces; an impulse's is a narrow triangle */
    double *peaks;               /* [n_forces, 2, 3] times and values of these */
    modal_corners corners;       /* of what acts on objects that are not exact */
    modal_step_air air;
    modal_attraction attraction;
    modal_forest *forest;
    double *exact_loads;         /* behind the inputs */
    modal_exact_input *inputs;   /* of the exact objects */
    modal_exact *exact;
    double *least_moved, *least_energy; /* [objects] at roots: what loads are expected to do (modal_judge_setup) */
    double load_left_out;        /* the largest of a tree, NaN: none is known; and the object that has most of it */
    int32_t load_left_out_object;
    int loads_unknown;           /* nonzero: of some object that deforms it is not known */
    modal_judge *judge;
    modal_deformation *deformation; /* or NULL: not wanted */
    modal_deformed *deformed;    /* [objects] of a frame */
    int32_t *measured;           /* [2 objects] of a frame, and scratch */
    int64_t *first;              /* [objects + 1] coordinates */
    int32_t *known, *left_out;   /* objects whose deformation is known, and what their basis leaves out; for one of them: */
    int64_t n_known, n_left_out, known_products, left_out_products;
    double *reach, *weights;     /* [objects], [coordinates] (modal_deformation_reach) */
    double not_judged;           /* of every frame: a sum of modal_missing */
    double sound_size;           /* the |F - I| up to which a solid is known to be sound */
    double *parts, *monomials;   /* [n_left_out] of a frame; [threads, most_monomials] scratch */
    int64_t most_monomials;
    int64_t shorter;             /* times that steps were made shorter, up to the last frame */
    modal_scene_state between;   /* where steps that are judged begin within a frame */
} modal_scene_run;

/* Points where forces act: of the scene's forces, of the air, of the attraction, and all of them by object. */
modal_status modal_scene_run_forces(modal_scene_run *run, modal_error *err);
modal_status modal_scene_run_patches(modal_scene_run *run, modal_error *err);
modal_status modal_scene_run_attraction(modal_scene_run *run, modal_error *err);
modal_status modal_scene_run_sort(modal_scene_run *run, modal_error *err);

/* Loads the part of the modal matrices that these points and the interfaces need. */
modal_status modal_scene_run_tiles(modal_scene_run *run, modal_error *err);

/* MODAL_ERROR_INPUT for a force that moves nothing: the nodes that it acts on are held, and its object stands still or is driven. */
modal_status modal_scene_run_idle(const modal_scene_run *run, modal_error *err);

/* Makes run->exact, with the forces on its objects; q, v and stream are the forest's. */
modal_status modal_scene_run_exact(modal_scene_run *run, double *q, double *v, modal_stream *stream,
                                   modal_error *err);

/* Fills run->curves and run->corners; the forest is there, and the step is known. */
modal_status modal_scene_run_corners(modal_scene_run *run, modal_error *err);

/* modal_forest_loads.forces and .gravity, their context a modal_scene_run. */
void modal_scene_run_loads(void *context, double time, double near, double *forces);
void modal_scene_run_gravity(void *context, double time, double near, double *gravity);

/* Makes ready to measure frames, and fills run->s->quality of a frame, which is at run->s->state.
 * MODAL_ERROR_NOT_CONVERGED "object 3: t = 0.1 s: element 17 is inside out ..., try ..." */
modal_status modal_scene_run_quality_begin(modal_scene_run *run, modal_error *err);
modal_status modal_scene_run_quality(modal_scene_run *run, int64_t frame, modal_error *err);
void modal_scene_run_quality_end(modal_scene_run *run);

/* Estimates what the loads would move beside the basis: run->load_left_out, and run->loads_unknown. The forest is there. */
modal_status modal_scene_run_left_out(modal_scene_run *run, modal_error *err);

/* Of an object that is a tree by itself, and whose frame does not turn but freely: the part of the motion under the scene's loads that is
 * along the slow motions; NAN: not known. MODAL_ERROR_MEMORY. */
int modal_scene_run_is_alone(const modal_scene_run *run, int32_t object, int has_children);
modal_status modal_scene_run_left_alone(const modal_scene_run *run, int32_t object, const modal_shape *slow, double *part, modal_error *err);

/* The longest step that follows the scene, and what it follows: run->s->pace. Points have been sorted, and their tiles
 * are there. */
modal_status modal_scene_run_pace(modal_scene_run *run, modal_error *err);

#endif
