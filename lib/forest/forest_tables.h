/* SPDX-License-Identifier: Apache-2.0 */
/* The one table array of a forest, and what goes into it. Only for forest*.c. */
#ifndef MODAL_FOREST_FOREST_TABLES_H
#define MODAL_FOREST_FOREST_TABLES_H

#include "lib/forest/forest.h"

typedef struct modal_forest_tables {
    double *values; /* zeroed as it grows */
    int64_t count, capacity;
} modal_forest_tables;

/* Makes room for `count` zeros, a whole number of groups of 8, and returns where they begin. */
modal_status modal_forest_reserve(modal_forest_tables *tables, int64_t count, int64_t *at,
                                  modal_error *err);

/* Stiffness (linear or with the reduced forces), inertia where `turns`, masses and participation. */
modal_status modal_forest_shape(modal_forest_tables *tables, const modal_shape *shape, int linear,
                                int turns, int n_threads, modal_step_shape *out, modal_error *err);

/* D of a body. */
modal_status modal_forest_damping(modal_forest_tables *tables, const modal_shape *shape,
                                  const modal_step_shape *prepared, const modal_body *body, int64_t *at,
                                  modal_error *err);

/* The interface of an attached object on its parent: the parent's surface vertices around the child's
 * fixed nodes (its origin where it has none). */
modal_status modal_forest_anchor(modal_forest_tables *tables, const modal_shape *parent,
                                 const double *parent_pose, const modal_shape *child,
                                 const double *child_pose, modal_step_object *out, modal_error *err);

/* m, from the middle of the child's fixed nodes, or its origin, to the parent's nearest surface vertex, at rest. INFINITY: it has none. */
double modal_forest_gap(const modal_shape *parent, const double *parent_pose, const modal_solid *child, const double *child_pose);

/* Marks the tiles of the parent's modal matrix that its vertices are in. */
modal_status modal_forest_mark_interface(const modal_shape *parent, const double *parent_pose,
                                         const modal_shape *child, const double *child_pose, uint8_t *tiles,
                                         modal_error *err);

/* Rest position and modes of a point. */
modal_status modal_forest_point(modal_forest_tables *tables, const modal_shape *shape,
                                const modal_body_point *point, int64_t *at, modal_error *err);

#endif
