/* SPDX-License-Identifier: Apache-2.0 */
/* A texture around a surface, without coordinates of its own (S. Lefebvre, S. Hornus, F. Neyret, Octree textures on the GPU,
 * GPU Gems 2, 2005, chapter 37): values at the points of a lattice that lie next to the surface, found by a tree. The file is
 * formats/octree.md. */
#ifndef MODAL_MODEL_OCTREE_H
#define MODAL_MODEL_OCTREE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/hash.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __CUDACC__
#define MODAL_OCTREE_BOTH __host__ __device__ static inline
#else
#define MODAL_OCTREE_BOTH static inline
#endif

enum { MODAL_OCTREE_BITS = 20, MODAL_OCTREE_MOST = 1 << 30 }; /* bits of a coordinate; samples and nodes are fewer than this */

typedef enum modal_octree_channels {
    MODAL_OCTREE_RGBA8, /* u8 [4] r g b a, colours as sRGB */
    MODAL_OCTREE_FLOAT,
    MODAL_OCTREE_FLOAT3,
    MODAL_OCTREE_CHANNELS
} modal_octree_channels;

/* Bytes of a sample's value, numbers in it, and the name of the kind. */
static inline size_t modal_octree_value_bytes(modal_octree_channels c) { return c == MODAL_OCTREE_FLOAT3 ? 12 : 4; }
static inline int modal_octree_width(modal_octree_channels c) { return c == MODAL_OCTREE_RGBA8 ? 4 : c == MODAL_OCTREE_FLOAT ? 1 : 3; }
const char *modal_octree_channels_name(modal_octree_channels channels); /* rgba8, float, float3 */

/* What a cell of a node says: 0 nothing there; above 0 the number of a child node; below 0 a sample of the deepest level. */
MODAL_OCTREE_BOTH int32_t modal_octree_leaf(int64_t sample, int begins) { return (int32_t)(-2 * sample - 1 - begins); }
MODAL_OCTREE_BOTH int64_t modal_octree_leaf_sample(int32_t cell) { return (-(int64_t)cell - 1) / 2; }
MODAL_OCTREE_BOTH int modal_octree_leaf_begins(int32_t cell) { return (int)((-(int64_t)cell - 1) % 2); }

typedef struct modal_octree {
    int32_t side;  /* n: 2, 4 or 8; a node has n^3 cells, in Morton order */
    int32_t depth; /* levels of nodes: the lattice has n^depth points a side */
    double origin[3], size; /* m: lattice point (i, j, k) is at origin + (i, j, k) size / n^depth */
    int64_t n_nodes, *node_offsets; /* [depth + 1] level by level, the root first, in Morton order of places in each */
    int32_t *cells;                 /* [n_nodes, side^3] */
    int64_t n_samples, n_cells;     /* cells of the lattice that the surface meets; a sample begins one with its lower corner */
    int64_t *keys;                  /* [n_samples] Morton keys of lattice points, x in the lowest bit, ascending */
    modal_octree_channels channels;
    int normals;                    /* nonzero: values are normals, of rgba8 as 128 + 127 n, not colours or other numbers */
    void *values;                   /* [n_samples] u8 [4], f32 [1] or f32 [3] */
    void *mipmaps;                  /* [n_nodes] as values: means of the samples below each node; or NULL */
    int64_t n_triangles;            /* of the surface */
    int32_t *triangles;             /* [n_samples] the one that is nearest */
    float *barycentric;             /* [n_samples, 2] weights of its second and third vertex at the nearest point */
    float *areas;                   /* [n_samples] m^2, their shares of the surface at rest; NULL: not known, as neighbours */
    int32_t *neighbours;            /* [n_samples] bits of the neighbours on the connected surface, modal_octree_offset */
    char source_hash[MODAL_HASH_TEXT]; /* of the surface's positions and triangles */
} modal_octree;

/* log2 of n, and of the lattice's points a side. */
static inline int modal_octree_side_bits(const modal_octree *o) { return o->side == 2 ? 1 : o->side == 4 ? 2 : 3; }
static inline int modal_octree_bits(const modal_octree *o) { return o->depth * modal_octree_side_bits(o); }

/* Morton keys of coordinates of up to 21 bits, and back. */
MODAL_OCTREE_BOTH uint64_t modal_morton_spread(uint64_t x)
{
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffff;
    x = (x | x << 16) & 0x1f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}
MODAL_OCTREE_BOTH int32_t modal_morton_squeeze(uint64_t x)
{
    x &= 0x1249249249249249;
    x = (x | x >> 2) & 0x10c30c30c30c30c3;
    x = (x | x >> 4) & 0x100f00f00f00f00f;
    x = (x | x >> 8) & 0x1f0000ff0000ff;
    x = (x | x >> 16) & 0x1f00000000ffff;
    return (int32_t)((x | x >> 32) & 0x1fffff);
}
MODAL_OCTREE_BOTH uint64_t modal_morton(int64_t x, int64_t y, int64_t z)
{
    return modal_morton_spread((uint64_t)x) | modal_morton_spread((uint64_t)y) << 1 | modal_morton_spread((uint64_t)z) << 2;
}

enum { MODAL_OCTREE_AROUND = 26 }; /* lattice points around one */

/* Where neighbour 0 to 25 is: d = (dx, dy, dz) of -1, 0, 1. The opposite of b is 25 - b. */
static inline void modal_octree_offset(int bit, int d[3])
{
    const int k = bit < 13 ? bit : bit + 1;
    d[0] = k % 3 - 1, d[1] = k / 3 % 3 - 1, d[2] = k / 9 - 1;
}

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_octree_free(modal_octree *octree);

#ifdef __cplusplus
}
#endif
#endif
