/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of an octree texture around a surface, and what look-ups read (S. Lefebvre, S. Hornus, F. Neyret, Octree textures on the GPU, 2005,
 * section 37.2; formats/octree.md).
 *
 *   A cell c of the lattice is the box c + [-margin, 1 + margin]^3. Cells that some triangle meets (octree_overlap.h), in Morton order.
 *   Samples are the lattice points that are corners of these cells, in Morton order.
 *   Nodes of the tree: level l has the places key >> (3 side_bits (depth - l)) of samples, in Morton order, level after level.
 *   Top, masks and records are those of octree_lookup.
 *
 * Sizes are not known before: outputs have room for as many as the task says, and `counts` says how many there are. Where there is too little
 * room, nothing is written past it, that count is above the room, and all other output is worth nothing; counts of what depends on it are too.
 * Sizes: any, 0 triangles included. Alignment: masks and records as 16 bytes, scratch as 256, the rest as its type. Aliasing: none.
 * Triangles without area are left out and counted. Corners must be finite; what is outside of the lattice is left out.
 * Exact: every back end gives the same bytes; the bits that threads set are set in any order. */
#ifndef MODAL_KERNELS_OCTREE_BUILD_H
#define MODAL_KERNELS_OCTREE_BUILD_H

#include <stdint.h>

#include "kernels/octree_lookup/octree_lookup.h"
#include "kernels/operations.h"
#include "lib/model/octree.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MODAL_BUILD_BLOCKS = 1024, MODAL_BUILD_REFERENCE_BITS = 8 };

typedef struct modal_octree_build_counts {
    int64_t flat;         /* triangles without area */
    int64_t masks;        /* of cells: what look-ups read */
    int64_t sample_masks; /* the same of samples, in scratch, of which there are mostly more: most_masks is the room of either */
    int64_t cells, samples, nodes;
} modal_octree_build_counts;

struct modal_octree_build_task {
    int bits, side_bits, n_levels; /* points a side: 2^bits; 2^side_bits cells a side of a node; levels of masks. 3 <= bits <= MODAL_OCTREE_BITS; the
                                      reference: MODAL_BUILD_REFERENCE_BITS at most. 1 <= n_levels <= bits / 2 */
    int64_t n_triangles;
    const double *corners; /* [n_triangles, 3, 3] lattice steps */
    double margin;
    int64_t most_masks, most_cells, most_samples, most_nodes; /* room, each below 2^30 */
    modal_octree_build_counts *counts;
    uint32_t *top;            /* [2^(3 (bits - 2 n_levels))] */
    modal_octree_mask *masks; /* [most_masks] */
    int64_t *cell_keys;       /* [most_cells] */
    int64_t *keys;            /* [most_samples] */
    uint8_t *begins;          /* [most_samples] 1: a cell begins there */
    int64_t *node_offsets;    /* [bits / side_bits + 1] */
    int32_t *cells;           /* [most_nodes, 2^(3 side_bits)] */
    int width;                /* numbers of a value, of 4 bytes each: 1 or 3; 0: neither values nor records */
    const uint32_t *values;   /* [most_samples, width] of samples */
    uint32_t *records;        /* [most_cells, width, 8] */
    void *scratch;            /* [modal_octree_build_scratch] bytes */
};

/* Where the parts of scratch begin, in bytes. */
typedef struct modal_octree_build_parts {
    int64_t flags, top, masks, keys, sample_keys, parents, sums, begin, bytes;
} modal_octree_build_parts;

static inline modal_octree_build_parts modal_octree_build_parts_of(const modal_octree_build_task *t)
{
    const int64_t n_top = (int64_t)1 << 3 * (t->bits - 2 * t->n_levels);
    modal_octree_build_parts p = {0};
    int64_t at = 0;
#define MODAL_PART(name, size) p.name = at, at += ((int64_t)(size) + 255) / 256 * 256
    MODAL_PART(flags, n_top / 8 + 8);
    MODAL_PART(top, 4 * n_top);
    MODAL_PART(masks, (int64_t)sizeof(modal_octree_mask) * t->most_masks);
    MODAL_PART(keys, 8 * t->most_masks);
    MODAL_PART(sample_keys, 8 * t->most_masks);
    MODAL_PART(parents, 2 * 8 * t->most_nodes);
    MODAL_PART(sums, 8 * MODAL_BUILD_BLOCKS);
    MODAL_PART(begin, 8 * 64);
#undef MODAL_PART
    p.bytes = at;
    return p;
}

static inline int64_t modal_octree_build_scratch(const modal_octree_build_task *t) { return modal_octree_build_parts_of(t).bytes; }

#ifdef __cplusplus
}
#endif
#endif
