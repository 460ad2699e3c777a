/* SPDX-License-Identifier: Apache-2.0 */
/* Means of the nodes of one level of an octree texture, weighted by the samples below each child (S. Lefebvre, S. Hornus, F. Neyret,
 * Octree textures on the GPU, 2005, section 37.2.3: the LOD pool). The children of a node follow each other.
 *
 *   float, float3:  mean = sum of values / number of samples
 *   rgba8:          w = alpha / 255 + 2^-16 of each sample; colours in linear light are sum of w c / sum of w, alpha is
 *                   255 (sum of w / number - 2^-16). So clear samples count only where all are clear.
 *
 * What a level sums is what the level above reads: means are rounded once.
 * Sizes: any, 0 included. Aliasing: outputs overlap nothing.
 * Error: a sum is within (m + 2) e of sum |w c|, m children, e = FLT_EPSILON / 2; rgba8: rounded to nearest by the table of limits.
 * Determinism: the same bytes for any number of threads; no atomics. */
#ifndef MODAL_KERNELS_OCTREE_MIPMAP_H
#define MODAL_KERNELS_OCTREE_MIPMAP_H

#include <stdint.h>

#include "kernels/operations.h"
#include "lib/model/octree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MODAL_OCTREE_CLEAR 0x1p-16f /* weight of a colour whose alpha is 0 */

/* sRGB of 8 bits, in the back end's memory. */
typedef struct modal_srgb_limits {
    float linear[256]; /* linear light of a byte */
    float limits[256]; /* least linear light that rounds to a byte; limits[0] = 0 */
} modal_srgb_limits;

struct modal_octree_mipmap_task {
    modal_octree_channels channels;
    int64_t n_nodes;
    const int32_t *first; /* [n_nodes + 1] children of node i: from first[i] to first[i + 1] - 1, at least one */
    const void *samples;  /* children that are samples: [first[n_nodes]] u8 [4], f32 or f32 [3]; or NULL: they are nodes */
    const float *child_sums;     /* [first[n_nodes], 4] rgba8: w r, w g, w b, w; float3: x, y, z, nothing; of float [first[n_nodes]] */
    const int32_t *child_counts; /* [first[n_nodes]] samples below each */
    const modal_srgb_limits *srgb; /* rgba8 only */
    float *sums;     /* [n_nodes, 4], of float [n_nodes]: as child_sums */
    int32_t *counts; /* [n_nodes] */
    void *means;     /* [n_nodes] as samples */
};

static inline int modal_octree_sum_width(modal_octree_channels channels) { return channels == MODAL_OCTREE_FLOAT ? 1 : 4; }

#ifdef __cplusplus
}
#endif
#endif
