/* SPDX-License-Identifier: Apache-2.0 */
/* Reads HDF5 files so that damage in them neither crashes HDF5 1.10 nor makes it loop or return memory that nobody wrote
 * (README.md). Everything else in this folder is private to it. */
#ifndef MODAL_FORMATS_H5_GUARD_H
#define MODAL_FORMATS_H5_GUARD_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/status.h"

/* A file, or an image of one in memory (bytes not NULL; path then only names it in messages). */
typedef struct modal_h5_source {
    const char *path;
    const void *bytes;
    size_t length;
} modal_h5_source;

/* Makes `access` open `source` read-only and guarded. Call before H5Fopen. The path and the bytes of the source must stay
 * where they are until the file is closed; addresses in the file count from `base`. `file` is the open descriptor of a
 * source that is a file: opening takes it and leaves -1. Returns < 0 on failure, with HDF5's error stack. */
herr_t modal_h5_guard(hid_t access, const modal_h5_source *source, int *file, int64_t base);

/* Deflate cannot shrink data more than 1032 times. An array or a chunk that claims to be more than this factor larger than
 * what is stored for it is refused: a file of a few bytes must not make its reader allocate as much as its author likes. */
enum { MODAL_H5_MOST_COMPRESSED = 1100 };

enum { MODAL_H5_RANK = 4, MODAL_H5_CHUNK_TEXT = 320 };

/* The values of a chunked dataset. HDF5 only finds the chunks: this folder reads them and undoes their filters, so that
 * every size is checked. */
typedef struct modal_h5_chunks modal_h5_chunks;

/* For an open dataset of a guarded file, with its creation properties, of numbers and of the shape dims[rank] with no
 * size 0. Borrows the dataset. If the dataset cannot be read, wrong says why, *chunks is NULL and the status is MODAL_OK;
 * otherwise wrong is empty. */
modal_status modal_h5_chunks_new(modal_h5_chunks **chunks, hid_t dataset, hid_t creation, int rank, const int64_t *dims,
                                 char wrong[MODAL_H5_CHUNK_TEXT], modal_error *err);

/* Reads rows [first, first + count) of the first dimension, in the machine's byte order. If a chunk is missing or damaged,
 * wrong says which and how, the status is MODAL_OK and the values are undefined; otherwise wrong is empty. */
modal_status modal_h5_chunks_read(modal_h5_chunks *c, int64_t first, int64_t count, void *to,
                                  char wrong[MODAL_H5_CHUNK_TEXT], modal_error *err);

modal_h5_chunks *modal_h5_chunks_delete(modal_h5_chunks *c); /* NULL is fine; gives NULL */

#endif
