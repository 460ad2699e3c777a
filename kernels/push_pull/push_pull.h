/* SPDX-License-Identifier: Apache-2.0 */
/* Texels of an image that nothing covers get colours from those that are covered, so that no mip level mixes in a background
 * (S. Lefebvre, S. Hornus, F. Neyret, Octree textures on the GPU, 2005, section 37.2.4; push-pull: S. Gortler, R. Grzeszczuk,
 * R. Szeliski, M. Cohen, The lumigraph, 1996, with boxes).
 *
 *   Blocks of level l are 2^l texels a side, from texel (0, 0) on; those at the border are cut off. The mean of a block is
 *   that of its covered texels, number by number. A texel that is not covered gets the mean of the smallest block around
 *   it that has covered texels, rounded to nearest, halves up.
 *
 * So a block that touches one chart has nothing of another one. An image without covered texels stays as it is.
 * Sizes: any, 0 included. Alignment: texels, covered and scratch as their types. Aliasing: none.
 * Exact: sums are whole numbers; every back end gives the same bytes. */
#ifndef MODAL_KERNELS_PUSH_PULL_H
#define MODAL_KERNELS_PUSH_PULL_H

#include <stdint.h>

#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MODAL_PUSH_PULL_TILE = 64 }; /* texels a side of what is worked on at once: 2^6 */

/* Sums over the covered texels of a block. */
typedef struct modal_push_pull_sum {
    int64_t n, sum[4];
} modal_push_pull_sum;

struct modal_push_pull_task {
    int32_t width, height; /* up to 2^14 */
    uint32_t *texels;      /* [height, width] four numbers of 8 bits */
    const uint32_t *covered; /* [height, (width + 31) / 32] bit x % 32 of word x / 32: covered; other bits are 0 */
    modal_push_pull_sum *scratch; /* [modal_push_pull_blocks(width, height)] */
};

/* Tiles of an image, and blocks of all levels from the tiles up to one. */
static inline int64_t modal_push_pull_blocks(int32_t width, int32_t height)
{
    int64_t w = (width + MODAL_PUSH_PULL_TILE - 1) / MODAL_PUSH_PULL_TILE, h = (height + MODAL_PUSH_PULL_TILE - 1) / MODAL_PUSH_PULL_TILE, n = w * h;
    for (; w * h > 1; n += w * h) w = (w + 1) / 2, h = (h + 1) / 2;
    return n;
}

#ifdef __cplusplus
}
#endif
#endif
