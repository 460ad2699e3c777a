/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/images/image.h"

#include <stdio.h>
#include <string.h>

#include "formats/images/image_parts.h"
#ifdef MODAL_HAVE_PNG
#include <png.h>
#endif
#ifdef MODAL_HAVE_JPEG
#include <jconfig.h>
#endif

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *modal_image_libraries(void)
{
    return ""
#ifdef MODAL_HAVE_PNG
           "libpng " PNG_LIBPNG_VER_STRING
#else
           "PNG absent (built without libpng)"
#endif
#ifdef MODAL_HAVE_JPEG
           ", libjpeg-turbo " TEXT(LIBJPEG_TURBO_VERSION);
#else
           ", JPEG absent (built without libjpeg-turbo)";
#endif
}

static const uint8_t png_signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

modal_image_kind modal_image_kind_of(const void *bytes, int64_t length)
{
    const uint8_t *b = bytes;
    if (length >= 8 && memcmp(b, png_signature, 8) == 0) return MODAL_IMAGE_PNG;
    return length >= 3 && b[0] == 0xff && b[1] == 0xd8 && b[2] == 0xff ? MODAL_IMAGE_JPEG : MODAL_IMAGE_NONE;
}

const char *modal_image_media_type(modal_image_kind kind) { return kind == MODAL_IMAGE_PNG ? "image/png" : "image/jpeg"; }

static int64_t number(const uint8_t *b, int n)
{
    int64_t x = 0;
    for (int i = 0; i < n; i++) x = x << 8 | b[i];
    return x;
}

/* The frame of a JPEG: its size, and whether it is progressive. 0: there is none. */
static int jpeg_frame(const uint8_t *b, int64_t length, int64_t *width, int64_t *height, int *progressive)
{
    int64_t at = 2;
    for (;;) {
        while (at < length && b[at] != 0xff) at++; /* what stands between segments is skipped, as libjpeg does */
        while (at < length && b[at] == 0xff) at++;
        if (at + 3 > length) return 0;
        const uint8_t marker = b[at++];
        if (marker == 0xd8 || marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7)) continue;
        if (marker == 0xd9 || marker == 0xda) return 0;
        const int64_t size = number(b + at, 2);
        if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc) {
            if (size < 8 || at + 8 > length) return 0;
            *height = number(b + at + 3, 2);
            *width = number(b + at + 5, 2);
            *progressive = (marker & 3) == 2;
            return 1;
        }
        if (size < 2) return 0;
        at += size;
    }
}

modal_status modal_image_head_read(const void *bytes, int64_t length, const char *name, modal_image_head *head, modal_error *err)
{
    const uint8_t *b = bytes;
    int64_t width = 0, height = 0;
    head->kind = modal_image_kind_of(bytes, length);
    head->progressive = 0;
    if (head->kind == MODAL_IMAGE_NONE) return modal_error_set(err, MODAL_ERROR_INPUT, "%s: neither a PNG nor a JPEG", name);
    if (head->kind == MODAL_IMAGE_PNG) {
        if (length < 33 || memcmp(b + 12, "IHDR", 4) != 0) return modal_error_set(err, MODAL_ERROR_INPUT, "%s: cut off in its head", name);
        width = number(b + 16, 4);
        height = number(b + 20, 4);
    } else if (!jpeg_frame(b, length, &width, &height, &head->progressive)) {
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: no frame in the JPEG", name);
    }
    if (width < 1 || height < 1)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: an image of no size, %lld x %lld", name, (long long)width, (long long)height);
    if (width > MODAL_IMAGE_SIDE || height > MODAL_IMAGE_SIDE || width * height > MODAL_IMAGE_TEXELS)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: too large, at most %d a side and %d texels, %lld x %lld", name, MODAL_IMAGE_SIDE,
                               MODAL_IMAGE_TEXELS, (long long)width, (long long)height);
    /* a texel has a bit at the least, and a row a byte that names its filter */
    if (head->kind == MODAL_IMAGE_PNG && ((width + 7) / 8 + 1) * height > 1032 * length)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: %lld bytes cannot hold %lld x %lld texels", name, (long long)length,
                               (long long)width, (long long)height);
    head->width = (int32_t)width;
    head->height = (int32_t)height;
    return MODAL_OK;
}

int64_t modal_image_decoder_bytes(const modal_image_head *head)
{
    enum { ROWS = 64, CHANNELS = 4, FIXED = 1 << 20 };
    const int64_t row = CHANNELS * 2 * (int64_t)head->width;
    return FIXED + row * (head->progressive ? (int64_t)head->height + ROWS : ROWS);
}

static int png_ends(modal_image_reader read, void *context, int64_t length)
{
    uint8_t head[8];
    for (int64_t at = 8; at <= length - 12;) { /* length, kind, bytes, checksum */
        if (read(context, at, head, 8) != 8) return 0;
        if (memcmp(head + 4, "IEND", 4) == 0) return 1;
        at += 12 + number(head, 4);
    }
    return 0;
}

static int jpeg_ends(modal_image_reader read, void *context, int64_t length)
{
    enum { PIECE = 4096, PIECES = 16 };
    uint8_t piece[PIECE + 1]; /* and the first byte of the piece after it */
    int64_t end = length;
    piece[PIECE] = 0;
    for (int i = 0; i < PIECES && end > 0; i++) {
        const int64_t n = end < PIECE ? end : PIECE;
        uint8_t *from = piece + PIECE - n;
        if (read(context, end - n, from, n) != n) return 0;
        for (int64_t k = 0; k < n; k++)
            if (from[k] == 0xff && from[k + 1] == 0xd9) return 1;
        piece[PIECE] = from[0];
        end -= n;
    }
    return 0;
}

modal_status modal_image_end_check(modal_image_reader read, void *context, int64_t length, const modal_image_head *head, const char *name,
                                   modal_error *err)
{
    const int ends = head->kind == MODAL_IMAGE_PNG ? png_ends(read, context, length) : jpeg_ends(read, context, length);
    return ends ? MODAL_OK : modal_error_set(err, MODAL_ERROR_INPUT, "%s: cut off", name);
}

modal_status modal_image_decode(const void *bytes, int64_t length, const char *name, uint8_t *texels, modal_error *err)
{
    modal_image_head head;
    const modal_status status = modal_image_head_read(bytes, length, name, &head, err);
    if (status != MODAL_OK) return status;
    return head.kind == MODAL_IMAGE_PNG ? modal_png_decode(bytes, length, name, &head, texels, err)
                                        : modal_jpeg_decode(bytes, length, name, &head, texels, err);
}
