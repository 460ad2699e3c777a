/* SPDX-License-Identifier: Apache-2.0 */
/* The hashes of basis.h5 (basis.md, "Hashes"). A private header of the format. */
#ifndef MODAL_FORMATS_BASIS_HASH_H
#define MODAL_FORMATS_BASIS_HASH_H

#include "formats/basis/basis_fields.h"
#include "formats/h5/h5_util.h"
#include "lib/base/hash.h"

enum { MODAL_BASIS_HASHED = 2048 };

/* /@hashed as it is written. */
void modal_basis_hashed(char text[MODAL_BASIS_HASHED]);

/* The hash of a shape in memory, in the order of that list; `hash` is started over. sizes: those of its arrays. Errors: those of
 * its source. */
modal_status modal_basis_hash_shape(modal_hash *hash, const modal_shape *shape, const int64_t sizes[SIZE_COUNT],
                                    unsigned char bytes[MODAL_HASH_BYTES], modal_error *err);
/* The content hash of a basis whose shapes have these hashes, [n_shapes, 16]; `hash` is started over. */
void modal_basis_hash_content(modal_hash *hash, const modal_basis *basis, const unsigned char *hashes,
                              char text[MODAL_HASH_TEXT]);

/* A file's /@hashed: whether it is well formed, and has the arrays of this page that some shape has. */
typedef struct modal_basis_list {
    const char *text; /* borrowed */
    uint8_t has[64];  /* [MODAL_BASIS_FIELDS] */
    uint8_t has_members[3]; /* axes of materials, nodes and elements of groups */
} modal_basis_list;
modal_status modal_basis_list_init(modal_basis_list *list, const char *text, const modal_checker *checker);

/* The hash of a shape in a file, by the list; `shape` is what was read of it, all parts; plain: its matrix lies
 * otherwise in the file. Reports arrays that the list lacks. `hash` is started over. */
modal_status modal_basis_hash_listed(const modal_h5_in *in, const modal_h5_place *place, const modal_basis_list *list,
                                     const modal_shape *shape, const int64_t sizes[SIZE_COUNT], int plain,
                                     modal_hash *hash, unsigned char bytes[MODAL_HASH_BYTES]);
/* The content hash of a file, by the list. */
modal_status modal_basis_hash_listed_content(const modal_h5_in *in, const modal_h5_place *root,
                                             const modal_basis_list *list, modal_hash *hash,
                                             char text[MODAL_HASH_TEXT]);

#endif
