/* SPDX-License-Identifier: Apache-2.0 */
/* Opponents of `modalbench octree`: other ways to look values up around a surface. Points are in cells, as those of
 * kernels/octree_lookup, and every cell that they are in must be there: nobody is asked what lies outside. */
#ifndef MODAL_TESTS_OCTREE_OPPONENTS_H
#define MODAL_TESTS_OCTREE_OPPONENTS_H

#include <stdint.h>

#include "kernels/operations.h"
#include "lib/base/status.h"
#include "lib/model/octree.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct octree_points {
    modal_octree_channels channels; /* MODAL_OCTREE_FLOAT or _RGBA8 */
    int64_t n;
    const float *points; /* [n, 3] */
    void *values;        /* [n] f32 or u32 */
} octree_points;

/* ---- a dense lattice, and the tree of GPU Gems 2, chapter 37: a node has 2^3 cells, a cell of the deepest level is the value,
 * and each of the eight corners of a look-up goes down from the root (octree_opponents.c, .cu) ---- */

/* One of the two is NULL. */
typedef struct octree_plain {
    int bits;
    const uint32_t *lattice; /* [2^bits]^3, x fastest: bits of a float, or rgba8 */
    const uint32_t *cells;   /* [nodes, 8] Morton order: a child, or in the last of `bits` levels the value */
} octree_plain;

void octree_plain_cpu(const octree_plain *plain, const octree_points *points);
modal_status octree_plain_cuda(const octree_plain *plain, const octree_points *points, modal_stream *stream, modal_error *err);

/* The lattice as a 3D texture of the GPU, filtered by it: weights have 8 bits. */
typedef struct octree_texture octree_texture;
modal_status octree_texture_new(octree_texture **texture, int bits, modal_octree_channels channels, const uint32_t *lattice, modal_error *err);
modal_status octree_texture_cuda(const octree_texture *texture, const octree_points *points, modal_stream *stream, modal_error *err);
octree_texture *octree_texture_delete(octree_texture *texture);

/* ---- NanoVDB (nanovdb_grid.cpp, nanovdb_cuda.cu), where MODAL_HAVE_NANOVDB is defined ---- */

typedef struct nanovdb_grid nanovdb_grid;
/* A FloatGrid, or a UInt32Grid of rgba8, of the tree's samples. The caller deletes it. */
modal_status nanovdb_grid_new(nanovdb_grid **grid, const modal_octree *octree, modal_error *err);
const void *nanovdb_grid_data(const nanovdb_grid *grid, int64_t *bytes); /* may be copied to a device */
nanovdb_grid *nanovdb_grid_delete(nanovdb_grid *grid);
const char *nanovdb_version(void);

/* Its trilinear sampler, an accessor a thread. rgba8: its stencil of eight values, four numbers interpolated one by one. */
void nanovdb_cpu(const void *data, const octree_points *points);
modal_status nanovdb_cuda(const void *d_data, const octree_points *points, modal_stream *stream, modal_error *err);

#ifdef __cplusplus
}
#endif
#endif
