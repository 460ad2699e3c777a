/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the checker of sequences share: sequence_check_cells.c has the cells. */
#ifndef MODAL_FORMATS_SEQUENCE_CHECKED_H
#define MODAL_FORMATS_SEQUENCE_CHECKED_H

#include "formats/h5/h5_util.h"
#include "formats/sequences/sequence_parts.h"

typedef struct sequence_checked {
    modal_h5_in in;
    modal_sequence_info info;          /* counts are -1 where the file does not tell */
    int64_t rows[MODAL_MOST_ARRAYS];   /* of each moving array, -1 where broken */
    double *times;
    int64_t *triangles;
    modal_sequence_cells cells; /* info.volume, for a solid: these arrays */
    int64_t *connectivity, *offsets;
    uint8_t *types;
} sequence_checked;

/* Reads [n] or, with width > 0, [n, width] integers: the i-th must be first + i * step. */
modal_status modal_sequence_expect_array(const sequence_checked *c, const modal_h5_place *place,
                                         const char *name, int64_t n, int64_t width, int64_t first,
                                         int64_t step);
/* One positive count in an array of length one; -1 where it is broken. */
modal_status modal_sequence_read_one(const sequence_checked *c, const modal_h5_place *place,
                                     const char *name, int64_t *value);

/* sequence_list.c: the arrays of the file. What is broken is reported, and not in the list. `modal` and `vtk` are
 * /modal and /VTKHDF; without a checker's list the first broken rule is the error. */
modal_status modal_sequence_read_list(const modal_h5_in *in, const modal_h5_place *modal, const modal_h5_place *vtk,
                                      modal_array_list *list);

/* The cells; c->info gets n_triangles and c->triangles, or volume. */
modal_status modal_sequence_check_surface(sequence_checked *c, const modal_h5_place *vtk);
modal_status modal_sequence_check_volume(sequence_checked *c, const modal_h5_place *root,
                                         const modal_h5_place *vtk);

#endif
