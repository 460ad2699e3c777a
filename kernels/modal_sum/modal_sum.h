/* SPDX-License-Identifier: Apache-2.0 */
/* Modal sum: u = U q for many columns at once (B. Wang and J. Barbic, CUDA Deformers for Model
 * Reduction, MIG 2020, section 4.1, equation 2; a column is one frame of one object of the shape).
 *
 *   u[c][v][i] = sum_k U[v / 32][k][i][v % 32] q[c][k],   k = 0 .. r - 1 in ascending order
 *
 * Sizes: any, 0 included; r = 0 gives u = 0. Offsets are 64-bit.
 * Units: U q is a length, in metres where the rest positions are.
 * Alignment: U to 16 bytes; q and u as floats.
 * Aliasing: u overlaps neither U nor q.
 * Padding: the lanes of the last tile past n are read and may hold anything; nothing is written for
 * them.
 * Error, float32, unit roundoff e = FLT_EPSILON / 2, S = sum_k |U_k| |q_k|, g(m) = m e / (1 - m e), as
 * long as nothing overflows or underflows (each product that underflows adds at most FLT_TRUE_MIN):
 *   |u - exact| <= g(r + 1) S where modal_sum_splits is 0, and on ref and cpu always: r multiply-adds in
 *   sequence or in up to eight parts, each rounded once (fused) or twice (Higham, Accuracy and
 *   Stability of Numerical Algorithms, 2nd ed. 2002, section 3.1);
 *   |u - exact| <= g(3 r + 32) S where it is 1, on cuda: split TF32 on the tensor cores. Dropping
 *   U_low q_low costs 2^-22 and the last bit of each low part 2^-23, together 8 e a product; three
 *   products of 8 modes at a time (r rounded up to 8) add 9 terms aligned to the largest and cut 2 bits
 *   or more behind its last one, at most (2 + 9 / 2) e of S each time. How tensor cores round is
 *   measured, not documented; the largest error seen is 27 e S (r = 1000), 5 e S (r = 32).
 * The reference accumulates in double and rounds once: |u - exact| <= e |u| (1 + r 2^-52 S / |u|).
 * Determinism: the value of a column does not depend on the other columns, on the number of threads, or
 * on how a job is cut into calls as long as each call states n_columns_total of the same job: the same
 * inputs on the same back end and instruction set give the same bytes. */
#ifndef MODAL_KERNELS_MODAL_SUM_H
#define MODAL_KERNELS_MODAL_SUM_H

#include <stdint.h>

#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

struct modal_sum_task {
    int64_t n_vertices, n_columns;
    int32_t n_modes;           /* r */
    const float *modal_matrix; /* U [ceil(n_vertices / 32), n_modes, 3, 32] */
    const float *q;            /* [n_columns, n_modes] */
    float *u;                  /* [n_columns, n_vertices, 3], written */
    int64_t n_columns_total;   /* of the whole job that this call is a part of; 0: n_columns */
};

/* Whether a back end with tensor cores (cuda) multiplies split TF32 numbers. It looks at the job, not at
 * the call, so that cutting a job into calls changes no byte. */
enum { MODAL_SUM_SPLIT_COLUMNS = 8, MODAL_SUM_SPLIT_MODES = 1024 };
static inline int modal_sum_splits(int32_t n_modes, int64_t n_columns, int64_t n_columns_total)
{
    const int64_t total = n_columns_total > n_columns ? n_columns_total : n_columns;
    return total >= MODAL_SUM_SPLIT_COLUMNS && n_modes > 0 && n_modes <= MODAL_SUM_SPLIT_MODES;
}

#ifdef __cplusplus
}
#endif
#endif
