/* SPDX-License-Identifier: Apache-2.0 */
/* Rigid tangents: the rest tangents turned with the object's frame (B. Wang, CUDA Deformers for Model
 * Reduction, Master's thesis, USC 2015, section 3.2.3, equation 3.8).
 *
 *   tangent[c][v] = (R_c tbar[v], w[v]),   T_c = [R_c p_c]
 *
 * Several objects may lie one after the other in a column: then T is that of the vertex's object.
 *
 * w, the handedness, is copied. Not normalised again. Exact for rigid motion, an approximation for
 * small deformation.
 * Sizes: any, 0 included. Alignment: as floats (16 bytes are faster). Aliasing: tangents overlaps
 * nothing.
 * Error: three terms in the order R0 t0 + R1 t1 + R2 t2, at most 2 roundings each:
 *   |tangent_i - exact| <= g(4) sum_j |R_ij| |tbar_j|, g(m) = m e / (1 - m e), e = FLT_EPSILON / 2.
 * The reference computes in double and rounds once. Determinism: as modal_sum.h. */
#ifndef MODAL_KERNELS_TANGENTS_RIGID_H
#define MODAL_KERNELS_TANGENTS_RIGID_H

#include <stdint.h>

#include "kernels/operations.h"

struct modal_tangents_rigid_task {
    int64_t n_vertices, n_columns;
    const float *rest_tangents; /* tbar, w [n_vertices, 4] */
    const float *poses;        /* T [n_columns, n_objects, 3, 4] */
    float *tangents;            /* [n_columns, n_vertices, 4], written */
    const int32_t *objects;    /* [n_vertices] whose T turns a vertex; NULL: n_objects is 1 */
    int64_t n_objects;         /* of a column; not read where objects is NULL */
};

#endif
