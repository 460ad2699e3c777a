/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of symmetric.c, for several instruction sets (symmetric_simd.h). Nothing is fused here, so all sets give the
 * same bits. */
#ifndef MODAL_MODES_SYMMETRIC_KERNELS_H
#define MODAL_MODES_SYMMETRIC_KERNELS_H

#include "lib/modes/rows.h"

enum { MODAL_STRIP = 16 };

typedef struct modal_symmetric_kernels {
    /* y = A x for a symmetric A [n, n] of which the lower triangle is there, by columns. */
    void (*symmetric)(int64_t n, const double *a, int64_t stride, const double *x, double *y);
    /* A -= sum of v_k w_k^T + w_k v_k^T over four, lower triangle; v and w [4, step]. */
    void (*update)(int64_t n, double *a, int64_t stride, const double *v, const double *w, int64_t step);
    /* x [n_columns, n] -= v t v^T x for v [4, step], t [4, 4]. */
    void (*reflect)(int64_t n, const double *v, int64_t step, const double *t, int64_t n_columns, double *x,
                    int64_t stride);
    /* Columns first, first + direction, ... of a strip [n, MODAL_STRIP] are turned by the rotations (c, s), one
     * pair after the other: x_0 = c x_0 - s x_1, x_1 = s x_0 + c x_1. */
    void (*rotate)(int64_t n_rotations, const double *rotations, int64_t first, int direction, double *strip);
} modal_symmetric_kernels;

const modal_symmetric_kernels *modal_symmetric(void);

#endif
