/* SPDX-License-Identifier: Apache-2.0 */
/* Reads chunks, whose place HDF5 finds, and puts their values where they belong. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "formats/h5/guard/guard_private.h"
#include "lib/base/memory.h"

/* The chunks of the same rows are a band. Its rows are kept where only some were wanted, up to this many bytes. */
enum { MOST_KEPT = 64 << 20 };

struct modal_h5_chunks {
    hid_t dataset;
    guard *file;
    guard_filters filters;
    int rank, swapped;
    int64_t dims[MODAL_H5_RANK], chunk[MODAL_H5_RANK];
    int64_t item_bytes, row_bytes, others; /* others: chunks of a band */
    int fits;                              /* a chunk is whole rows */
    unsigned char *stored, *values;        /* of one chunk */
    int64_t stored_capacity;
    unsigned char *band;
    int64_t kept; /* which band is there, -1: none */
};

/* ---- one chunk ---- */

static void failed(const modal_h5_chunks *c, const hsize_t *offset, const char *what, char wrong[MODAL_H5_CHUNK_TEXT])
{
    int length = snprintf(wrong, MODAL_H5_CHUNK_TEXT, "chunk (");
    for (int i = 0; i < c->rank; i++)
        length += snprintf(wrong + length, (size_t)(MODAL_H5_CHUNK_TEXT - length), "%s%lld", i ? ", " : "",
                           (long long)(offset[i] / (hsize_t)c->chunk[i]));
    snprintf(wrong + length, (size_t)(MODAL_H5_CHUNK_TEXT - length), "): %s", what);
}

/* The values of the chunk at an offset, in items. */
static modal_status read_chunk(modal_h5_chunks *c, const hsize_t *offset, unsigned char *values,
                               char wrong[MODAL_H5_CHUNK_TEXT], modal_error *err)
{
    modal_status status = MODAL_OK;
    guard_stored stored;
    char text[GUARD_WRONG] = "";
    guard *g = c->file;
    const guard_filters *f = &c->filters;
    const int filtered = f->shuffle || f->scale || f->deflate, exact = !f->scale && !f->deflate;
    const unsigned char *bytes;
    if (guard_find_chunk(g, c->dataset, offset, &stored) < 0) {
        snprintf(text, sizeof text, "%s", g->damage ? g->damage : "cannot be found");
        H5Eclear2(H5E_DEFAULT);
    } else if (stored.mask != 0) {
        snprintf(text, sizeof text, "stored without some of its filters, mask %u", stored.mask);
    } else if (stored.bytes > f->most || (exact && stored.bytes != f->most)) {
        snprintf(text, sizeof text, "%lld bytes are stored, must be %s%lld", (long long)stored.bytes, exact ? "" : "at most ",
                 (long long)f->most);
    } else {
        unsigned char *to = values;
        if (filtered && !g->source.bytes) {
            MODAL_TRY(modal_grow(&c->stored, &c->stored_capacity, stored.bytes, 1, "chunk", err));
            to = c->stored;
        }
        if (g->source.bytes && filtered) bytes = (const unsigned char *)g->source.bytes + stored.start;
        else bytes = guard_read(g, (uint64_t)stored.start, (uint64_t)stored.bytes, to) == 0 ? to : NULL;
        if (!bytes) snprintf(text, sizeof text, "cannot be read");
        else if (filtered) MODAL_TRY(guard_filters_undo(&c->filters, bytes, stored.bytes, values, text, err));
    }
    if (text[0]) failed(c, offset, text, wrong);
done:
    return status;
}

/* Of a chunk, its rows [low, high) that are in the dataset go to where they belong in `to`, whose first row is `base`
 * of the dataset. */
