/* SPDX-License-Identifier: Apache-2.0 */
/* The global heap of an HDF5 file is the one part of its metadata without a checksum, and HDF5 1.10
 * follows damaged sizes in it out of bounds (a flipped bit crashes H5Dopen of a virtual dataset).
 * So it is looked at here before HDF5 follows it. */
#ifndef MODAL_FORMATS_H5_HEAP_H
#define MODAL_FORMATS_H5_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "formats/h5/findings.h"
#include "lib/base/status.h"

/* Bytes [start, start + bytes) of the file that hold values, and so need not be searched. */
typedef struct modal_h5_range {
    int64_t start, bytes;
} modal_h5_range;

/* Searches the file, but for `skip` [n_skip], for collections of the global heap, and checks that
 * each is a sound chain of objects, and that every object is the mapping of a virtual dataset with
 * its right checksum. *sound tells whether all are. A broken one is reported through the checker. */
modal_status modal_h5_check_heaps(const char *path, const modal_h5_range *skip, int n_skip,
                                  const modal_checker *checker, int *sound);

/* The size of the collection that `bytes` begin with, as it claims; 0: they do not begin with one. */
uint64_t modal_h5_heap_bytes(const void *bytes, size_t size);

/* Whether the collection of `size` bytes, all of it, is one that HDF5 must not see: no sound chain of objects. */
int modal_h5_damaged_heap(const void *bytes, uint64_t size);

/* Whether the collection at address `at` is sound and has the object; *length: its bytes. */
struct modal_h5_unsealed;
int modal_h5_heap_object(const struct modal_h5_unsealed *file, uint64_t at, uint64_t index, uint64_t *length);
/* Whether the object is the mapping of a virtual dataset, too, with its right checksum. */
int modal_h5_heap_mapping(const struct modal_h5_unsealed *file, uint64_t at, uint64_t index);

#endif
