/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a forest that end where its loads have corners.
 *
 * Newmark's rule takes the mean of a load over a step for that of its two ends, and the average vector field for its value
 * in the middle. Both are exact for straight lines, of second order for smooth loads, and of first where a load jumps
 * within a step. So steps end at jumps, where accelerations are made anew for the loads after them, and at kinks, and
 * every load that is made of straight lines enters with its exact mean. The other way, the exact mean of whatever lies
 * within a step, keeps the number of steps, but is of first order for impulses and needs one more solution in every step:
 * Newmark's accelerations at its start are those of a point of time. (docs/results/dynamics.md has a table of both.)
 *
 * Trees without a corner in a step take it as a whole: their bytes do not depend on the loads of others. */
#ifndef MODAL_FOREST_CORNERS_H
#define MODAL_FOREST_CORNERS_H

#include "lib/forest/forest.h"

typedef enum modal_corner_kind {
    MODAL_CORNER_KINK,  /* the slope changes: met within a hundredth of a step */
    MODAL_CORNER_SHARP, /* the same, met exactly */
    MODAL_CORNER_JUMP   /* the load jumps */
} modal_corner_kind;

typedef struct modal_corner {
    double time;    /* s */
    int32_t object; /* of the basis, whose tree bears the load; -1: all */
    modal_corner_kind kind;
} modal_corner;

typedef struct modal_corners {
    int64_t n, capacity, next;
    modal_corner *all; /* [n] */
    int32_t n_trees;
    uint8_t *trees;    /* [3, n_trees] */
} modal_corners;

/* Zeroed memory is an empty list. Add in any order, then sort once, which also makes room for the forest's trees. */
modal_status modal_corners_add(modal_corners *corners, double time, int32_t object, modal_corner_kind kind,
                               modal_error *err);
modal_status modal_corners_sort(modal_corners *corners, const modal_forest *forest, modal_error *err);
void modal_corners_free(modal_corners *corners);

/* A time after `time` and before time + h, with no corner between the two. */
double modal_corners_near(const modal_corners *corners, double time, double h);

/* The trees [n_trees] that are not 0 from `time` to time + h; times of successive calls increase, unless `next` is set
 * to what it was before the call that is repeated. */
modal_status modal_corners_step(modal_corners *corners, modal_forest *forest, const modal_forest_loads *loads,
                                modal_step_rule rule, double time, double h, const uint8_t *trees, modal_error *err);

#endif