static void place(const modal_h5_chunks *c, const hsize_t *offset, const unsigned char *values, int64_t low, int64_t high,
                  int64_t base, unsigned char *to)
{
    int64_t size[MODAL_H5_RANK], at[MODAL_H5_RANK] = {0};
    int64_t run = 1; /* items of an index of dimension `last` that lie together here and there */
    int last = c->rank - 1;
    while (last > 0 && c->chunk[last] == c->dims[last]) run *= c->dims[last--];
    for (int i = 0; i < c->rank; i++) {
        const int64_t left = c->dims[i] - (int64_t)offset[i];
        size[i] = left < c->chunk[i] ? left : c->chunk[i];
    }
    at[0] = low - (int64_t)offset[0];
    size[0] = high - (int64_t)offset[0];
    while (at[0] < size[0]) {
        int64_t from = 0, there = 0; /* items */
        for (int i = 0; i < c->rank; i++) {
            from = from * c->chunk[i] + at[i];
            there = there * c->dims[i] + (int64_t)offset[i] + at[i] - (i == 0 ? base : 0);
        }
        const int64_t n = (size[last] - at[last]) * run;
        memcpy(to + there * c->item_bytes, values + from * c->item_bytes, (size_t)(n * c->item_bytes));
        if (last == 0) break;
        int i = last - 1;
        while (++at[i] == size[i] && i > 0) at[i--] = 0;
    }
}

/* Rows [low, high) of a band, to `to`, whose first row is `base` of the dataset. */
static modal_status read_band(modal_h5_chunks *c, int64_t band, int64_t low, int64_t high, int64_t base,
                              unsigned char *to, char wrong[MODAL_H5_CHUNK_TEXT], modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t begin = band * c->chunk[0];
    hsize_t offset[MODAL_H5_RANK] = {(hsize_t)begin};
    for (int64_t k = 0; k < c->others && !wrong[0]; k++) {
        int64_t rest = k;
        for (int i = c->rank - 1; i > 0; i--) {
            const int64_t n = (c->dims[i] - 1) / c->chunk[i] + 1;
            offset[i] = (hsize_t)(rest % n * c->chunk[i]);
            rest /= n;
        }
        if (c->fits && low == begin && high == begin + c->chunk[0]) {
            MODAL_TRY(read_chunk(c, offset, to + (begin - base) * c->row_bytes, wrong, err));
            continue;
        }
        if (!c->values) MODAL_TRY(modal_alloc(&c->values, c->filters.chunk_bytes, 1, "chunk", err));
        MODAL_TRY(read_chunk(c, offset, c->values, wrong, err));
        if (!wrong[0]) place(c, offset, c->values, low, high, base, to);
    }
done:
    return status;
}

/* ---- all of them ---- */

/* Turns the byte order of `count` numbers. */
static void swap_bytes(unsigned char *values, int64_t count, size_t bytes)
{
    for (int64_t i = 0; bytes > 1 && i < count; i++, values += bytes)
        for (size_t k = 0; k < bytes / 2; k++) {
            const unsigned char kept = values[k];
            values[k] = values[bytes - 1 - k];
            values[bytes - 1 - k] = kept;
        }
}

