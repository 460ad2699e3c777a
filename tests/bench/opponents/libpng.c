/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/opponents/libpng.h"

#ifdef MODAL_HAVE_PNG
#include <png.h>
#include <stdlib.h>
#include <string.h>

typedef struct room_left {
    uint8_t *to;
    size_t used, room;
} room_left;

static void put(png_structp png, png_bytep from, size_t n)
{
    room_left *r = png_get_io_ptr(png);
    if (n > r->room - r->used) png_error(png, "no room");
    memcpy(r->to + r->used, from, n);
    r->used += n;
}

static void nothing(png_structp png) { (void)png; }

size_t opponents_png_encode(const uint8_t *texels, int width, int height, int filter, uint8_t *to, size_t room)
{
    room_left r = {to, 0, room};
    png_infop info = NULL;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    if (!png || !(info = png_create_info_struct(png)) || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return 0;
    }
    png_set_write_fn(png, &r, put, nothing);
    png_set_compression_level(png, 1);
    if (filter != OPPONENTS_PNG_OWN) png_set_filter(png, 0, filter == OPPONENTS_PNG_UP ? PNG_FILTER_UP : PNG_FILTER_NONE);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    png_set_filler(png, 0, PNG_FILLER_AFTER);
    for (int y = 0; y < height; y++) png_write_row(png, texels + 4 * (size_t)y * (size_t)width);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return r.used;
}

int opponents_png_shows(const uint8_t *bytes, size_t length, const uint8_t *texels, int width, int height)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    int same = png_image_begin_read_from_memory(&image, bytes, length) && image.width == (png_uint_32)width && image.height == (png_uint_32)height;
    image.format = PNG_FORMAT_RGBA;
    uint8_t *read = same ? malloc(PNG_IMAGE_SIZE(image)) : NULL;
    same = read && png_image_finish_read(&image, NULL, read, 0, NULL);
    for (size_t i = 0; same && i < (size_t)width * (size_t)height; i++) same = memcmp(read + 4 * i, texels + 4 * i, 3) == 0;
    png_image_free(&image);
    free(read);
    return same;
}

const char *opponents_png_version(void) { return "libpng " PNG_LIBPNG_VER_STRING; }
#else
size_t opponents_png_encode(const uint8_t *texels, int width, int height, int filter, uint8_t *to, size_t room)
{
    (void)texels, (void)width, (void)height, (void)filter, (void)to, (void)room;
    return 0;
}

int opponents_png_shows(const uint8_t *png, size_t length, const uint8_t *texels, int width, int height)
{
    (void)png, (void)length, (void)texels, (void)width, (void)height;
    return 0;
}

const char *opponents_png_version(void) { return NULL; }
#endif
