/* SPDX-License-Identifier: Apache-2.0 */
/* The encodings are those of the HDF5 Reference Manual (H5Pset_deflate, H5Pset_shuffle, H5Pset_fletcher32,
 * H5Pset_scaleoffset) and of the library's filters H5Z*.c, HDF5 1.10. */
#include "formats/h5/h5_filters.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "formats/h5/h5_bytes.h"
#include "formats/h5/h5_private.h"
#include "lib/base/memory.h"

enum { CHECKSUM = 4, HEAD = 21 };

/* The values of scaleoffset: what is scaled, by which power of ten or to how many bits, items a chunk, ... */
enum { SCALE, FACTOR, COUNT, CLASS, SIZE, SIGN, ORDER, HAS_FILL, FILL };
enum { DECIMAL = 0, WHOLE = 2 };

/* ---- what the filters of a dataset are ---- */

static int is_float(modal_h5_type type) { return type == MODAL_H5_F64 || type == MODAL_H5_F32; }

/* NULL, or what is wrong with scaleoffset's values for this dataset. */
static const char *wrong_scale(const unsigned *v, modal_h5_type type, int big_endian, int64_t count)
{
    const unsigned bytes = (unsigned)modal_h5_type_bytes(type);
    if (v[COUNT] != count) return "scaleoffset for chunks of another size";
    if (v[SIZE] != bytes || v[CLASS] != (unsigned)is_float(type) || (bytes > 1 && v[ORDER] != (unsigned)big_endian) ||
        (!is_float(type) && v[SIGN] != (unsigned)(type != MODAL_H5_U8)))
        return "scaleoffset for another type";
    if (v[SCALE] != (is_float(type) ? DECIMAL : WHOLE) || v[HAS_FILL] > 1) return "scaleoffset of an unknown kind";
    if (!is_float(type) && (int)v[FACTOR] > (int)(8 * bytes)) return "scaleoffset with more bits than the type";
    return NULL;
}

/* Whole numbers of all their bits are left as they are. */
static int does_nothing(const unsigned *v) { return v[SCALE] == WHOLE && v[FACTOR] == 8 * v[SIZE]; }

void modal_h5_filters_take(modal_h5_filters *f, hid_t creation, modal_h5_type type, int big_endian, int64_t chunk_bytes,
                           char wrong[MODAL_H5_WRONG])
{
    unsigned options = 0;
    const char *why = NULL;
    memset(f, 0, sizeof *f);
    wrong[0] = '\0';
    f->item_bytes = modal_h5_type_bytes(type);
    f->chunk_bytes = f->most[0] = chunk_bytes;
    f->exact[0] = 1;
    f->n = H5Pget_nfilters(creation);
    if (f->n < 0 || f->n > MODAL_H5_FILTERS) {
        snprintf(wrong, MODAL_H5_WRONG, "%d filters", f->n);
        f->n = 0;
    }
    if (f->n > 0 && H5Pget_chunk_opts(creation, &options) >= 0 && (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS))
        why = "chunks at the edge are not filtered";
    for (int i = 0; i < f->n && !why && !wrong[0]; i++) {
        unsigned flags, *values = f->filters[i].values;
        size_t n_values = MODAL_H5_FILTER_VALUES;
        const int id = f->filters[i].id = (int)H5Pget_filter2(creation, (unsigned)i, &flags, &n_values, values, 0, NULL, NULL);
        int64_t most = f->most[i];
        f->exact[i + 1] = f->exact[i];
        if (id == H5Z_FILTER_SHUFFLE) {
            if (n_values != 1 || values[0] == 0 || values[0] > 64) why = "shuffle of no known size";
        } else if (id == H5Z_FILTER_FLETCHER32) {
            most += CHECKSUM;
        } else if (id == H5Z_FILTER_DEFLATE) {
            most += most / 8 + 128; /* more than deflate ever adds to what it cannot shrink */
            f->exact[i + 1] = 0;
        } else if (id == H5Z_FILTER_SCALEOFFSET) {
            if (n_values != MODAL_H5_FILTER_VALUES || !f->exact[i] || most != chunk_bytes) why = "scaleoffset after others";
            else why = wrong_scale(values, type, big_endian, chunk_bytes / (int64_t)f->item_bytes);
            if (!why && !does_nothing(values)) {
                most += HEAD + 1;
                f->exact[i + 1] = 0;
            }
        } else if (id < 0) {
            why = "filters cannot be read";
        } else {
            snprintf(wrong, MODAL_H5_WRONG, "filter %d: only deflate, shuffle, fletcher32 and scaleoffset are allowed", id);
        }
        f->most[i + 1] = most;
    }
    if (why) snprintf(wrong, MODAL_H5_WRONG, "%s", why);
    H5Eclear2(H5E_DEFAULT);
}

