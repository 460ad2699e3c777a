/* SPDX-License-Identifier: Apache-2.0 */
/* What a forest is made of. Only for forest*.c: forest_build.c makes it, forest.c steps it. */
#ifndef MODAL_FOREST_FOREST_PRIVATE_H
#define MODAL_FOREST_FOREST_PRIVATE_H

#include "kernels/registry.h"
#include "lib/forest/forest.h"
#include "lib/forest/small_motion.h"

enum { MODAL_FOREST_HALVINGS = 20 }; /* at most, of a step */

struct modal_forest {
    modal_device device;
    modal_stream *stream;
    modal_step_task task;
    int32_t n_objects;      /* of the task */
    int32_t n_bodies;       /* of the basis */
    int64_t n_coordinates;
    int n_threads;          /* the setup's */
    int32_t *place;         /* [bodies] where an object of the basis stands in the task, or -1 */
    int32_t *object_at;     /* [objects] the other way */
    int32_t *tree_of;       /* [objects of the task] */
    int32_t *levels;        /* [n_levels + 1] */
    uint8_t *driven;        /* [n_trees] */
    uint8_t *alone;         /* [n_trees] a fixed or driven object on which nothing hangs */
    modal_small_motion *small; /* [n_trees] */
    double *masses;         /* [bodies, 4] modal_forest_mass */
    int32_t n_driven, most_halvings, most_iterations;
    double gravity[3];        /* the setup's */
    double still, near;       /* the time of an equilibrium; the side of loads where no step says it */
    int64_t n_setup_points, n_steps, n_iterations, n_halvings;
    int32_t *status;        /* [n_trees] */
    double *times;          /* [n_trees] of their states */
    const int32_t *level;   /* [n_trees] the caller's: halvings that a tree's steps begin with; NULL: none */
    uint8_t *now, *failed;  /* [n_trees] of an attempt; of the step that failed last */
    uint8_t *masks;         /* [MODAL_FOREST_HALVINGS + 2, n_trees] of each depth */
    double *forces;         /* [n_setup_points, 3] */
    int32_t *point_order;   /* [n_points] the setup's point of each of the task */
    double *ordered;        /* [n_points, 3] */
    modal_step_pose *roots;      /* [n_trees] */
    double *root_lag;             /* [n_trees, 6] scratch */
    modal_step_pose *poses;     /* [n_objects] scratch */
    modal_step_measure *measures; /* [n_objects] scratch */
    double *tables;         /* of the task, where the device's memory is main memory */
    void *owned[32];        /* on the device */
    int n_owned;
};

#endif
