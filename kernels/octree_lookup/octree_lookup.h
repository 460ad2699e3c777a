/* SPDX-License-Identifier: Apache-2.0 */
/* Values of an octree texture at points, from records: every cell of the lattice that the surface meets has the values at its
 * eight corners together, and is found by a dense table and some levels of 64-bit masks.
 *
 *   trilinear:  the interpolant of the corners of the cell floor(p) at p - floor(p)
 *   nearest:    the corner that is nearest; halves go up
 *
 *   with levels: between two mip levels, "quadrilinear". A level of octave o has nodes of 2^o lattice points a side; its lattice points
 *               are their middles, at (i - 1/2) 2^o - 1/2, so a point p is at (p + 1/2) 2^-o + 1/2 there. For a footprint of 2^l
 *               cells a point gets a + t (b - a), a and b the trilinear values of the octaves around l (0: the finest), t the
 *               fraction of the way; below 0, or no number, the finest, above the last octave that.
 *
 * A point whose cell has no record, or which is not finite, gets `outside` in every number (RGBA8: outside_rgba8).
 * Sizes: any, 0 included. Alignment: records as 16 bytes, the rest as its type. Aliasing: values and found overlap nothing.
 * Range: points in cells, 0 <= p < 2^bits; what a float32 keeps of them is 24 - bits bits of a cell.
 * Error: |value - exact| <= 12 e max|corner| for float numbers, e = FLT_EPSILON / 2; RGBA8 numbers are rounded to nearest, from
 * numbers in error by 12 e 255. nearest is exact. With levels: 24 e max|corner|, and what moving a point of
 * a level by 2 e (2^(bits - o) + 1) changes.
 * Determinism: the same bytes for any number of threads; no atomics. */
#ifndef MODAL_KERNELS_OCTREE_LOOKUP_H
#define MODAL_KERNELS_OCTREE_LOOKUP_H

#include <stdint.h>

#include "kernels/operations.h"
#include "lib/model/octree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which of a block of 4^3 places are there, by Morton order, and the number of the first of them in the next level. */
typedef struct modal_octree_mask {
    uint64_t there;
    uint32_t first, unused;
} modal_octree_mask;

typedef struct modal_octree_grid {
    int bits, top_bits, n_levels; /* bits = top_bits + 2 n_levels */
    modal_octree_channels channels;
    const uint32_t *top;            /* [2^(3 top_bits)] x fastest: a mask's number, or UINT32_MAX */
    const modal_octree_mask *masks; /* level by level; `first` counts masks of all levels, in the last level records */
    const void *records;            /* [cells, 8] u32 (r in the lowest byte) or f32; of float3 [cells, 3, 8] f32; corner x + 2 y + 4 z */
} modal_octree_grid;

typedef enum modal_octree_filter { MODAL_OCTREE_NEAREST, MODAL_OCTREE_TRILINEAR } modal_octree_filter;

enum { MODAL_OCTREE_MIPS = 20 };

/* A mip level: bits of the grid are those of the finest less the octave, and one. */
typedef struct modal_octree_mip {
    modal_octree_grid grid;
    int octave;
} modal_octree_mip;

struct modal_octree_lookup_task {
    modal_octree_grid grid;
    modal_octree_filter filter;
    int n_mips;                   /* 0 to MODAL_OCTREE_MIPS */
    const modal_octree_mip *mips; /* [n_mips] octaves ascend from 1 on; in main memory, read before the operation returns */
    const float *levels;          /* [n_points] log2 of the footprint in cells; or NULL: 0. Of nearest look-ups not read */
    int64_t n_points;
    const float *points; /* [n_points, 3] in cells */
    float outside;
    uint32_t outside_rgba8;
    void *values;   /* [n_points] u32, f32 or f32 [3] */
    uint8_t *found; /* [n_points] 0: outside; or NULL */
};

/* Number of the block of 2 bits a coordinate from `shift` on, in Morton order. */
static inline int modal_octree_place(uint32_t x, uint32_t y, uint32_t z, int shift)
{
    const uint32_t a = x >> shift & 3, b = y >> shift & 3, c = z >> shift & 3;
    return (int)((a & 1) | (b & 1) << 1 | (c & 1) << 2 | (a & 2) << 2 | (b & 2) << 3 | (c & 2) << 4);
}

#ifdef __cplusplus
}
#endif
#endif
