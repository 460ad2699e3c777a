/* SPDX-License-Identifier: Apache-2.0 */
/* Reads point caches back, .pc2 and .mdd (formats/sequences.md): times, and the positions of a frame at a time. They have no
 * connectivity: that is in a mesh beside them, rest.obj where we wrote them. */
#ifndef MODAL_FORMATS_CACHE_READ_H
#define MODAL_FORMATS_CACHE_READ_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_cache_reader modal_cache_reader;

typedef struct modal_cache {
    int64_t n_points, n_frames;
    const double *times; /* [n_frames], strictly increasing: s of .mdd; .pc2 counts frames. The reader's */
} modal_cache;

typedef enum modal_cache_kind { MODAL_CACHE_PC2, MODAL_CACHE_MDD } modal_cache_kind;

/* MODAL_ERROR_INPUT for a file that is none, has no points or no frames, or not the length that
 * its head says; *reader is NULL then. MODAL_ERROR_SYSTEM where it cannot be read. */
modal_status modal_cache_reader_open(modal_cache_reader **reader, modal_cache_kind kind, const char *path, modal_cache *cache,
                                     modal_error *err);

/* points [n_points, 3], m: finite, or MODAL_ERROR_INPUT. 0 <= frame < n_frames. From one thread at a time. */
modal_status modal_cache_reader_points(modal_cache_reader *reader, int64_t frame, float *points, modal_error *err);

modal_cache_reader *modal_cache_reader_close(modal_cache_reader *reader); /* NULL is fine; returns NULL */

#endif
