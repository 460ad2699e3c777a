/* SPDX-License-Identifier: Apache-2.0 */
/* libpng, level 1, as the opponent of formats/images/png_write.c. */
#ifndef MODAL_TESTS_LIBPNG_H
#define MODAL_TESTS_LIBPNG_H

#include <stddef.h>
#include <stdint.h>

/* What libpng may choose from; own choice: of all filters, row by row, as it does unless told. */
enum { OPPONENTS_PNG_NONE, OPPONENTS_PNG_UP, OPPONENTS_PNG_OWN };
/* texels: [height, width, 4]; the fourth is left out. Bytes written to `to`, of which there are `room`; 0: not possible. */
size_t opponents_png_encode(const uint8_t *texels, int width, int height, int filter, uint8_t *to, size_t room);
/* Whether a PNG of `length` bytes shows the texels, but for the fourth. */
int opponents_png_shows(const uint8_t *png, size_t length, const uint8_t *texels, int width, int height);
/* "libpng 1.6.39"; NULL: built without it. */
const char *opponents_png_version(void);

#endif
