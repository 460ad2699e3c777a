/* SPDX-License-Identifier: Apache-2.0 */
/* The faces of a solid's boundary, triangles and quadrilaterals as they are. */
#ifndef MODAL_TLED_FACES_H
#define MODAL_TLED_FACES_H

#include "kernels/tled_step/tled_solid.h"
#include "lib/base/status.h"

/* Faces that one element alone has: *faces [*n, 4] corners, counter-clockwise from outside, the fourth -1 of a triangle; in
 * the order of elements. The caller frees *faces. */
modal_status modal_tled_boundary(const modal_tled_solid *solid, int32_t **faces, int64_t *n, modal_error *err);

#endif
