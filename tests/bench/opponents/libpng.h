/* SPDX-License-Identifier: Apache-2.0 */
/* libpng, level 1, as the opponent of formats/images/png_write.c. */
#ifndef MODAL_TESTS_LIBPNG_H
#define MODAL_TESTS_LIBPNG_H

#include <stddef.h>
#include <stdint.h>

/* texels: [height, width, 4]; the fourth is left out. Filter "up", as ours. Bytes written to `to`, of which there are `room`; 0: not possible. */
size_t opponents_png_encode(const uint8_t *texels, int width, int height, uint8_t *to, size_t room);
/* Whether a PNG of `length` bytes shows the texels, but for the fourth. */
int opponents_png_shows(const uint8_t *png, size_t length, const uint8_t *texels, int width, int height);
/* "libpng 1.6.39"; NULL: built without it. */
const char *opponents_png_version(void);

#endif
