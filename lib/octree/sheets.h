/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples of an octree lie on the same sheet of the surface: near each other along it, not only in space.
 *
 * A cell's triangles fall into pieces: two are in one piece where a chain of triangles leads from one to the other, each two sharing an
 * edge that meets the cell. Pieces of cells side by side are linked where they have a triangle in common. A sample belongs to the
 * piece of its nearest triangle in the cell of its nearest point. A piece is near a sample where links lead to it from the sample's own piece
 * inside of the 4^3 cells around the sample, the cells at both ends excepted. Vertices at exactly the same place count as one. */
#ifndef MODAL_OCTREE_SHEETS_H
#define MODAL_OCTREE_SHEETS_H

#include "lib/octree/bricks.h"
#include "lib/octree/nearest.h"

typedef struct modal_sheets {
    const modal_octree *octree; /* borrowed, as the surface is */
    const int32_t *triangles;   /* [octree->n_triangles, 3] */
    modal_octree_frame frame;
    modal_bricks samples;
    int32_t *cell_of;      /* [n_samples] number of the cell that the sample begins, or -1 */
    int64_t n_cells;
    int32_t *cell_samples; /* [n_cells] and back */
    int64_t *first;        /* [n_cells + 1] entries of a cell */
    int32_t *entries;      /* triangles of cells, ascending in each */
    int32_t *pieces;       /* of an entry */
    int64_t n_pieces;
    int32_t *piece_cells;  /* [n_pieces] */
    int64_t *link_offsets; /* [n_pieces + 1] */
    int32_t *links;        /* pieces, ascending in each */
    int32_t *homes;        /* [n_samples] the piece that a sample belongs to; -1 where rounding leaves none */
} modal_sheets;

/* Of the surface that the octree was built around: positions [n_vertices, 3] m, triangles. OpenMP; the same for any number of
 * threads.
 * Errors: MODAL_ERROR_INPUT where the surface is another one (by its hash) or elsewhere in the tree's cube, MODAL_ERROR_MEMORY. The caller frees the sheets,
 * also after an error. */
modal_status modal_sheets_make(const modal_octree *octree, const double *positions, int64_t n_vertices, const int32_t *triangles, int64_t n_triangles,
                               modal_sheets *sheets, modal_error *err);
void modal_sheets_free(modal_sheets *sheets);

/* The sample at a lattice point, or -1. */
int64_t modal_sheets_sample(const modal_sheets *sheets, const int64_t point[3]);

/* The piece of a triangle in the cell that begins at a lattice point; -1: the triangle does not meet it. */
int32_t modal_sheets_piece(const modal_sheets *sheets, const int64_t lower[3], int32_t triangle);

/* Pieces that are near a sample, found when the first is asked for that is not the sample's own or linked to it. Zeroed but for
 * sheets and sample. Rags of more than MODAL_SHEETS_NEAR pieces around a sample count as not connected beyond these. */
enum { MODAL_SHEETS_NEAR = 256 };
typedef struct modal_sheets_near {
    const modal_sheets *sheets;
    int64_t sample;
    int n, searched;
    int32_t pieces[MODAL_SHEETS_NEAR];
} modal_sheets_near;
int modal_sheets_is_near(modal_sheets_near *near, int32_t piece);

/* The corners of a piece's cell to which the piece is near: samples [8] with -1 where it is not. All eight where it is near to none. */
void modal_sheets_corners(const modal_sheets *sheets, int32_t piece, int64_t samples[8]);

/* Trilinear weights of those corners at the place x of the cell, 0 to 1 in each axis, with sum 1. */
void modal_sheets_weights(const int64_t samples[8], const double x[3], double weights[8]);

#endif
