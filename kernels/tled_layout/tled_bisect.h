/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive bisection of elements by their centres, for tled_patches. */
#ifndef MODAL_KERNELS_TLED_BISECT_H
#define MODAL_KERNELS_TLED_BISECT_H

#include <stdint.h>

typedef struct modal_tled_centre {
    float at[3];
    int32_t element;
} modal_tled_centre;

/* Reorders centres [0, n) so that part p of n_parts is [ends[p - 1], ends[p]) (ends[-1] = 0): parts of nearly equal size,
 * each cut across the longest extent of what it was cut from. ends [n_parts], n_parts >= 1. The parts hold the same elements, in
 * the same order, for any number of threads. Centres are all finite. */
void modal_tled_bisect(modal_tled_centre *centres, int64_t n, int32_t n_parts, int layers, int64_t *ends);

/* Reorders centres [0, n) so that the first `unit` of them are neighbours, the next `unit`, and so on. */
void modal_tled_bisect_order(modal_tled_centre *centres, int32_t n, int32_t unit);

#endif
