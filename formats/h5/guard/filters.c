/* SPDX-License-Identifier: Apache-2.0 */
/* The encodings are those of the HDF5 Reference Manual (H5Pset_deflate, H5Pset_shuffle, H5Pset_scaleoffset) and of the
 * library's filters H5Z*.c, HDF5 1.10. That compares neither what a chunk inflates to with the chunk's size, nor the size
 * that its filters expect with what is stored, and gives out memory that nobody wrote. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "formats/h5/guard/guard_private.h"
#include "lib/base/memory.h"

enum { HEAD = 21 }; /* of scaleoffset: number of bits (4 bytes), 8, the least value (8), room (8) */

/* NULL, or what is wrong with scaleoffset's values: only what modaldeform --precision writes is read. */
static const char *wrong_scale(const unsigned *v, size_t n_values, hid_t type, int64_t count)
{
    enum { SCALE, FACTOR, COUNT, CLASS, SIZE, SIGN, ORDER, HAS_FILL };
    if (n_values <= HAS_FILL || H5Tequal(type, H5T_IEEE_F32LE) <= 0 || v[SCALE] != H5Z_SO_FLOAT_DSCALE || v[CLASS] != 1 ||
        v[SIZE] != 4 || v[ORDER] != 0 || v[HAS_FILL] != 0)
        return "scaleoffset of another kind than float32 with decimals";
    return v[COUNT] == count ? NULL : "scaleoffset for chunks of another size";
}

void guard_filters_take(guard_filters *f, hid_t creation, hid_t type, int64_t chunk_bytes, char wrong[GUARD_WRONG])
{
    enum { VALUES = 20 };
    unsigned options = 0;
    const char *why = NULL;
    const int n = H5Pget_nfilters(creation);
    *f = (guard_filters){.item_bytes = (int64_t)H5Tget_size(type), .chunk_bytes = chunk_bytes, .most = chunk_bytes};
    wrong[0] = '\0';
    if (n > 0 && H5Pget_chunk_opts(creation, &options) >= 0 && (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS))
        why = "chunks at the edge are not filtered";
    for (int i = 0; i < n && !why; i++) {
        unsigned flags, values[VALUES] = {0};
        size_t n_values = VALUES;
        const H5Z_filter_t id = H5Pget_filter2(creation, (unsigned)i, &flags, &n_values, values, 0, NULL, NULL);
        const int first = !f->shuffle && !f->scale && !f->deflate;
        if (id == H5Z_FILTER_SHUFFLE && first) {
            f->shuffle = 1;
            if (n_values != 1 || values[0] != f->item_bytes) why = "shuffle of another size";
        } else if (id == H5Z_FILTER_SCALEOFFSET && first) {
            f->scale = 1;
            f->decimals = (int)values[1];
            f->most += HEAD + 1;
            why = wrong_scale(values, n_values, type, chunk_bytes / f->item_bytes);
        } else if (id == H5Z_FILTER_DEFLATE && !f->deflate) {
            f->deflate = 1;
            f->most += f->most / 8 + 128; /* more than deflate ever adds to what it cannot shrink */
        } else {
            snprintf(wrong, GUARD_WRONG, "filter %d: only shuffle or scaleoffset, then deflate are read", (int)id);
            break;
        }
    }
    if (n < 0) why = "filters cannot be read";
    if (why) snprintf(wrong, GUARD_WRONG, "%s", why);
    H5Eclear2(H5E_DEFAULT);
}

void guard_filters_free(guard_filters *f)
{
    if (f->inflate) inflateEnd(f->inflate);
    modal_free(&f->inflate);
    modal_free(&f->between);
}

/* ---- undoing one ---- */

static inline void swap_halves(uint64_t *a, uint64_t *b, int bits, uint64_t mask)
{
    const uint64_t t = (*a >> bits ^ *b) & mask;
    *b ^= t;
    *a ^= t << bits;
}

/* Bytes of the i-th word become the i-th bytes of all: in three steps, halves of the matrix change places. */
static inline void transpose(uint64_t w[8])
{
    for (int i = 0; i < 4; i++) swap_halves(&w[i], &w[i + 4], 32, 0x00000000ffffffff);
    for (int i = 0; i < 8; i += 4) {
        swap_halves(&w[i], &w[i + 2], 16, 0x0000ffff0000ffff);
        swap_halves(&w[i + 1], &w[i + 3], 16, 0x0000ffff0000ffff);
    }
    for (int i = 0; i < 8; i += 2) swap_halves(&w[i], &w[i + 1], 8, 0x00ff00ff00ff00ff);
}

/* Items of `width` bytes (1, 4 or 8), all their first bytes, then all second ones, ... */
static void unshuffle(const unsigned char *from, int64_t items, int64_t width, unsigned char *to)
{
    int64_t i = 0;
    if (width == 4) {
        const unsigned char *a = from, *b = a + items, *c = b + items, *d = c + items;
        for (; i < items; i++) {
            const uint32_t word = a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16 | (uint32_t)d[i] << 24;
            memcpy(to + 4 * i, &word, 4);
        }
    } else if (width == 8) {
        for (; i + 8 <= items; i += 8) {
            uint64_t words[8];
            for (int k = 0; k < 8; k++) memcpy(&words[k], from + k * items + i, 8);
            transpose(words);
            memcpy(to + 8 * i, words, sizeof words);
        }
    }
    for (; i < items; i++)
        for (int64_t k = 0; k < width; k++) to[width * i + k] = from[k * items + i];
}

