/* SPDX-License-Identifier: Apache-2.0 */
/* Impulses on a shape in reduced coordinates, and its vertices. */
#ifndef MODAL_SCENE_LOADS_H
#define MODAL_SCENE_LOADS_H

#include <stdint.h>

#include "lib/model/basis.h"

/* The jump of the modal velocity, [n_modes], by an impulse (N s, world axes) at a stored vertex of
 * a shape that is placed by rest_pose ([3, 4] row-major [R p]): U_v^T R^T J / modal mass. Returns 0 if all of it is 0. */
int modal_impulse_jump(const modal_shape *shape, const double *rest_pose, int64_t vertex,
                       const double impulse[3], double *jump);

/* The slow motions beside a shape's modes (modal_left_out) as modes of a shape of their own, which borrows the arrays of the shape, and
 * `ones` [n_slow], 1 each, for its modal masses. */
modal_shape modal_slow_shape(const modal_shape *shape, double *ones);

/* The stored index of the user's vertex, or -1 where the shape has none of that number. */
int64_t modal_surface_stored_vertex(const modal_surface *shape, int64_t user_vertex);

/* The stored index of the vertex whose rest position in the world, R xbar + p, is nearest to the
 * point, the lowest user index among equals; *distance in m. -1 for a shape without vertices. */
int64_t modal_surface_nearest_vertex(const modal_surface *shape, const double *rest_pose,
                                   const double point[3], double *distance);

/* A third of the area of the triangles at a stored vertex, m^2, at rest. */
double modal_surface_vertex_area(const modal_surface *shape, int64_t vertex);

#endif
