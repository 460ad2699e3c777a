/* SPDX-License-Identifier: Apache-2.0 */
/* Object headers (HDF5 File Format Specification 3.0, IV.A). HDF5 1.10 decodes their messages without looking where they
 * end, and those of version 1, of files with metadata older than 1.8 (h5py's default), have no checksum; the collections
 * that messages of either version refer to have none. */
#ifndef MODAL_FORMATS_H5_HEADERS_H
#define MODAL_FORMATS_H5_HEADERS_H

#include "formats/h5/h5_unsealed.h"

/* The further blocks of the headers that were looked at; zeros at first. */
typedef struct modal_h5_blocks {
    struct {
        uint64_t start, size;
    } *blocks; /* [n], in no order of the file */
    int n, room;
    uint64_t rest_start, rest_size; /* what the last header has beyond the bytes that HDF5 asked for: it asks for that next, and only for that */
} modal_h5_blocks;

/* NULL, or what is damaged, where HDF5 asks for the `size` bytes at `start` as an object header, or as a further block
 * of one. A sound header's further blocks are added to `known`. The messages of all blocks lie in them, and what their
 * decoders follow lies in the messages; texts of variable length and mappings of virtual datasets lie in sound
 * collections of the global heap. */
const char *modal_h5_header_damage(const modal_h5_unsealed *file, uint64_t start, uint64_t size, const void *bytes,
                                   modal_h5_blocks *known);

void modal_h5_blocks_free(modal_h5_blocks *known);

#endif
