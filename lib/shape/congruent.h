/* SPDX-License-Identifier: Apache-2.0 */
/* Which solids are the same but for a rigid motion. */
#ifndef MODAL_SHAPE_CONGRUENT_H
#define MODAL_SHAPE_CONGRUENT_H

#include <stdint.h>

#include "lib/model/basis.h"

/* Shape b is shape a moved: the same elements in the same order of nodes, equal materials and fixed
 * nodes, and nodes that a rotation (no reflection, no scale) and a translation bring together to within
 * 1e-9 of the shape's size. pose [3, 4] is then [R p] with x_b = R x_a + p. A solid with
 * orthotropic materials or with single components held is compared in its position only (R = identity).
 * Only `volume`, fixed nodes and components are looked at. Source: the best rotation by the largest
 * eigenvector of a 4 x 4 matrix, B. K. P. Horn, "Closed-form solution of absolute orientation using unit
 * quaternions", 1987. */
int modal_shapes_are_congruent(const modal_shape *a, const modal_shape *b, double pose[12]);

/* Whether turning the solid would change its materials' or its supports' directions: orthotropic materials, or
 * single components held. */
int modal_shape_has_directions(const modal_shape *shape);

/* first[k]: the first of the n shapes that shape k is congruent to, or k itself; poses [n, 12] from
 * that one to k. Compares only shapes whose counts, elements and mean square radii agree. */
modal_status modal_shapes_find_congruent(int64_t n, const modal_shape *shapes, int64_t *first,
                                         double *poses, modal_error *err);

#endif