/* *n: the room in `to`, then what came. Fails for memory only. */
static modal_status inflate_all(guard_filters *f, const unsigned char *from, int64_t length, unsigned char *to, int64_t *n,
                                const char **wrong, modal_error *err)
{
    z_stream *z = f->inflate;
    if (!z) {
        modal_status status = modal_alloc_zero(&f->inflate, 1, sizeof *z, "inflate", err);
        if (status != MODAL_OK) return status;
        z = f->inflate;
        if (inflateInit(z) != Z_OK) {
            modal_free(&f->inflate);
            return modal_error_set(err, MODAL_ERROR_MEMORY, "inflate: out of memory");
        }
    } else {
        inflateReset(z);
    }
    z->next_in = (Bytef *)from;
    z->avail_in = (uInt)length;
    z->next_out = to;
    z->avail_out = (uInt)*n;
    const int result = inflate(z, Z_FINISH);
    if (result == Z_MEM_ERROR) return modal_error_set(err, MODAL_ERROR_MEMORY, "inflate: out of memory");
    if (result == Z_BUF_ERROR) *wrong = z->avail_in == 0 ? "deflate data cut off" : "deflate data of more bytes";
    else if (result != Z_STREAM_END) *wrong = "damaged deflate data";
    else if (z->avail_in > 0) *wrong = "bytes after the deflate data";
    *n -= z->avail_out;
    return MODAL_OK;
}

/* `count` whole numbers of `bits` bits, the highest first, without gaps; 64 bits are read at once while there are as
 * many. 1 <= bits <= 31. */
static void unpack(const unsigned char *from, int64_t n, int bits, int64_t count, uint32_t *to)
{
    uint64_t at = 0;
    for (int64_t i = 0; i < count; i++, at += (uint64_t)bits) {
        const int64_t first = (int64_t)(at / 8);
        uint64_t word = 0;
        if (first + 8 <= n) {
            memcpy(&word, from + first, 8);
            word = __builtin_bswap64(word);
        } else {
            for (int k = 0; k < 8; k++) word = word << 8 | (first + k < n ? from[first + k] : 0);
        }
        to[i] = (uint32_t)(word << at % 8 >> (64 - bits));
    }
}

/* The filter's inverse in float32, as HDF5 has it: k / 10^D + least. Returns NULL, or what is wrong with the n bytes. */
static const char *undo_scale(const guard_filters *f, const unsigned char *from, int64_t n, unsigned char *to)
{
    enum { BLOCK = 512 }; /* a multiple of 8: a block begins with a byte */
    const int64_t count = f->chunk_bytes / 4;
    const float power = powf(10.0f, (float)f->decimals);
    float least;
    if (n < HEAD) return "scaleoffset data without a head";
    const uint64_t bits = guard_little(from, 4);
    const uint32_t stored = (uint32_t)guard_little(from + 5, from[4] < 4 ? from[4] : 4);
    memcpy(&least, &stored, 4);
    if (bits > 32) return "scaleoffset data of more bits than the type";
    /* HDF5 counts a byte more, but not where all bits are kept. */
    const int64_t exact = HEAD + count * (int64_t)bits / 8;
    if (n != exact + 1 && !(n == exact && (bits == 0 || bits == 32)) && !(n == exact + 2 && count * (int64_t)bits % 8 != 0))
        return "scaleoffset data of another size";
    from += HEAD;
    n -= HEAD;
    if (bits == 32) memcpy(to, from, (size_t)f->chunk_bytes);
    for (int64_t first = 0; bits < 32 && first < count; first += BLOCK) {
        const int64_t now = count - first < BLOCK ? count - first : BLOCK, at = first * (int64_t)bits / 8;
        uint32_t k[BLOCK] = {0};
        if (bits > 0) unpack(from + at, n - at, (int)bits, now, k);
        for (int64_t i = 0; i < now; i++) {
            const float value = (float)(int32_t)k[i] / power + least;
            memcpy(to + 4 * (first + i), &value, 4);
        }
    }
    return NULL;
}

/* ---- undoing all ---- */

modal_status guard_filters_undo(guard_filters *f, const unsigned char *stored, int64_t n, unsigned char *values,
                                char wrong[GUARD_WRONG], modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *why = NULL;
    wrong[0] = '\0';
    if (f->deflate) {
        int64_t room = f->chunk_bytes + (f->scale ? HEAD + 1 : 0);
        unsigned char *to = values;
        if (f->shuffle || f->scale) {
            if (!f->between) MODAL_TRY(modal_alloc(&f->between, room, 1, "chunk", err));
            to = f->between;
        }
        MODAL_TRY(inflate_all(f, stored, n, to, &room, &why, err));
        stored = to;
        n = room;
    }
    if (!why && !f->scale && n != f->chunk_bytes) {
        snprintf(wrong, GUARD_WRONG, "%lld bytes come out of a filter, must be %lld", (long long)n, (long long)f->chunk_bytes);
        goto done;
    }
    if (!why && f->shuffle) unshuffle(stored, n / f->item_bytes, f->item_bytes, values);
    if (!why && f->scale) why = undo_scale(f, stored, n, values);
    if (why) snprintf(wrong, GUARD_WRONG, "%s", why);
done:
    return status;
}
