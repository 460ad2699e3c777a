/* SPDX-License-Identifier: Apache-2.0 */
/* Deform: modal sum and world transform fused, so that u never goes through memory. With u = U q as
 * in kernels/modal_sum/modal_sum.h and T, xbar as in kernels/world_transform/world_transform.h:
 *
 *   x[c][v] = R_c (xbar[v] + u[c][v]) + p_c,    d[c][v] = R_c u[c][v] where asked for.
 *
 * Sizes: any, 0 included; r = 0 moves the rest shape. Units: m.
 * Alignment: U to 16 bytes, everything else as floats. Aliasing: outputs overlap nothing.
 * Error, e = FLT_EPSILON / 2, S_j = sum_k |U_kj| |q_k|: the bounds of the two stages add up to
 *   |x_i - exact| <= g(m + 7) (sum_j |R_ij| (|xbar_j| + S_j) + |p_i|),
 *   |d_i - exact| <= g(m + 6) sum_j |R_ij| S_j,   g(m) = m e / (1 - m e),
 * as long as nothing overflows or underflows; m is modal_sum's: r + 1, or 3 r + 32 with split TF32 (cuda,
 * where modal_sum_splits says so). The reference computes in double and rounds once.
 * Determinism: as modal_sum.h, which also says what n_columns_total is for. */
#ifndef MODAL_KERNELS_DEFORM_H
#define MODAL_KERNELS_DEFORM_H

#include <stdint.h>

#include "kernels/operations.h"

struct modal_deform_task {
    int64_t n_vertices, n_columns;
    int32_t n_modes;           /* r */
    const float *modal_matrix; /* U [ceil(n_vertices / 32), n_modes, 3, 32] */
    const float *rest_tiles;   /* xbar [ceil(n_vertices / 32), 3, 32] */
    const float *q;            /* [n_columns, n_modes] */
    const float *poses;       /* T [n_columns, 3, 4] */
    float *positions;          /* [n_columns, n_vertices, 3], written */
    float *displacement;       /* [n_columns, n_vertices, 3], written, or NULL */
    int64_t n_columns_total;   /* of the whole job, as in modal_sum_task; 0: n_columns */
};

#endif
