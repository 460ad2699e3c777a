/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of HDF5's metadata that have no checksum and that HDF5 1.10 follows in circles or out of bounds where they
 * are damaged: collections of the global heap, local heaps, and trees of version 1 (HDF5 File Format Specification 3.0,
 * III.E, III.D, III.A). Files with metadata older than 1.8 (h5py's default) are full of them. */
#ifndef MODAL_FORMATS_H5_UNSEALED_H
#define MODAL_FORMATS_H5_UNSEALED_H

#include <stddef.h>
#include <stdint.h>

/* The file that HDF5 reads from. */
typedef struct modal_h5_unsealed {
    int (*read)(const void *file, uint64_t start, uint64_t size, void *bytes); /* all of them, else not 0 */
    const void *file;
    uint64_t base, end; /* where addresses count from, and where the file ends, not before `base` */
    unsigned chunk_rank;  /* half the children of a node of a tree of chunks */
} modal_h5_unsealed;

/* NULL, or what is damaged, where the `size` bytes that HDF5 asks for at `start` are the beginning of one of these. */
const char *modal_h5_unsealed_damage(const modal_h5_unsealed *file, uint64_t start, uint64_t size, const void *bytes);

#endif
