/* SPDX-License-Identifier: Apache-2.0 */
/* HDF5's filters deflate, shuffle, fletcher32 and scaleoffset, undone with proof: HDF5 1.10 compares neither what a
 * chunk inflates to with the chunk's size, nor the size that its filters expect with what is stored, and gives out
 * memory that nobody wrote. Here every size is known before a filter is undone, or compared afterwards. */
#ifndef MODAL_FORMATS_H5_FILTERS_H
#define MODAL_FORMATS_H5_FILTERS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/h5/h5_util.h"

enum { MODAL_H5_FILTERS = 8, MODAL_H5_FILTER_VALUES = 20, MODAL_H5_WRONG = 160 };

/* How the values of a chunk become what is stored: filters[0] was applied first. */
typedef struct modal_h5_filters {
    int n;
    struct {
        int id; /* H5Z_FILTER_... */
        unsigned values[MODAL_H5_FILTER_VALUES];
    } filters[MODAL_H5_FILTERS];
    size_t item_bytes;
    int64_t chunk_bytes;
    int64_t most[MODAL_H5_FILTERS + 1]; /* bytes after the first i filters, at most */
    int exact[MODAL_H5_FILTERS + 1];    /* exactly that many */
    void *inflate;                      /* zlib's state, NULL until it is needed */
    unsigned char *scratch[2];          /* the like, most[0..n] bytes each */
} modal_h5_filters;

/* Takes the filters of a dataset of chunks of `chunk_bytes`, of items of the type. wrong is empty, or says why they
 * cannot be undone. Free with modal_h5_filters_free in either case. */
void modal_h5_filters_take(modal_h5_filters *f, hid_t creation, modal_h5_type type, int big_endian, int64_t chunk_bytes,
                           char wrong[MODAL_H5_WRONG]);

/* `stored` [n] to `values` [f->chunk_bytes], in the order of bytes of the file. wrong is empty, or says what is wrong
 * with the chunk; `values` are then of no use. Fails only for memory. */
modal_status modal_h5_filters_undo(modal_h5_filters *f, const unsigned char *stored, int64_t n, unsigned char *values,
                                   char wrong[MODAL_H5_WRONG], modal_error *err);

void modal_h5_filters_free(modal_h5_filters *f);

/* Turns the byte order of `count` numbers of `bytes` bytes. */
void modal_h5_swap_bytes(unsigned char *values, int64_t count, size_t bytes);

#endif
