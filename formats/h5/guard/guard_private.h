/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. Numbers of sections are those of the HDF5 File Format Specification 3.0. */
#ifndef MODAL_FORMATS_H5_GUARD_PRIVATE_H
#define MODAL_FORMATS_H5_GUARD_PRIVATE_H

#include "formats/h5/guard/guard.h"

/* ---- driver.c: the file that HDF5 reads ---- */

/* Position of a chunk in the file, and which of its filters were left out. */
typedef struct guard_stored {
    int64_t start, bytes;
    uint32_t mask;
} guard_stored;

/* Blocks [n] of object headers that were checked. */
typedef struct guard_blocks {
    struct {
        uint64_t start, size;
    } *blocks;
    int n, room;
    uint64_t rest_start, rest_size; /* of the last header, after the bytes that HDF5 asked for: what it asks for next */
} guard_blocks;

typedef struct guard {
    H5FD_t driver; /* HDF5's own, must be first */
    modal_h5_source source;
    int file; /* -1 if the bytes are in memory */
    haddr_t end_allocated;
    uint64_t base, end; /* where addresses count from, and where the file ends, not before `base` */
    guard_blocks blocks;
    const char *damage;  /* NULL, or what was found last */
    guard_stored *noted; /* NULL, or where the next request for values is noted instead of read */
} guard;

/* Of a dataset of a guarded file; NULL for any other. */
guard *guard_of(hid_t dataset);

/* Finds the chunk at `offset` (in items): HDF5 is made to read it, and the driver notes what HDF5 asks for. So no byte is
 * read, whatever size the file claims. The chunk lies in the file. Returns < 0 if it is missing or cannot be found. */
herr_t guard_find_chunk(guard *g, hid_t dataset, const hsize_t *offset, guard_stored *stored);

/* read.c: bytes past the end read as zeros, as with HDF5's own drivers. Returns 0, or -1 on a read error. */
int guard_read(const guard *g, uint64_t start, uint64_t size, void *bytes);

/* ---- headers.c, heaps.c: checks of metadata without checksums; each returns NULL, or what is damaged ---- */

/* HDF5 asks for `size` bytes at `start` as an object header (IV.A) or as a further block of one. */
const char *guard_check_header(guard *g, uint64_t start, uint64_t size, const unsigned char *bytes);

/* HDF5 asks for any other bytes: collections of the global heap (III.E), local heaps (III.D), trees (III.A). */
const char *guard_check_other(const guard *g, uint64_t start, uint64_t size, const unsigned char *bytes);

/* Whether the collection at address `at` is sound and has the object; *bytes: its size. With `mapping`, whether the object
 * is also the mapping of a virtual dataset, with its checksum. */
int guard_has_object(const guard *g, uint64_t at, uint64_t index, int mapping, uint64_t *bytes);

/* A little-endian number of n bytes, at most 8. */
static inline uint64_t guard_little(const unsigned char *bytes, int n)
{
    uint64_t value = 0;
    for (int i = n - 1; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

/* ---- filters.c: deflate, shuffle and scaleoffset, undone with every size checked ---- */

enum { GUARD_WRONG = 160 };

/* How the values of a chunk become what is stored: shuffle or scaleoffset, then deflate, each of them or not. */
typedef struct guard_filters {
    int shuffle, scale, deflate;
    int decimals;    /* of scaleoffset */
    int64_t item_bytes, chunk_bytes;
    int64_t most;           /* bytes that are stored, at most; exactly so many if nothing is compressed */
    void *inflate;          /* zlib's state, NULL until it is needed */
    unsigned char *between; /* what comes out of deflate, if another filter follows */
} guard_filters;

/* Takes the filters of a dataset of this type. wrong is empty, or says why they cannot be undone. Free in either case. */
void guard_filters_take(guard_filters *f, hid_t creation, hid_t type, int64_t chunk_bytes, char wrong[GUARD_WRONG]);

/* stored[n] to values[chunk_bytes], in the byte order of the file. wrong is empty, or says what is wrong with the chunk.
 * Fails only for memory. */
modal_status guard_filters_undo(guard_filters *f, const unsigned char *stored, int64_t n, unsigned char *values,
                                char wrong[GUARD_WRONG], modal_error *err);

void guard_filters_free(guard_filters *f);

#endif
