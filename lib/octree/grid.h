/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels/octree_lookup reads, made from a tree, and look-ups with it on the CPU. */
#ifndef MODAL_OCTREE_GRID_H
#define MODAL_OCTREE_GRID_H

#include "kernels/octree_lookup/octree_lookup.h"
#include "lib/base/status.h"

/* Owns the arrays of `grid`. */
typedef struct modal_octree_tables {
    modal_octree_grid grid;
    uint32_t *top;
    modal_octree_mask *masks;
    void *records;
    int64_t n_top, n_masks, n_records;
    double origin[3], scale; /* (position - origin) scale is in cells */
} modal_octree_tables;

/* Values at points of a lattice, and the cells between them that look-ups may meet. Borrows its arrays. */
typedef struct modal_octree_lattice {
    int bits; /* cells are below 2^bits in each axis */
    modal_octree_channels channels;
    int64_t n_cells, n_samples;
    const int64_t *cells; /* [n_cells] Morton keys of lower corners, ascending */
    const int64_t *keys;  /* [n_samples] Morton keys, ascending: all corners of the cells are there */
    const void *values;   /* [n_samples] */
} modal_octree_lattice;

/* Sets all but origin and scale. Errors and ownership as modal_octree_tables_make; MODAL_ERROR_INPUT where a corner is missing. */
modal_status modal_octree_tables_of(const modal_octree_lattice *lattice, modal_octree_tables *tables, modal_error *err);

/* Keys [octree->n_cells] of the cells that the surface meets; the caller frees them. MODAL_ERROR_MEMORY. */
modal_status modal_octree_list_cells(const modal_octree *octree, int64_t **keys, modal_error *err);

/* Errors: MODAL_ERROR_MEMORY. The caller frees the tables; after an error they are zeroed. */
modal_status modal_octree_tables_make(const modal_octree *octree, modal_octree_tables *tables, modal_error *err);
void modal_octree_tables_free(modal_octree_tables *tables);

/* Bytes of top, masks and records. */
int64_t modal_octree_tables_bytes(const modal_octree_tables *tables);

/* Values at positions [n, 3] m, by the back end `cpu`; values and found as in modal_octree_lookup_task. *n_outside counts points
 * whose cell the surface does not meet; they get 0. */
modal_status modal_octree_sample(const modal_octree_tables *tables, modal_octree_filter filter, const double *positions, int64_t n, void *values,
                                 uint8_t *found, int64_t *n_outside, modal_error *err);

/* The same by what a task says: filter, mips, and values and found of all points. The mips are there for a footprint of 2^level cells. */
modal_status modal_octree_sample_with(const modal_octree_tables *tables, const modal_octree_lookup_task *with, float level, const double *positions,
                                      int64_t n, int64_t *n_outside, modal_error *err);

#endif
