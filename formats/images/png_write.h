/* SPDX-License-Identifier: Apache-2.0 */
/* PNG (ISO/IEC 15948) of pictures: filter "up", one compressed chunk, sRGB said. Deflate by libdeflate, which takes two thirds of
 * zlib's time, where the program was built with it, else by zlib; the fastest level of either. */
#ifndef MODAL_FORMATS_PNG_WRITE_H
#define MODAL_FORMATS_PNG_WRITE_H

#include <stdint.h>

#include "lib/base/status.h"

/* texels [height, width, 4]: r g b in sRGB, the fourth is not looked at; row 0 is the upper one. bits: 8, of uint8_t, or 16, of uint16_t.
 * *bytes [*length] is the file, which the caller frees with modal_free. MODAL_ERROR_MEMORY. Thread-safe; equal bytes for equal texels. */
modal_status modal_png_encode(const void *texels, int bits, int32_t width, int32_t height, uint8_t **bytes, int64_t *length, modal_error *err);

/* The same of 8 bits with the fourth number as alpha, not premultiplied. */
modal_status modal_png_encode_alpha(const uint8_t *texels, int32_t width, int32_t height, uint8_t **bytes, int64_t *length, modal_error *err);

/* Grey of 8 bits: the first number of each texel [height, width, 4]. */
modal_status modal_png_encode_grey(const void *texels, int32_t width, int32_t height, uint8_t **bytes, int64_t *length, modal_error *err);

/* "libdeflate 1.14", "zlib 1.2.13": for --version. */
const char *modal_png_library(void);

#endif
