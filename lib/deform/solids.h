/* SPDX-License-Identifier: Apache-2.0 */
/* Solids for the deformer: the nodes move as x = R (xbar + phi q) + p, like the vertices of a surface whose modal matrix is phi. So a
 * basis is made whose "surfaces" are the nodes. */
#ifndef MODAL_DEFORM_SOLIDS_H
#define MODAL_DEFORM_SOLIDS_H

#include "lib/model/basis.h"

/* The elements of all objects, as VTK has them: types, and nodes in its order (it turns the wedge over). */
typedef struct modal_solid_cells {
    int64_t n_cells, *connectivity, *offsets; /* points [offsets[n_cells]]; [n_cells + 1] */
    uint8_t *types;                           /* [n_cells] */
} modal_solid_cells;

/* Puts the nodes of the solids in the place of the surfaces, in the user's order. The basis was read with its solids and their modes; it
 * keeps the elements. MODAL_ERROR_INPUT: a shape has none, or a value that does not fit float32. */
modal_status modal_solids_as_surfaces(modal_basis *basis, modal_error *err);
/* The cells of all objects of such a basis; the caller frees them. */
modal_status modal_solid_cells_of_basis(const modal_basis *basis, modal_solid_cells *cells, modal_error *err);
/* The cells of one mesh, whose nodes are the points. */
modal_status modal_solid_cells_of(const modal_volume_mesh *mesh, modal_solid_cells *cells, modal_error *err);
void modal_solid_cells_free(modal_solid_cells *cells); /* zeros are fine */

#endif
