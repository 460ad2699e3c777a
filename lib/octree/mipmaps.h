/* SPDX-License-Identifier: Apache-2.0 */
/* Means of the nodes of an octree texture, and look-ups in them. */
#ifndef MODAL_OCTREE_MIPMAPS_H
#define MODAL_OCTREE_MIPMAPS_H

#include "lib/octree/grid.h"

/* Makes octree->mipmaps anew, by the back end `cpu`; the same bytes for any number of threads. MODAL_ERROR_MEMORY; the old ones are gone
 * then. */
modal_status modal_octree_make_mipmaps(modal_octree *octree, modal_error *err);

/* Brings the share of what has alpha >= cutoff in each level of octree->mipmaps to that of the samples, as near as one factor on alpha can (I. Castano,
 * Computing alpha mipmaps, 2010), nodes by their samples; rgba8. MODAL_ERROR_MEMORY. */
modal_status modal_octree_keep_cover(modal_octree *octree, double cutoff, modal_error *err);

/* What look-ups with levels read. Owns its arrays. */
typedef struct modal_octree_pyramid {
    modal_octree_tables finest;
    int n_mips;
    modal_octree_mip mips[MODAL_OCTREE_MIPS];  /* [n_mips] grids of the tables */
    modal_octree_tables tables[MODAL_OCTREE_MIPS]; /* [n_mips] */
} modal_octree_pyramid;

/* A mip level has a cell wherever the finest one has; corners of cells that are no nodes get the mean of the nodes around them, by their
 * samples. octree->mipmaps are there. MODAL_ERROR_MEMORY. The caller frees the pyramid; after an error it is zeroed. */
modal_status modal_octree_pyramid_make(const modal_octree *octree, modal_octree_pyramid *pyramid, modal_error *err);

/* Values at positions [n, 3] m for a footprint of 2^level cells, else as modal_octree_sample. */
modal_status modal_octree_sample_level(const modal_octree_pyramid *pyramid, float level, const double *positions, int64_t n, void *values,
                                       uint8_t *found, int64_t *n_outside, modal_error *err);

/* Bytes of all tables. */
int64_t modal_octree_pyramid_bytes(const modal_octree_pyramid *pyramid);

void modal_octree_pyramid_free(modal_octree_pyramid *pyramid);

#endif
