/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/images/png_write.h"

#include <string.h>
#include <zlib.h>
#ifdef MODAL_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "lib/base/memory.h"

enum { LEVEL = 1, CHUNK = 12, HEAD = 8 + CHUNK + 13 + CHUNK + 1 + 8, TAIL = 4 + CHUNK }; /* signature, IHDR, sRGB, head of IDAT; end of it, IEND */

static void put_32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint32_t check_sum(const uint8_t *bytes, size_t n)
{
#ifdef MODAL_HAVE_LIBDEFLATE
    return libdeflate_crc32(0, bytes, n);
#else
    return (uint32_t)crc32_z(0, bytes, n);
#endif
}

/* Length, type, data, sum: the data stands at to + 8 already. Returns what is after it. */
static uint8_t *close_chunk(uint8_t *to, const char *type, size_t n)
{
    put_32(to, (uint32_t)n);
    memcpy(to + 4, type, 4);
    put_32(to + 8 + n, check_sum(to + 4, n + 4));
    return to + CHUNK + n;
}

/* The most bytes that `n` become. */
static size_t bound_of(size_t n)
{
#ifdef MODAL_HAVE_LIBDEFLATE
    return libdeflate_zlib_compress_bound(NULL, n);
#else
    return compressBound((uLong)n);
#endif
}

/* Bytes written; 0: no memory. */
static size_t deflate_all(const uint8_t *from, size_t n, uint8_t *to, size_t room)
{
#ifdef MODAL_HAVE_LIBDEFLATE
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(LEVEL);
    const size_t length = c ? libdeflate_zlib_compress(c, from, n, to, room) : 0;
    libdeflate_free_compressor(c);
    return length;
#else
    uLongf length = (uLongf)room;
    return compress2(to, &length, from, (uLong)n, LEVEL) == Z_OK ? (size_t)length : 0;
#endif
}

/* Each row less the one above. */
static void filter(const uint8_t *texels, int32_t width, int32_t height, int channels, uint8_t *to)
{
    for (int32_t y = 0; y < height; y++) {
        const uint8_t *row = texels + 4 * (int64_t)y * width, *above = row - 4 * (int64_t)width;
        *to++ = 2;
        if (channels == 1) /* apart, so that it runs in vectors */
            for (int32_t x = 0; x < width; x++) to[x] = (uint8_t)(row[4 * x] - (y > 0 ? above[4 * x] : 0));
        if (channels == 1) to += width;
        for (int32_t x = 0; x < width && channels > 1; x++, to += channels)
            for (int k = 0; k < channels; k++) to[k] = (uint8_t)(row[4 * x + k] - (y > 0 ? above[4 * x + k] : 0));
    }
}

/* The same of 16 bits, high bytes first. */
static void filter_deep(const uint16_t *texels, int32_t width, int32_t height, uint8_t *to)
{
    for (int32_t y = 0; y < height; y++) {
        const uint16_t *row = texels + 4 * (int64_t)y * width, *above = row - 4 * (int64_t)width;
        *to++ = 2;
        for (int32_t x = 0; x < width; x++)
            for (int k = 0; k < 3; k++, to += 2) {
                const unsigned value = row[4 * x + k], over = y > 0 ? above[4 * x + k] : 0;
                to[0] = (uint8_t)((value >> 8) - (over >> 8)), to[1] = (uint8_t)(value - over);
            }
    }
}

static modal_status encode(const void *texels, int bits, int channels, int32_t width, int32_t height, uint8_t **bytes, int64_t *length, modal_error *err)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    modal_status status = MODAL_OK;
    uint8_t *rows = NULL, *out = NULL, *at;
    const size_t n = (size_t)height * ((size_t)(channels * bits / 8) * (size_t)width + 1), room = bound_of(n);
    *bytes = NULL, *length = 0;
    MODAL_TRY(modal_alloc(&rows, (int64_t)n, 1, "rows of a picture", err));
    MODAL_TRY(modal_alloc(&out, (int64_t)(HEAD + room + TAIL), 1, "picture", err));
    if (bits == 8) filter(texels, width, height, channels, rows);
    else filter_deep(texels, width, height, rows);
    memcpy(out, signature, sizeof signature);
    at = out + sizeof signature;
    put_32(at + 8, (uint32_t)width), put_32(at + 12, (uint32_t)height);
    memset(at + 16, 0, 5);
    at[16] = (uint8_t)bits, at[17] = channels == 4 ? 6 : channels == 3 ? 2 : 0; /* r g b with alpha, r g b, grey */
    at = close_chunk(at, "IHDR", 13);
    at[8] = 0; /* perceptual */
    at = close_chunk(at, "sRGB", 1);
    const size_t packed = deflate_all(rows, n, at + 8, room);
    if (packed == 0) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "picture: out of memory");
    if (packed > INT32_MAX) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "picture: larger than a chunk of PNG holds, %zu bytes", packed);
    at = close_chunk(at, "IDAT", packed);
    at = close_chunk(at, "IEND", 0);
    *bytes = out, *length = at - out;
    out = NULL;
done:
    modal_free(&rows);
    modal_free(&out);
    return status;
}

modal_status modal_png_encode(const void *texels, int bits, int32_t width, int32_t height, uint8_t **bytes, int64_t *length, modal_error *err)
{
    return encode(texels, bits, 3, width, height, bytes, length, err);
}

modal_status modal_png_encode_alpha(const uint8_t *texels, int32_t width, int32_t height, uint8_t **bytes, int64_t *length, modal_error *err)
{
    return encode(texels, 8, 4, width, height, bytes, length, err);
}

modal_status modal_png_encode_grey(const void *texels, int32_t width, int32_t height, uint8_t **bytes, int64_t *length, modal_error *err)
{
    return encode(texels, 8, 1, width, height, bytes, length, err);
}

const char *modal_png_library(void)
{
#ifdef MODAL_HAVE_LIBDEFLATE
    return "libdeflate " LIBDEFLATE_VERSION_STRING;
#else
    return "zlib " ZLIB_VERSION;
#endif
}
