/* SPDX-License-Identifier: Apache-2.0 */
/* What HDF5 reads files through: a read-only driver for a file or for an image of one in memory, which is not copied.
 * It looks at the parts of the metadata that have no checksum before HDF5 gets them: HDF5 1.10 follows damage in them out
 * of bounds or for ever. And it is how chunks are found without HDF5 reading them. */
#ifndef MODAL_FORMATS_H5_DRIVER_H
#define MODAL_FORMATS_H5_DRIVER_H

#include "formats/h5/h5_util.h"

/* Makes `access` open `source`, whose path and bytes must stay where they are until the file is closed; addresses in it
 * count from `base`. `file`: the open descriptor of a source that is a file; opening takes it, and leaves -1. < 0: failed, HDF5's stack
 * says why. */
herr_t modal_h5_read_through_driver(hid_t access, const modal_h5_source *source, int *file, int64_t base);

/* An open file as the driver has it. */
typedef struct modal_h5_reader modal_h5_reader;

/* Of a file that was opened so, or of an object of one; else NULL. Lives as long as the file is open. */
modal_h5_reader *modal_h5_reader_of(hid_t id);

/* To be told before a chunk is looked for, where it is not the usual one: half the children of a node of the trees of
 * chunks (H5Pget_istore_k). */
void modal_h5_reader_learn(modal_h5_reader *reader, unsigned chunk_rank);

/* Where a chunk lies in the file, and which of its filters were left out. */
typedef struct modal_h5_stored {
    int64_t start, bytes;
    uint32_t mask;
} modal_h5_stored;

/* Finds the chunk at `offset`, in items, of a chunked dataset: HDF5 is told to read it, and the driver notes what it is
 * asked for instead. So no byte is read, whatever size the file claims. All of it lies in the file. < 0: it is missing
 * or cannot be found, HDF5's stack says why. */
herr_t modal_h5_find_chunk(modal_h5_reader *reader, hid_t dataset, const hsize_t *offset, modal_h5_stored *stored);

int modal_h5_reader_in_memory(const modal_h5_reader *reader);

/* Bytes [start, start + bytes) of the file, all of which must be there: where they are in memory, or in `buffer`;
 * NULL where they cannot be read. */
const void *modal_h5_reader_bytes(const modal_h5_reader *reader, int64_t start, int64_t bytes, void *buffer);

#endif
