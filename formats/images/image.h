/* SPDX-License-Identifier: Apache-2.0 */
/* Images that users hand over: PNG by libpng, JPEG by libjpeg-turbo, where the program was built with them. */
#ifndef MODAL_FORMATS_IMAGE_H
#define MODAL_FORMATS_IMAGE_H

#include <stdint.h>

#include "lib/base/status.h"

typedef enum modal_image_kind { MODAL_IMAGE_NONE, MODAL_IMAGE_PNG, MODAL_IMAGE_JPEG } modal_image_kind;

/* The largest that is read: of a side, and texels in all. */
enum { MODAL_IMAGE_SIDE = 16384, MODAL_IMAGE_TEXELS = 1 << 27 };

/* What a file is, by its first bytes. */
modal_image_kind modal_image_kind_of(const void *bytes, int64_t length);

/* "image/png", "image/jpeg". */
const char *modal_image_media_type(modal_image_kind kind);

/* What an image says of itself. */
typedef struct modal_image_head {
    modal_image_kind kind;
    int32_t width, height;
    int progressive; /* a JPEG whose decoder holds the whole image in its own numbers */
} modal_image_head;

/* Main memory that decoding takes beside `texels`, at most. */
int64_t modal_image_decoder_bytes(const modal_image_head *head);

/* Reads the head, without a library. MODAL_ERROR_INPUT "NAME: what": neither kind, cut off, a side of 0, larger than above, more texels
 * than a file of this length can hold (PNG: deflate packs to no less than 1 / 1032). Thread-safe. */
modal_status modal_image_head_read(const void *bytes, int64_t length, const char *name, modal_image_head *head, modal_error *err);

/* Whether the file goes on to its end: the chunks of a PNG to IEND, a JPEG to a mark of its end in the last 64 KiB. `read` gives up to n bytes at
 * byte `at` and returns how many there were; `length` is that of the file. What lies between is not looked at. MODAL_ERROR_INPUT "NAME: cut off". */
typedef int64_t (*modal_image_reader)(void *context, int64_t at, void *bytes, int64_t n);
modal_status modal_image_end_check(modal_image_reader read, void *context, int64_t length, const modal_image_head *head, const char *name,
                                   modal_error *err);

/* Decodes into texels [height, width, 4], r g b a in 8 bits, the lowest row first. `texels` has room for the size that the head says. Any PNG;
 * JPEG of grey or YCbCr or RGB, not of CMYK. MODAL_ERROR_INPUT also for files that are cut off or damaged; MODAL_ERROR_SYSTEM where the
 * library is not there; MODAL_ERROR_MEMORY. Thread-safe. */
modal_status modal_image_decode(const void *bytes, int64_t length, const char *name, uint8_t *texels, modal_error *err);

/* "libpng 1.6.39, libjpeg-turbo 2.1.5", "PNG absent ...": for --version. */
const char *modal_image_libraries(void);

#endif
