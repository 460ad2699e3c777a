/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of a page as they are compressed: planes of equal significance, which compress better than whole numbers. */
#ifndef MODAL_FORMATS_VIEWER_SINK_H
#define MODAL_FORMATS_VIEWER_SINK_H

#include <stdint.h>
#include <zlib.h>

#include "lib/base/status.h"

/* 0, -1, 1, -2, ... as 0, 1, 2, 3, ... */
static inline uint32_t modal_viewer_zigzag32(int32_t x) { return ((uint32_t)x << 1) ^ (uint32_t)(x >> 31); }

typedef struct modal_viewer_sink {
    z_stream stream;
    int open;
    unsigned char *bytes; /* [n] a gzip stream */
    int64_t n, capacity;
} modal_viewer_sink;

modal_status modal_viewer_sink_begin(modal_viewer_sink *sink, modal_error *err);
/* `n` items of `width` bytes (little-endian) as planes: all first bytes, all second ones... */
modal_status modal_viewer_put_planes(modal_viewer_sink *sink, const void *items, int64_t n, int width, modal_error *err);
/* Items less the one before each, zigzag-coded, as planes. */
modal_status modal_viewer_put_differences(modal_viewer_sink *sink, const int32_t *items, int64_t n, modal_error *err);
/* Completes the stream. */
modal_status modal_viewer_sink_end(modal_viewer_sink *sink, modal_error *err);
/* Whatever came; a zeroed sink is fine. Bytes that the caller has taken are set to NULL before. */
void modal_viewer_sink_free(modal_viewer_sink *sink);

#endif