void modal_h5_filters_free(modal_h5_filters *f)
{
    if (f->inflate) inflateEnd(f->inflate);
    modal_free(&f->inflate);
    for (int i = 0; i < 2; i++) modal_free(&f->scratch[i]);
}

/* ---- undoing one ---- */

/* Fletcher's checksum of 16-bit words, the high byte first; 360 of them add up without an overflow. */
static uint32_t fletcher(const unsigned char *bytes, int64_t n)
{
    uint32_t a = 0, b = 0;
    for (int64_t words = n / 2; words > 0;) {
        const int64_t now = words < 360 ? words : 360;
        for (int64_t i = 0; i < now; i++, bytes += 2) {
            a += (uint32_t)bytes[0] << 8 | bytes[1];
            b += a;
        }
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
        words -= now;
    }
    if (n % 2) {
        a += (uint32_t)*bytes << 8;
        b += a;
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
    }
    a = (a & 0xffff) + (a >> 16);
    b = (b & 0xffff) + (b >> 16);
    return b << 16 | a;
}

/* Of n bytes the last four are their checksum; HDF5 before 1.6.3 swapped the bytes of each half. */
static int checksum_holds(const unsigned char *bytes, int64_t n)
{
    const uint32_t sum = fletcher(bytes, n - CHECKSUM), found = (uint32_t)modal_h5_little(bytes + n - CHECKSUM, CHECKSUM);
    return found == sum || found == ((sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff));
}

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

/* Items of `width` bytes, all their first bytes, then all second ones, ...; what is left over comes last as it is. */
static void unshuffle(const unsigned char *from, int64_t n, unsigned width, unsigned char *to)
{
    const int64_t items = n / width;
    if (width == 4) {
        const unsigned char *a = from, *b = a + items, *c = b + items, *d = c + items;
        for (int64_t i = 0; i < items; i++) {
            const uint32_t word = a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16 | (uint32_t)d[i] << 24;
            memcpy(to + 4 * i, &word, 4);
        }
    } else if (width == 8) {
        int64_t i = 0;
        for (; i + 8 <= items; i += 8) {
            uint64_t words[8];
            for (int k = 0; k < 8; k++) memcpy(&words[k], from + k * items + i, 8);
            transpose(words);
            memcpy(to + 8 * i, words, sizeof words);
        }
        for (; i < items; i++)
            for (int k = 0; k < 8; k++) to[8 * i + k] = from[k * items + i];
    } else {
        for (unsigned k = 0; k < width; k++)
            for (int64_t i = 0; i < items; i++) to[i * width + k] = from[k * items + i];
    }
    memcpy(to + items * width, from + items * width, (size_t)(n - items * width));
}

/* *n: the room in `to`, then what came. Fails for memory only. */
static modal_status inflate_all(modal_h5_filters *f, const unsigned char *from, int64_t length, unsigned char *to,
                                int64_t *n, const char **wrong, modal_error *err)
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
    *wrong = NULL;
    unsigned char beyond; /* for a stream of no bytes, whose room may be NULL for zlib */
    z->next_in = (Bytef *)from;
    z->avail_in = (uInt)length;
    z->next_out = *n > 0 ? to : &beyond;
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
 * many. 1 <= bits <= 63. */
