/* SPDX-License-Identifier: Apache-2.0 */
/* The faces of a solid's boundary, triangles and quadrilaterals as they are. */
#ifndef MODAL_TLED_FACES_H
#define MODAL_TLED_FACES_H

#include "kernels/tled_step/tled_solid.h"
#include "lib/base/status.h"

/* Faces that one element alone has: *faces [*n, 4] corners, counter-clockwise from outside, the fourth -1 of a triangle; in
 * the order of elements. The caller frees *faces. */
modal_status modal_tled_boundary(const modal_tled_solid *solid, int32_t **faces, int64_t *n, modal_error *err);

/* taken [n] is 1 at those of the faces that are the group's [n_group, 4], the fourth corner -1 of a triangle, or lie on the corners of one of its
 * quadrilaterals. *left: the first face of the group that is none of them, or -1. */
modal_status modal_tled_boundary_of(const int32_t *faces, int64_t n, const int32_t *group, int64_t n_group, uint8_t *taken, int64_t *left,
                                    modal_error *err);

#endif
