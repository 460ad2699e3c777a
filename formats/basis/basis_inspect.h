/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of a basis that is being written: their rules and their hash, by a second thread as soon as one is
 * large, for both read everything once more and would keep the disk waiting. */
#ifndef MODAL_FORMATS_BASIS_INSPECT_H
#define MODAL_FORMATS_BASIS_INSPECT_H

#include "lib/base/hash.h"
#include "lib/model/basis.h"

typedef struct modal_basis_inspection modal_basis_inspection;

/* Borrows the basis, of which only the number of shapes has to be there. */
modal_status modal_basis_inspection_new(modal_basis_inspection **inspection, const modal_basis *basis,
                                        modal_error *err);
/* The next shape is complete, and stays as it is. Returns MODAL_ERROR_INTERRUPTED where one before it is known to
 * break a rule; modal_basis_inspection_end says which. */
modal_status modal_basis_inspection_next(modal_basis_inspection *inspection, modal_error *err);
/* Waits until nobody looks at the shapes that were given any more: they may go. */
void modal_basis_inspection_settle(modal_basis_inspection *inspection);
/* Waits for the shapes that were given. status MODAL_OK: all were, `hashes` [n_shapes, 16] become those of the shapes,
 * and `hash` the content hash, objects included; MODAL_ERROR_INPUT for the first rule that is broken. Otherwise the
 * status is returned, unless it is
 * that of such a rule. Frees and forgets; NULL is fine. */
modal_status modal_basis_inspection_end(modal_basis_inspection **inspection, modal_status status,
                                        unsigned char *hashes, char hash[MODAL_HASH_TEXT], modal_error *err);

#endif
