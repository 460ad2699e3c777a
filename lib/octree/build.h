/* SPDX-License-Identifier: Apache-2.0 */
/* The tree around a surface. */
#ifndef MODAL_OCTREE_BUILD_H
#define MODAL_OCTREE_BUILD_H

#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/model/octree.h"

enum { MODAL_OCTREE_BEFORE = 2, MODAL_OCTREE_AROUND_SURFACE = 5 }; /* lattice steps before the surface, and before and behind it together */

typedef struct modal_octree_request {
    int64_t n_vertices, n_triangles;
    const double *positions;  /* [n_vertices, 3] m */
    const int32_t *triangles; /* [n_triangles, 3] */
    int side;                 /* 2, 4 or 8 */
    int64_t resolution;       /* lattice points a side, at least; a power of `side` is taken. 8 to 2^MODAL_OCTREE_BITS */
    modal_octree_channels channels;
    int neighbours;           /* modal_sheets_make and modal_octree_connect come next: memory is planned for them, too */
    int64_t memory_limit;     /* bytes that may be taken, 0: any */
    const modal_progress *progress; /* or NULL */
    void (*planned)(void *to, int64_t n_samples, double bytes); /* or NULL: called once what will be made is known, before memory is taken for it */
    void *planned_to;
} modal_octree_request;

/* Every lattice point that trilinear interpolation of a point of the surface touches is a sample, also of points that are
 * 2^(bits - 20) of a cell (2^-11 at least) off the surface: single precision rounds them so. Triangles without area give nothing;
 * *n_flat counts them. Values are white (rgba8) or 0. OpenMP; the same bytes for any number of threads.
 * Errors: MODAL_ERROR_INPUT for positions that are not finite, a surface without area, of less than 1e-15 or more than 1e15 m, or so far
 * from the origin that double has no places in a cell; MODAL_ERROR_MEMORY for more samples or
 * nodes than MODAL_OCTREE_MOST, or more memory than the limit or the machine has, with the number; MODAL_ERROR_INTERRUPTED. The caller
 * frees the octree; after an error it is zeroed. */
modal_status modal_octree_build(const modal_octree_request *request, modal_octree *octree, int64_t *n_flat, modal_error *err);

/* What a texture knows its surface by: octree->source_hash. */
modal_status modal_octree_sign(const double *positions, int64_t n_vertices, const int32_t *triangles, int64_t n_triangles,
                               char text[MODAL_HASH_TEXT], modal_error *err);

/* Nodes of the tree of octree's keys (side, depth, n_samples, keys are set): node_offsets and cells. begins [n_samples]: nonzero
 * where a sample begins a cell. */
modal_status modal_octree_make_nodes(modal_octree *octree, const uint8_t *begins, modal_error *err);

/* Mean number of samples among the 26 lattice points around a sample. */
modal_status modal_octree_neighbours(const modal_octree *octree, double *mean, modal_error *err);

#endif
