/* SPDX-License-Identifier: Apache-2.0 */
/* Private to modalplace. */
#ifndef TOOLS_MODALPLACE_H
#define TOOLS_MODALPLACE_H

#include "lib/base/hash.h"
#include "lib/model/basis.h"

/* A basis whose shapes are placed. */
typedef struct modalplace_file {
    char *path;
    int32_t line;            /* of the list */
    int32_t first, n_shapes; /* of all shapes */
    char hash[MODAL_HASH_TEXT]; /* once it was read: its content */
} modalplace_file;

typedef struct modalplace_bases {
    const char *list; /* --bases, or NULL */
    int64_t n_files, capacity, n_taken, provenance_capacity;
    modalplace_file *files;
    modal_basis *basis, from; /* what is made; the file that was read last */
    modal_status (*before_end)(void *context, modal_error *err); /* when all were read */
    void *before_end_context;
} modalplace_bases;

/* ---- modalplace_bases.c ---- */

/* Lists the files, of a list or the operands, and counts their shapes: basis->shapes has room for them. b->basis is set before.
 * MODAL_ERROR_INPUT with the line of the list. */
modal_status modalplace_list_bases(modalplace_bases *b, const char *list, int n_operands, char *const *operands, modal_error *err);
/* Reads a file: its shapes and its steps of provenance become the basis's. With `linked_from`, the path of an assembly, without arrays. */
modal_status modalplace_take(modalplace_bases *b, int64_t index, const char *linked_from, modal_error *err);
/* modal_basis_wait and modal_basis_release of the bases. */
modal_status modalplace_wait(void *bases, int32_t index, modal_error *err);
void modalplace_release(void *bases, int32_t index);
void modalplace_free_bases(modalplace_bases *b);

/* ---- modalplace_link.c ---- */

/* The shapes of the basis that was read from `path` get the file that each lies in, as the assembly `out` has to name it.
 * MODAL_ERROR_USAGE: it does not lie below the folder of `out`. */
modal_status modalplace_link(const char *out, const char *path, modal_basis *basis, modal_error *err);

/* Whether the assembly can be read. */
modal_status modalplace_check_links(const char *path, modal_error *err);

#endif
