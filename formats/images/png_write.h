/* SPDX-License-Identifier: Apache-2.0 */
/* PNG (ISO/IEC 15948) of pictures: filter "none" or "up" for all rows, whichever packs some of them better, one compressed chunk, sRGB said. Deflate
 * by libdeflate, which takes two thirds of zlib's time, where the program was built with it, else by zlib; the fastest level of either. Without a
 * filter both are faster, libdeflate twice: runs of zeros, which "up" makes of a background, all go through one entry of its table. */
#ifndef MODAL_FORMATS_PNG_WRITE_H
#define MODAL_FORMATS_PNG_WRITE_H

#include <stdint.h>

#include "lib/base/status.h"

/* Room that is held from one picture to the next: to get as many pages from the system takes a third as long as to pack one. Starts as {0}. */
typedef struct modal_png_room {
    uint8_t *rows, *file;
    int64_t n_rows, n_file; /* bytes */
    void *packer;           /* libdeflate's compressor */
} modal_png_room;

typedef struct modal_png_picture {
    const void *texels; /* [height, width, 4] of uint8_t or uint16_t, in sRGB; row 0 is the upper one */
    int bits, channels; /* 8 or 16; 3, r g b, the fourth is not looked at, or, of 8 bits, 4, with alpha, not premultiplied, or 1, grey, the first */
    int32_t width, height;
} modal_png_picture;

/* *bytes [*length] is the file, in `held` until the next picture. MODAL_ERROR_MEMORY; MODAL_ERROR_SYSTEM: larger than a chunk of PNG holds. The room is
 * good after errors, too. Equal bytes for equal texels. Threads have a room each. */
modal_status modal_png_encode(modal_png_room *held, const modal_png_picture *picture, const uint8_t **bytes, int64_t *length, modal_error *err);
/* The same in two steps: after the first, which takes a fifth of the time, the texels are not read any more. Both are given the same picture. */
modal_status modal_png_filter(modal_png_room *held, const modal_png_picture *picture, modal_error *err);
modal_status modal_png_pack(modal_png_room *held, const modal_png_picture *picture, const uint8_t **bytes, int64_t *length, modal_error *err);
void modal_png_free(modal_png_room *held);

/* "libdeflate 1.14", "zlib 1.2.13": for --version. */
const char *modal_png_library(void);

#endif
