/* SPDX-License-Identifier: Apache-2.0 */
/* The one way in which values of a chunked dataset are read. HDF5 says where a chunk lies; the bytes are read and its
 * filters are undone here, and every size on the way is proven: what is given out was in the file. */
#ifndef MODAL_FORMATS_H5_CHUNKS_H
#define MODAL_FORMATS_H5_CHUNKS_H

#include "formats/h5/h5_filters.h"

enum { MODAL_H5_CHUNK_TEXT = 320 };

typedef struct modal_h5_chunks modal_h5_chunks;

/* An open dataset of a file of modal_h5_open, of a known type and of the shape dims[rank], with no size 0. */
typedef struct modal_h5_chunked {
    hid_t dataset, creation;
    modal_h5_type type;
    int big_endian, rank;
    const int64_t *dims;
} modal_h5_chunked;

/* Borrows the dataset. wrong is empty, or says why it cannot be read (*chunks is then NULL, the status MODAL_OK). */
modal_status modal_h5_chunks_new(modal_h5_chunks **chunks, const modal_h5_chunked *of, char wrong[MODAL_H5_CHUNK_TEXT],
                                 modal_error *err);

/* Rows [first, first + count) of its first dimension, all of which are there, as the machine has numbers. wrong is
 * empty, or says which chunk is missing or damaged and how (MODAL_OK; the values are then of no use). */
modal_status modal_h5_chunks_read(modal_h5_chunks *c, int64_t first, int64_t count, void *to,
                                  char wrong[MODAL_H5_CHUNK_TEXT], modal_error *err);

modal_h5_chunks *modal_h5_chunks_delete(modal_h5_chunks *c); /* NULL is fine; gives NULL */

#endif
