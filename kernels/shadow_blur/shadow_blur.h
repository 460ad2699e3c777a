/* SPDX-License-Identifier: Apache-2.0 */
/* Moments of a shadow map: a weighted mean of the depths around each texel, and of their squares.
 *
 *   out[y][x] = sum_j w_j sum_i w_i (d, d^2)[y + j][x + i],   i, j from -radius to radius,
 *
 * with the nearest texel of the map where there is none. Sums run from -radius up, first along x; no multiply-add is fused: all back
 * ends give the same bytes. Source: W. Donnelly, A. Lauritzen, "Variance Shadow Maps", 2006.
 * Sizes: size > 0, radius from 0 to MODAL_SHADOW_RADIUS. Aliasing: none. */
#ifndef MODAL_KERNELS_SHADOW_BLUR_H
#define MODAL_KERNELS_SHADOW_BLUR_H

#include <stdint.h>

#include "kernels/operations.h"

enum { MODAL_SHADOW_RADIUS = 16 };

struct modal_shadow_blur_task {
    int32_t size, radius;
    float weights[2 * MODAL_SHADOW_RADIUS + 1]; /* [2 radius + 1], sum 1 */
    const float *depths; /* [size, size] */
    float *moments;      /* [size, size, 2] */
    float *scratch;      /* [size, size, 2] */
};

#endif