static void unpack(const unsigned char *from, int64_t n, int bits, int64_t count, uint64_t *to)
{
    uint64_t at = 0;
    for (int64_t i = 0; i < count; i++, at += (uint64_t)bits) {
        const int64_t first = (int64_t)(at / 8);
        const int skip = (int)(at % 8);
        uint64_t word = 0, next = 0;
        if (first + 9 <= n) {
            memcpy(&word, from + first, 8);
            word = __builtin_bswap64(word);
            next = from[first + 8];
        } else {
            for (int k = 0; k < 8; k++) word = word << 8 | (first + k < n ? from[first + k] : 0);
            next = first + 8 < n ? from[first + 8] : 0;
        }
        if (skip > 0) word = word << skip | next >> (8 - skip);
        to[i] = word >> (64 - bits);
    }
}

void modal_h5_swap_bytes(unsigned char *values, int64_t count, size_t bytes)
{
    for (int64_t i = 0; bytes > 1 && i < count; i++, values += bytes)
        for (size_t k = 0; k < bytes / 2; k++) {
            const unsigned char kept = values[k];
            values[k] = values[bytes - 1 - k];
            values[bytes - 1 - k] = kept;
        }
}

/* The filter's inverse in the type's own arithmetic, as HDF5 has it: k / 10^D + least, or k + least; the largest k
 * stands for the fill value where there is one. */
static void scale_back(const unsigned *v, const uint64_t *k, int64_t count, int bits, uint64_t least, unsigned char *to)
{
    const uint64_t largest = ((uint64_t)1 << bits) - 1;
    const uint64_t fill = v[FILL] | (uint64_t)v[FILL + 1] << 32;
    const size_t bytes = v[SIZE];
    const int is_whole = v[SCALE] == WHOLE;
    const uint32_t half = (uint32_t)least;
    const float single = powf(10.0f, (float)(int)v[FACTOR]);
    const double power = pow(10.0, (double)(int)v[FACTOR]);
    float single_least;
    double double_least;
    memcpy(&single_least, &half, 4);
    memcpy(&double_least, &least, 8);
    for (int64_t i = 0; i < count; i++, to += bytes) {
        const float as_single = (float)(int32_t)(uint32_t)k[i] / single + single_least;
        const double as_double = (double)(int64_t)k[i] / power + double_least;
        const uint64_t as_whole = k[i] + least;
        if (v[HAS_FILL] && k[i] == largest) memcpy(to, &fill, bytes);
        else if (is_whole) memcpy(to, &as_whole, bytes);
        else if (bytes == 4) memcpy(to, &as_single, 4);
        else memcpy(to, &as_double, 8);
    }
}

/* NULL, or what is wrong with the n bytes; `to` has room for all items. */
static const char *undo_scale(const unsigned *v, const unsigned char *from, int64_t n, unsigned char *to)
{
    enum { BLOCK = 512 }; /* a multiple of 8: a block begins with a byte */
    const int64_t count = v[COUNT], bytes = v[SIZE];
    if (n < HEAD) return "scaleoffset data without a head";
    const uint64_t bits = modal_h5_little(from, 4);
    const int n_least = from[4] < 8 ? from[4] : 8;
    const uint64_t least = modal_h5_little(from + 5, n_least);
    if (bits > 8 * (uint64_t)bytes) return "scaleoffset data of more bits than the type";
    /* HDF5 counts a byte more, but not where all bits are kept; modaldeform did so also after a byte that is not full. */
    const int64_t exact = HEAD + count * (int64_t)bits / 8;
    if (n != exact + 1 && !(n == exact && (bits == 0 || bits == 8 * (uint64_t)bytes)) &&
        !(n == exact + 2 && count * (int64_t)bits % 8 != 0))
        return "scaleoffset data of another size";
    from += HEAD;
    n -= HEAD;
    if (bits == 8 * (uint64_t)bytes) {
        memcpy(to, from, (size_t)(count * bytes));
    } else {
        for (int64_t first = 0; first < count; first += BLOCK) {
            const int64_t now = count - first < BLOCK ? count - first : BLOCK, at = first * (int64_t)bits / 8;
            uint64_t k[BLOCK] = {0};
            if (bits > 0) unpack(from + at, n - at, (int)bits, now, k);
            scale_back(v, k, now, (int)bits, least, to + first * bytes);
        }
    }
    if (v[ORDER]) modal_h5_swap_bytes(to, count, (size_t)bytes);
    return NULL;
}

