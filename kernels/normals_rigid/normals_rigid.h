/* SPDX-License-Identifier: Apache-2.0 */
/* Rigid normals: the rest normals turned with the object's frame.
 *
 *   normal[c][v] = R_c nbar[v],   T_c = [R_c p_c]
 *
 * Several objects may lie one after the other in a column: then T is that of the vertex's object.
 *
 * Not normalised again: the length of nbar (1, or 0 for a vertex without a normal) times what R does
 * to it. Exact for rigid motion, an approximation for small deformation.
 * Sizes: any, 0 included. Alignment: as floats. Aliasing: normals overlaps nothing.
 * Error: three terms in the order R0 n0 + R1 n1 + R2 n2, at most 2 roundings each:
 *   |normal_i - exact| <= g(4) sum_j |R_ij| |nbar_j|, g(m) = m e / (1 - m e), e = FLT_EPSILON / 2.
 * The reference computes in double and rounds once. Determinism: as modal_sum.h. */
#ifndef MODAL_KERNELS_NORMALS_RIGID_H
#define MODAL_KERNELS_NORMALS_RIGID_H

#include <stdint.h>

#include "kernels/operations.h"

struct modal_normals_rigid_task {
    int64_t n_vertices, n_columns;
    const float *rest_normals; /* nbar [n_vertices, 3] */
    const float *poses;       /* T [n_columns, n_objects, 3, 4] */
    float *normals;            /* [n_columns, n_vertices, 3], written */
    const int32_t *objects;    /* [n_vertices] whose T turns a vertex; NULL: n_objects is 1 */
    int64_t n_objects;         /* of a column; not read where objects is NULL */
};

#endif
