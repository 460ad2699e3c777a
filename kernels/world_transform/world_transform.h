/* SPDX-License-Identifier: Apache-2.0 */
/* World transform of displaced vertices (equation 8 of the Wang and Barbic 2020, section 4.4):
 *
 *   x[c][v] = R_c (xbar[v] + u[c][v]) + p_c,   T_c = [R_c p_c]
 *   d[c][v] = R_c u[c][v]                      (second output, where asked for)
 *
 * R need not be a rotation: any 3x4 matrix is applied as it stands.
 * Sizes: any, 0 included. Units: those of xbar, u and p (m).
 * Alignment: as floats. Aliasing: positions or displacement (not both) may be u itself, exactly;
 * no other overlap.
 * Layout: xbar comes in tiles as U does, [ceil(n / 32), 3, 32], lanes past n readable.
 * Error, e = FLT_EPSILON / 2, with y = xbar + u and per component i: y is rounded once, the row
 * p + R0 y0 + R1 y1 + R2 y2 is summed in this order with at most 2 roundings a term, so
 *   |x_i - exact| <= g(7) (sum_j |R_ij| (|xbar_j| + |u_j|) + |p_i|),
 *   |d_i - exact| <= g(6) sum_j |R_ij| |u_j|,   g(m) = m e / (1 - m e).
 * The reference computes in double and rounds once.
 * Determinism: as modal_sum.h. */
#ifndef MODAL_KERNELS_WORLD_TRANSFORM_H
#define MODAL_KERNELS_WORLD_TRANSFORM_H

#include <stdint.h>

#include "kernels/operations.h"

struct modal_world_transform_task {
    int64_t n_vertices, n_columns;
    const float *rest_tiles; /* xbar [ceil(n_vertices / 32), 3, 32] */
    const float *u;          /* [n_columns, n_vertices, 3] */
    const float *poses;     /* T [n_columns, 3, 4] */
    float *positions;        /* [n_columns, n_vertices, 3], written */
    float *displacement;     /* [n_columns, n_vertices, 3], written, or NULL */
};

#endif
