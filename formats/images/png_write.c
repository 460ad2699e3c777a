/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/images/png_write.h"

#include <string.h>
#include <zlib.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif
#ifdef MODAL_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "lib/base/memory.h"

enum { LEVEL = 1, CHUNK = 12, HEAD = 8 + CHUNK + 13 + CHUNK + 1 + 8, TAIL = 4 + CHUNK }; /* signature, IHDR, sRGB, head of IDAT; end of it, IEND */
enum { NONE = 0, UP = 2 };             /* filters: a row as it is, and less the one above */
enum { STRIP = 8, STRIPS = 5 };        /* rows of a strip that is packed to choose one, and strips */
enum { FLAT = 64 };                    /* what packs to such a part of its bytes has little to gain */
#define NONE_MAY_TAKE 1.1              /* times what "up" takes: it is packed in half the time */

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
static size_t deflate_all(modal_png_room *held, const uint8_t *from, size_t n, uint8_t *to, size_t room)
{
#ifdef MODAL_HAVE_LIBDEFLATE
    if (!held->packer) held->packer = libdeflate_alloc_compressor(LEVEL);
    return held->packer ? libdeflate_zlib_compress(held->packer, from, n, to, room) : 0;
#else
    (void)held;
    uLongf length = (uLongf)room;
    return compress2(to, &length, from, (uLong)n, LEVEL) == Z_OK ? (size_t)length : 0;
#endif
}

/* What a kind of texel becomes: of 16 bytes of texels `takes`, whose numbers in the picture are those of `order`. */
typedef struct layout {
    int texel, takes; /* bytes */
    uint8_t order[16];
} layout;

static layout layout_of(int bits, int channels)
{
    static const layout eight = {4, 12, {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14}}, with_alpha = {4, 16, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
    static const layout grey = {4, 4, {0, 4, 8, 12}}; /* the first number of each */
    static const layout sixteen = {8, 12, {1, 0, 3, 2, 5, 4, 9, 8, 11, 10, 13, 12}}; /* high bytes first */
    return bits == 16 ? sixteen : channels == 4 ? with_alpha : channels == 1 ? grey : eight;
}

#ifdef __SSSE3__
#define HAS_SHUFFLE 1
#elif defined(__x86_64__) && defined(__GNUC__)
#define HAS_SHUFFLE __builtin_cpu_supports("ssse3")
#endif
#ifdef HAS_SHUFFLE
/* As filter_row, of whole pieces of 16 bytes: returns how many bytes of texels were done. Writes past what it says, but not past the row. */
__attribute__((target("ssse3"))) static int64_t filter_pieces(const layout *l, const uint8_t *row, const uint8_t *above, int64_t bytes, uint8_t *to)
{
    const __m128i order = _mm_loadu_si128((const __m128i *)l->order);
    int64_t i = 0;
    for (; (bytes - i) / 16 * l->takes >= 16; i += 16, to += l->takes) {
        __m128i piece = _mm_loadu_si128((const __m128i *)(row + i));
        if (above) piece = _mm_sub_epi8(piece, _mm_loadu_si128((const __m128i *)(above + i)));
        _mm_storeu_si128((__m128i *)to, _mm_shuffle_epi8(piece, order));
    }
    return i;
}
#endif

/* A row: its filter, and its numbers, less those above unless that is NULL. Returns the end of it. */
static uint8_t *filter_row(const layout *l, int filter, const uint8_t *row, const uint8_t *above, int64_t bytes, uint8_t *to)
{
    int64_t i = 0;
    *to++ = (uint8_t)filter;
#ifdef HAS_SHUFFLE
    if (HAS_SHUFFLE) i = filter_pieces(l, row, above, bytes, to);
    to += i / 16 * l->takes;
#endif
    for (; i < bytes; i += l->texel)
        for (int k = 0; k < l->takes * l->texel / 16; k++, to++) *to = (uint8_t)(row[i + l->order[k]] - (above ? above[i + l->order[k]] : 0));
    return to;
}

/* Rows [first, end) of a picture. The first row of all has none above. */
static uint8_t *filter_rows(const layout *l, int filter, const uint8_t *texels, int32_t width, int32_t first, int32_t end, uint8_t *to)
{
    const int64_t bytes = (int64_t)l->texel * width;
    for (int32_t y = first; y < end; y++) to = filter_row(l, filter, texels + bytes * y, filter == UP && y > 0 ? texels + bytes * (y - 1) : NULL, bytes, to);
    return to;
}

/* The filter that packs some strips of the picture better: surfaces of one colour and edges stay as they are, what has images and gradients is less by
 * what is above. The room has room for all rows, and for `room` bytes of them packed. Negative: no memory. */
static int choose_filter(modal_png_room *held, const layout *l, const uint8_t *texels, int32_t width, int32_t height, size_t room)
{
    uint8_t *const rows = held->rows;
    size_t packed[2];
    for (int filter = NONE, i = 0; i < 2; filter = UP, i++) {
        uint8_t *end = rows;
        for (int64_t k = 0, done = 0; k < STRIPS && done < height; k++) {
            const int64_t middle = (2 * k + 1) * height / (2 * STRIPS), first = middle > done ? middle : done;
            done = first + STRIP < height ? first + STRIP : height;
            end = filter_rows(l, filter, texels, width, (int32_t)first, (int32_t)done, end);
        }
        packed[i] = deflate_all(held, rows, (size_t)(end - rows), held->file, room);
        if (packed[i] == 0) return -1;
        if (FLAT * packed[i] < (size_t)(end - rows)) return filter;
    }
    return (double)packed[0] > NONE_MAY_TAKE * (double)packed[1] ? UP : NONE;
}

static modal_status need(uint8_t **bytes, int64_t *held, size_t n, const char *what, modal_error *err)
{
    if (*held >= (int64_t)n) return MODAL_OK;
    modal_free(bytes);
    *held = 0;
    const modal_status status = modal_alloc(bytes, (int64_t)n, 1, what, err);
    if (status == MODAL_OK) *held = (int64_t)n;
    return status;
}

static size_t bytes_of_rows(const modal_png_picture *p)
{
    return (size_t)p->height * ((size_t)(p->channels * p->bits / 8) * (size_t)p->width + 1);
}

modal_status modal_png_filter(modal_png_room *held, const modal_png_picture *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    const size_t n = bytes_of_rows(p), room = bound_of(n);
    MODAL_TRY(need(&held->rows, &held->n_rows, n, "rows of a picture", err));
    MODAL_TRY(need(&held->file, &held->n_file, HEAD + room + TAIL, "picture", err));
    const layout l = layout_of(p->bits, p->channels);
    const int filter = choose_filter(held, &l, p->texels, p->width, p->height, room);
    if (filter < 0) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "picture: out of memory");
    filter_rows(&l, filter, p->texels, p->width, 0, p->height, held->rows);
done:
    return status;
}

