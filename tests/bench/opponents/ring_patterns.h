/* SPDX-License-Identifier: Apache-2.0 */
/* Opponents of `modalbench rings` and `nbody`.
 *
 * Other ways to look at a vertex's neighbours, for curvature tensors after Rusinkiewicz with Max's normals: beside
 * normals_corner and curvature_tensor, which gather over the packed ring. Each gives what they give. */
#ifndef MODAL_TESTS_RING_PATTERNS_H
#define MODAL_TESTS_RING_PATTERNS_H

#include <stdint.h>

#include "kernels/curvature_tensor/curvature_tensor.h"
#include "tests/bench/ring_mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A block has its own vertices, then those that share an edge with one of them, then those that share one with these. */
typedef struct ring_block {
    int32_t first, n_own, n_near, n_all;
    int32_t halo;  /* in halo: the vertices behind its own */
    int32_t group; /* in rows: of its first 32 vertices of n_near; rings are local numbers */
} ring_block;

typedef struct ring_blocks {
    int32_t size, n_blocks;
    int64_t n_halo, n_groups, n_entries, shared_bytes; /* of the largest block */
    ring_block *blocks;
    int32_t *halo;
    int32_t *rows;    /* [n_groups]; a group's rows end where the next one's begin */
    uint16_t *ring;   /* [rows[last], 32]; RING_BLOCK_FAN: a walk begins */
    double near, all; /* vertices that are read, over n: for the tensors alone, with the normals */
} ring_blocks;

enum { RING_BLOCK_FAN = 0x8000 };

/* Blocks of `size` vertices in a row; MODAL_ERROR_INPUT where a block has more than 32,767 vertices. */
modal_status ring_blocks_new(ring_blocks *blocks, const ring_mesh *mesh, int32_t size, modal_error *err);
void ring_blocks_free(ring_blocks *blocks);

/* All in the device's memory. */
typedef struct ring_patterns {
    int64_t n_vertices, n_triangles, n_columns;
    const int32_t *triangles;
    const int64_t *offsets;  /* [n_vertices + 1] */
    const int32_t *corners;  /* [3 n_triangles, 2] of the vertices, one after the other */
    const int32_t *slots;    /* [3 n_triangles] 3 triangle + corner of each */
    const float *positions;  /* [n_columns, n_vertices, 3] */
    float scale;
    float *normals;          /* scratch: [n_columns, n_vertices, 3] or, of faces, [n_vertices, 4] */
    float *parts;            /* scratch: [3 n_triangles, 4] */
    modal_curvature_output output;
    const ring_block *blocks;
    const int32_t *halo, *rows;
    const uint16_t *block_ring;
    int32_t block_size, n_blocks;
    int64_t shared_bytes;
} ring_patterns;

/* Faces add to their vertices with atomics: zero, normals, unit length, tensors, diagonals (W. Griffin and others, Real-time
 * GPU surface curvature estimation on deforming meshes and volumetric data sets, 2012). vectors: additions of four floats at once,
 * which compute capability 9.0 has; elsewhere they are four. One column. */
modal_status ring_scatter(const ring_patterns *p, int vectors, modal_stream *stream, modal_error *err);
/* Faces write a tensor a corner to memory, vertices gather them; normals as they lie in p->normals [n, 3]. One column. */
modal_status ring_faces(const ring_patterns *p, modal_stream *stream, modal_error *err);
/* A vertex reads both neighbours of each of its corners; normals so, too. */
modal_status ring_corners(const ring_patterns *p, modal_stream *stream, modal_error *err);
/* Blocks copy what they read to shared memory, their halo with it, and make the normals there (Y. Wu and others, 2013).
 * MODAL_ERROR_SYSTEM where a block does not fit. */
modal_status ring_shared(const ring_patterns *p, modal_stream *stream, modal_error *err);

/* The published all-pairs kernel: tiles of 32 or 256 bodies, one body a thread (kernels/pair_sum); work is not used. */
modal_status pairs_published(const modal_pair_sum_task *task, int tile, modal_stream *stream, modal_error *err);
/* `count` float32 multiply-adds a thread, a multiple of 8; out [256 blocks]. */
modal_status pairs_multiply_adds(float *out, int blocks, int count, modal_stream *stream, modal_error *err);

#ifdef __cplusplus
}
#endif
#endif
