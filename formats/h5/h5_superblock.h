/* SPDX-License-Identifier: Apache-2.0 */
/* The first bytes of an HDF5 file, which say where it begins and ends: read by ourselves, so that what is no HDF5
 * file, was cut off, is of a later version or is followed by something else can be said, for a pipe, too. */
#ifndef MODAL_FORMATS_H5_SUPERBLOCK_H
#define MODAL_FORMATS_H5_SUPERBLOCK_H

#include <stdint.h>

enum { MODAL_H5_USER_BLOCK = 1 << 20, MODAL_H5_SUPERBLOCK = 64, MODAL_H5_SUPERBLOCK_TEXT = 160 };

typedef struct modal_h5_superblock {
    int64_t start; /* of the signature: the bytes of the user block */
    int64_t end;   /* of the HDF5 file, counted with the user block */
} modal_h5_superblock;

/* Where the signature may stand: 0, 512, 1024, ..., MODAL_H5_USER_BLOCK; the next place, or -1 after the last. */
int64_t modal_h5_next_place(int64_t place);

/* Whether the bytes are a signature (n >= 8). */
int modal_h5_is_signature(const unsigned char *bytes, int64_t n);

/* Reads the superblock at `start`, of which `bytes` holds the first n, MODAL_H5_SUPERBLOCK where there are as many.
 * wrong is empty, or says why it cannot be used. */
void modal_h5_superblock_take(modal_h5_superblock *s, int64_t start, const unsigned char *bytes, int64_t n,
                              char wrong[MODAL_H5_SUPERBLOCK_TEXT]);

/* What is wrong with a file of so many bytes that has this superblock: "truncated, ..." or more than the HDF5 file. */
void modal_h5_superblock_fits(const modal_h5_superblock *s, int64_t file_bytes, char wrong[MODAL_H5_SUPERBLOCK_TEXT]);

#endif