modal_status modal_h5_chunks_new(modal_h5_chunks **chunks, hid_t dataset, hid_t creation, int rank, const int64_t *dims,
                                 char wrong[MODAL_H5_CHUNK_TEXT], modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_h5_chunks *c = NULL;
    hsize_t chunk[H5S_MAX_RANK] = {0};
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    hsize_t allocated = 0;
    *chunks = NULL;
    wrong[0] = '\0';
    assert(rank >= 1 && rank <= MODAL_H5_RANK);
    MODAL_TRY(modal_alloc_zero(&c, 1, sizeof *c, "chunks", err));
    c->dataset = dataset;
    c->file = guard_of(dataset);
    c->rank = rank;
    c->kept = -1;
    c->others = c->fits = 1;
    if (type < 0 || !c->file || H5Pget_chunk(creation, H5S_MAX_RANK, chunk) != rank) {
        snprintf(wrong, MODAL_H5_CHUNK_TEXT, "chunks cannot be read");
        goto done;
    }
    c->swapped = H5Tget_order(type) == H5T_ORDER_BE;
    c->item_bytes = c->row_bytes = (int64_t)H5Tget_size(type);
    int64_t chunk_bytes = c->item_bytes;
    for (int i = 0; i < rank; i++) {
        if (chunk[i] == 0 || chunk[i] > INT32_MAX || !modal_size_multiply(chunk_bytes, (int64_t)chunk[i], &chunk_bytes) ||
            chunk_bytes > UINT32_MAX) {
            snprintf(wrong, MODAL_H5_CHUNK_TEXT, "chunk size overflow");
            goto done;
        }
        c->dims[i] = dims[i];
        c->chunk[i] = (int64_t)chunk[i];
        if (i == 0) continue;
        c->row_bytes *= dims[i];
        c->others *= (dims[i] - 1) / c->chunk[i] + 1;
        c->fits = c->fits && c->chunk[i] == dims[i];
    }
    guard_filters_take(&c->filters, creation, type, chunk_bytes, wrong);
    if (wrong[0]) goto done;
    const int64_t stored = (int64_t)H5Dget_storage_size(dataset), needed = c->others * ((dims[0] - 1) / c->chunk[0] + 1);
    if (chunk_bytes / MODAL_H5_MOST_COMPRESSED > stored)
        snprintf(wrong, MODAL_H5_CHUNK_TEXT, "a chunk of %lld bytes, %lld bytes stored", (long long)chunk_bytes, (long long)stored);
    else if (H5Dget_num_chunks(dataset, space, &allocated) < 0) /* HDF5 would make up the missing ones */
        snprintf(wrong, MODAL_H5_CHUNK_TEXT, "chunks cannot be counted");
    else if ((int64_t)allocated != needed)
        snprintf(wrong, MODAL_H5_CHUNK_TEXT, "%lld chunks of %lld are stored", (long long)allocated, (long long)needed);
    H5Eclear2(H5E_DEFAULT);
    if (wrong[0]) goto done;
    *chunks = c;
    c = NULL;
done:
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    modal_h5_chunks_delete(c);
    return status;
}

modal_h5_chunks *modal_h5_chunks_delete(modal_h5_chunks *c)
{
    if (!c) return NULL;
    guard_filters_free(&c->filters);
    modal_free(&c->stored);
    modal_free(&c->values);
    modal_free(&c->band);
    modal_free(&c);
    return NULL;
}

modal_status modal_h5_chunks_read(modal_h5_chunks *c, int64_t first, int64_t count, void *to,
                                  char wrong[MODAL_H5_CHUNK_TEXT], modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t end = first + count, height = c->chunk[0];
    wrong[0] = '\0';
    assert(first >= 0 && count >= 0 && end <= c->dims[0]);
    for (int64_t low = first; low < end && !wrong[0];) {
        const int64_t band = low / height, begin = band * height;
        const int64_t there = begin + height < c->dims[0] ? begin + height : c->dims[0];
        const int64_t high = there < end ? there : end;
        const int whole = low == begin && high == there;
        if (whole || height * c->row_bytes > MOST_KEPT) {
            MODAL_TRY(read_band(c, band, low, high, first, to, wrong, err));
        } else {
            if (!c->band) MODAL_TRY(modal_alloc(&c->band, height * c->row_bytes, 1, "chunks", err));
            if (c->kept != band) {
                c->kept = -1;
                MODAL_TRY(read_band(c, band, begin, there, begin, c->band, wrong, err));
                if (!wrong[0]) c->kept = band;
            }
            if (!wrong[0])
                memcpy((unsigned char *)to + (low - first) * c->row_bytes, c->band + (low - begin) * c->row_bytes,
                       (size_t)((high - low) * c->row_bytes));
        }
        low = high;
    }
    if (c->swapped && !wrong[0]) swap_bytes(to, count * (c->row_bytes / c->item_bytes), (size_t)c->item_bytes);
done:
    return status;
}
