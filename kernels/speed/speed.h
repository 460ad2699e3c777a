/* SPDX-License-Identifier: Apache-2.0 */
/* Speed: the length of a velocity that comes in two parts, columns in the stored order of vertices into the layout
 * of finished frames.
 *
 *   speed[base[c] + i] = | a[c][source[i]] + b[c][source[i]] |,   i = 0 .. n_vertices - 1
 *
 * source, target and base are those of kernels/reorder/reorder.h, and so is nonfinite. In float32, every operation rounded
 * by itself: v_k = a_k + b_k, ((v_0 v_0 + v_1 v_1) + v_2 v_2), its square root; the same bits on every back end, the
 * reference too.
 * Sizes: any, 0 included. Alignment: as their types. Aliasing: speed overlaps nothing; columns write to disjoint ranges. */
#ifndef MODAL_KERNELS_SPEED_H
#define MODAL_KERNELS_SPEED_H

#include <stdint.h>

#include "kernels/operations.h"

struct modal_speed_task {
    int64_t n_vertices, n_columns;
    const float *a, *b;    /* [n_columns, n_vertices, 3]; b NULL: zeros */
    const int32_t *source; /* [n_vertices] or NULL */
    const int64_t *base;   /* [n_columns] in points */
    float *speed;          /* n_vertices points written from each base[c] on */
    const int32_t *target; /* [n_vertices] or NULL; then source is NULL */
    int32_t *nonfinite;    /* or NULL; in the back end's memory or in pinned main memory */
};

#endif
