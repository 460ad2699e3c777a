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
 * Error, float32, unit roundoff e = FLT_EPSILON / 2: r multiply-adds in sequence, each rounded once
 * (fused) or twice, give |u - exact| <= g(r + 1) S, S = sum_k |U_k| |q_k|, g(m) = m e / (1 - m e)
 * (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. 2002, section 3.1), as long as
 * nothing underflows; each product that does adds at most FLT_TRUE_MIN. The reference accumulates in
 * double and rounds once: |u - exact| <= e |u| (1 + r 2^-52 S / |u|).
 * Determinism: the value of a column does not depend on the other columns, their number, or the
 * number of threads: the same inputs on the same back end and instruction set give the same bytes. */
#ifndef MODAL_KERNELS_MODAL_SUM_H
#define MODAL_KERNELS_MODAL_SUM_H

#include <stdint.h>

#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct modal_sum_task {
    int64_t n_vertices, n_columns;
    int32_t n_modes;           /* r */
    const float *modal_matrix; /* U [ceil(n_vertices / 32), n_modes, 3, 32] */
    const float *q;            /* [n_columns, n_modes] */
    float *u;                  /* [n_columns, n_vertices, 3], written */
} modal_sum_task;

/* All arrays are in the back end's memory; work is queued in `stream`. Errors: MODAL_ERROR_SYSTEM
 * when the device refuses the work. Thread-safe. */
typedef modal_status modal_sum_function(const modal_sum_task *task, modal_stream *stream,
                                        modal_error *err);
modal_sum_function modal_sum_ref, modal_sum_cpu, modal_sum_cuda;

#ifdef __cplusplus
}
#endif
#endif