modal_status modal_png_pack(modal_png_room *held, const modal_png_picture *p, const uint8_t **bytes, int64_t *length, modal_error *err)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    modal_status status = MODAL_OK;
    const size_t n = bytes_of_rows(p);
    uint8_t *const out = held->file, *at = out + sizeof signature;
    *bytes = NULL, *length = 0;
    memcpy(out, signature, sizeof signature);
    put_32(at + 8, (uint32_t)p->width), put_32(at + 12, (uint32_t)p->height);
    memset(at + 16, 0, 5);
    at[16] = (uint8_t)p->bits, at[17] = p->channels == 4 ? 6 : p->channels == 3 ? 2 : 0; /* r g b with alpha, r g b, grey */
    at = close_chunk(at, "IHDR", 13);
    at[8] = 0; /* perceptual */
    at = close_chunk(at, "sRGB", 1);
    const size_t packed = deflate_all(held, held->rows, n, at + 8, bound_of(n));
    if (packed == 0) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "picture: out of memory");
    if (packed > INT32_MAX) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "picture: larger than a chunk of PNG holds, %zu bytes", packed);
    at = close_chunk(at, "IDAT", packed);
    at = close_chunk(at, "IEND", 0);
    *bytes = out, *length = at - out;
done:
    return status;
}

modal_status modal_png_encode(modal_png_room *held, const modal_png_picture *p, const uint8_t **bytes, int64_t *length, modal_error *err)
{
    *bytes = NULL, *length = 0;
    const modal_status status = modal_png_filter(held, p, err);
    return status == MODAL_OK ? modal_png_pack(held, p, bytes, length, err) : status;
}

void modal_png_free(modal_png_room *held)
{
    modal_free(&held->rows), modal_free(&held->file);
#ifdef MODAL_HAVE_LIBDEFLATE
    libdeflate_free_compressor(held->packer);
#endif
    *held = (modal_png_room){0};
}

const char *modal_png_library(void)
{
#ifdef MODAL_HAVE_LIBDEFLATE
    return "libdeflate " LIBDEFLATE_VERSION_STRING;
#else
    return "zlib " ZLIB_VERSION;
#endif
}
