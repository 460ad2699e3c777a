/* SPDX-License-Identifier: Apache-2.0 */
/* What lies otherwise in some files of basis.h5 than in memory: matrices by rows, arrays that others imply. A private header of the format. */
#ifndef MODAL_FORMATS_BASIS_LAYOUT_H
#define MODAL_FORMATS_BASIS_LAYOUT_H

#include "formats/basis/basis_fields.h"
#include "formats/h5/h5_util.h"

/* *plain: 1 where the modal matrix of the group `modes` is [V, 3, r]. */
modal_status modal_basis_layout(const modal_h5_in *in, const modal_h5_place *modes, int *plain);

/* Reads such a matrix, in tiles, or with `wanted` 0 (or n_vertices < 0: not known) only checks it; *n_modes is the
 * file's. The caller frees *matrix. */
modal_status modal_basis_read_plain(const modal_h5_in *in, const modal_h5_place *modes, int64_t n_vertices, int wanted,
                                    int64_t *n_modes, float **matrix);

/* Rows [n_vertices, 3, n_modes] into tiles; lanes past the last vertex get 0. */
void modal_basis_tile_rows(int64_t n_vertices, int64_t n_modes, const float *rows, float *tiles);

/* Fills in what others imply: element_offsets, element_material. Checks which forms of phi at the nodes the group
 * `volume` has. */
modal_status modal_basis_implied(const modal_h5_in *in, const modal_h5_place *volume, modal_shape *shape);

#endif
