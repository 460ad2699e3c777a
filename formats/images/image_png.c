/* SPDX-License-Identifier: Apache-2.0 */
/* PNG by libpng (libpng-manual, "Reading PNG files"): every kind becomes r g b a of 8 bits. */
#include "formats/images/image_parts.h"

#ifdef MODAL_HAVE_PNG

#include <png.h>
#include <string.h>

#include "lib/base/memory.h"

typedef struct source {
    const uint8_t *bytes;
    int64_t length, at;
    char why[128];
} source;

static void take(png_structp png, png_bytep to, size_t n)
{
    source *s = png_get_io_ptr(png);
    if ((int64_t)n > s->length - s->at) png_error(png, "cut off");
    memcpy(to, s->bytes + s->at, n);
    s->at += (int64_t)n;
}

static void fail(png_structp png, png_const_charp why)
{
    source *s = png_get_error_ptr(png);
    snprintf(s->why, sizeof s->why, "%s", why);
    png_longjmp(png, 1);
}

static void ignore(png_structp png, png_const_charp why) { (void)png, (void)why; }

/* Everything that may jump; 0: s->why. `rows`: of the image, upside down. */
static int decode(png_structp png, png_infop info, const modal_image_head *head, png_bytepp rows)
{
    if (setjmp(png_jmpbuf(png))) return 0;
    png_set_user_limits(png, MODAL_IMAGE_SIDE, MODAL_IMAGE_SIDE);
    png_set_chunk_cache_max(png, 100);
    png_set_chunk_malloc_max(png, 8 << 20);
    png_read_info(png, info);
    png_set_expand(png);       /* palettes, grey of fewer bits, transparent colours */
    png_set_scale_16(png);     /* rounded */
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_image_width(png, info) != (png_uint_32)head->width || png_get_image_height(png, info) != (png_uint_32)head->height ||
        png_get_rowbytes(png, info) != (size_t)head->width * 4)
        png_error(png, "not the size that its head says");
    png_read_image(png, rows);
    png_read_end(png, NULL);
    return 1;
}

modal_status modal_png_decode(const void *bytes, int64_t length, const char *name, const modal_image_head *head, uint8_t *texels,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    source s = {bytes, length, 0, "out of memory"};
    png_bytepp rows = NULL;
    png_infop info = NULL;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, fail, ignore);
    if (png) info = png_create_info_struct(png);
    if (!info) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "%s: out of memory", name);
    MODAL_TRY(modal_alloc(&rows, head->height, sizeof *rows, "rows of an image", err));
    for (int32_t y = 0; y < head->height; y++) rows[y] = texels + (int64_t)(head->height - 1 - y) * head->width * 4;
    png_set_read_fn(png, &s, take);
    if (!decode(png, info, head, rows)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: libpng: %s", name, s.why);
done:
    png_destroy_read_struct(&png, &info, NULL);
    modal_free(&rows);
    return status;
}

#else

modal_status modal_png_decode(const void *bytes, int64_t length, const char *name, const modal_image_head *head, uint8_t *texels,
                              modal_error *err)
{
    (void)bytes, (void)length, (void)head, (void)texels;
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: this program was built without libpng", name);
}

#endif