/* ---- undoing all ---- */

/* Room for what lies between two filters. */
static modal_status scratch(modal_h5_filters *f, int which, modal_error *err)
{
    int64_t most = 0;
    if (f->scratch[which]) return MODAL_OK;
    for (int i = 0; i <= f->n; i++) most = f->most[i] > most ? f->most[i] : most;
    return modal_alloc(&f->scratch[which], most, 1, "chunk", err);
}

modal_status modal_h5_filters_undo(modal_h5_filters *f, const unsigned char *stored, int64_t n, unsigned char *values,
                                   char wrong[MODAL_H5_WRONG], modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *why = NULL;
    wrong[0] = '\0';
    if (n > f->most[f->n] || (f->exact[f->n] && n != f->most[f->n])) {
        snprintf(wrong, MODAL_H5_WRONG, "%lld bytes are stored, %s%lld can be right", (long long)n,
                 f->exact[f->n] ? "" : "at most ", (long long)f->most[f->n]);
        return MODAL_OK;
    }
    const unsigned char *from = stored;
    for (int i = f->n - 1, turn = 0; i >= 0 && !why; i--) {
        const int id = f->filters[i].id;
        const unsigned *v = f->filters[i].values;
        if (id == H5Z_FILTER_FLETCHER32) {
            if (n < CHECKSUM + 1) why = "a checksum of nothing";
            else if (!checksum_holds(from, n)) why = "another fletcher32 checksum";
            n -= CHECKSUM;
            continue;
        }
        if (id == H5Z_FILTER_SCALEOFFSET && does_nothing(v)) continue;
        /* What comes last goes where it is wanted; a checksum before it takes no room. */
        int last = 1;
        for (int k = 0; k < i; k++) last &= f->filters[k].id == H5Z_FILTER_FLETCHER32;
        unsigned char *to = values;
        int64_t room = f->most[i];
        if (!last || room != f->chunk_bytes) {
            MODAL_TRY(scratch(f, turn, err));
            to = f->scratch[turn];
            turn = !turn;
        }
        if (id == H5Z_FILTER_DEFLATE) {
            MODAL_TRY(inflate_all(f, from, n, to, &room, &why, err));
            n = room;
        } else if (id == H5Z_FILTER_SHUFFLE) {
            unshuffle(from, n, v[0], to);
        } else {
            why = undo_scale(v, from, n, to);
            n = f->chunk_bytes;
        }
        if (!why && (n > f->most[i] || (f->exact[i] && n != f->most[i]))) {
            snprintf(wrong, MODAL_H5_WRONG, "%lld bytes come out of a filter, must be %lld", (long long)n,
                     (long long)f->most[i]);
            return MODAL_OK;
        }
        from = to;
    }
    if (why) snprintf(wrong, MODAL_H5_WRONG, "%s", why);
    else if (n != f->chunk_bytes)
        snprintf(wrong, MODAL_H5_WRONG, "%lld bytes, must be %lld", (long long)n, (long long)f->chunk_bytes);
    else if (from != values) memcpy(values, from, (size_t)n);
done:
    return status;
}
