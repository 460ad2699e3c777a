/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of a basis that lie in other files (basis.md, "Assemblies"). A private header of the format. */
#ifndef MODAL_FORMATS_BASIS_PARTS_H
#define MODAL_FORMATS_BASIS_PARTS_H

#include "formats/h5/h5_util.h"
#include "lib/model/basis.h"

/* *linked: the shape of this group lies in another file, or would but for what is broken. Its `file` and `file_shape`
 * are read; where they are broken `file` stays NULL. */
modal_status modal_basis_read_link(const modal_h5_in *in, const modal_h5_place *place, modal_shape *shape, int *linked);

/* Of the shapes that lie in other files, the indices sorted by file, those of one file ascending: the caller frees
 * *order [*n]. */
modal_status modal_basis_sort_links(const modal_basis *basis, int32_t **order, int32_t *n, modal_error *err);

/* A part that is open. Zero it before the first use. */
typedef struct modal_basis_part {
    modal_h5_in in;
    modal_h5_place shapes;
    char *path, *hashed; /* as modal_basis_find_part found it; its /@hashed */
    int32_t n_shapes;
    unsigned char *hashes; /* [n_shapes, MODAL_HASH_BYTES] */
} modal_basis_part;

/* Opens the part at `path`, which the part then owns and frees, also after an error. It must be a basis, and
 * `hashed` (NULL: not known) must have its entries of shapes in their order. findings and budget,
 * which may be NULL, are for what is read of it later. After an error it is closed. */
modal_status modal_basis_part_open(modal_basis_part *part, char *path, const char *hashed, modal_findings *findings,
                                   modal_h5_budget *budget, modal_error *err);

/* The shape lies in that part, with that hash. */
modal_status modal_basis_part_has(const modal_basis_part *part, const modal_shape *shape, modal_error *err);

/* Closes and zeroes; a zeroed struct is fine. `status` is what went before and wins over a failure of the close. */
modal_status modal_basis_part_close(modal_basis_part *part, modal_status status, modal_error *err);

#endif
