/* SPDX-License-Identifier: Apache-2.0 */
/* Checked reading of arrays: what an array claims to be is compared with what is expected and with what is stored
 * before any memory is taken for it. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "formats/h5/h5_private.h"
#include "lib/base/memory.h"

struct modal_h5_rows {
    char where[MODAL_H5_PATH];
    hid_t dataset;
    modal_h5_type type;
    int rank, big_endian;
    int64_t dims[MODAL_H5_RANK];
    int64_t place;            /* in the file, of a contiguous one as the machine has numbers; else -1 */
    modal_h5_chunks *chunks; /* NULL: not chunked, or no values */
};

/* ---- what an array claims ---- */

/* "[4, any, 3]" */
static void describe_shape(char *text, size_t bytes, int rank, const int64_t *dims)
{
    size_t length = 0;
    length += (size_t)snprintf(text, bytes, "[");
    for (int i = 0; i < rank && length < bytes; i++)
        length +=
            (size_t)(dims[i] < 0 ? snprintf(text + length, bytes - length, "%sany", i ? ", " : "")
                                 : snprintf(text + length, bytes - length, "%s%lld", i ? ", " : "",
                                            (long long)dims[i]));
    if (length < bytes) snprintf(text + length, bytes - length, "]");
}

/* Compares the shape of r with expected[rank], fills r->dims and the number of bytes that it stands for. */
static modal_status check_shape(const modal_h5_in *in, modal_h5_rows *r, hid_t space, modal_h5_type type, int rank,
                                const int64_t *expected, int64_t *bytes, int *fine)
{
    const char *where = r->where;
    hsize_t dims[H5S_MAX_RANK] = {0};
    char found_text[120], expected_text[120];
    *fine = 0;
    if (H5Sget_simple_extent_type(space) == H5S_NULL)
        return modal_broken(&in->checker, where, "has no values (a null dataspace)");
    int found = H5Sget_simple_extent_dims(space, dims, NULL);
    if (found < 0) return modal_h5_broken(in, where, "shape cannot be read");
    int64_t all[H5S_MAX_RANK] = {0};
    int equal = found == rank, fits = 1;
    *bytes = (int64_t)modal_h5_type_bytes(type);
    for (int i = 0; i < found; i++) {
        fits = fits && dims[i] <= INT64_MAX && modal_size_multiply(*bytes, (int64_t)dims[i], bytes);
        all[i] = dims[i] <= INT64_MAX ? (int64_t)dims[i] : INT64_MAX;
        if (equal && expected[i] >= 0 && expected[i] != all[i]) equal = 0;
    }
    if (!equal) {
        describe_shape(found_text, sizeof found_text, found, all);
        describe_shape(expected_text, sizeof expected_text, rank, expected);
        return modal_broken(&in->checker, where, "shape must be %s, is %s", expected_text,
                            found_text);
    }
    if (!fits) return modal_broken(&in->checker, where, "size overflow");
    memcpy(r->dims, all, (size_t)rank * sizeof *r->dims);
    *fine = 1;
    return MODAL_OK;
}

/* What is stored must be in this file, all of it, and in proportion to what it claims to be. */
static modal_status check_storage(const modal_h5_in *in, modal_h5_rows *rows, int64_t bytes, int *fine)
{
    modal_status status = MODAL_OK;
    *fine = 0;
    hid_t creation = H5Dget_create_plist(rows->dataset);
    if (creation < 0) return modal_h5_broken(in, rows->where, "layout cannot be read");
    H5D_layout_t layout = H5Pget_layout(creation);
    if (layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED) {
        status = modal_broken(&in->checker, rows->where, "a virtual dataset, must lie in this file");
        goto done;
    }
    if (bytes == 0) {
        *fine = 1;
        goto done;
    }
    hsize_t size = H5Dget_storage_size(rows->dataset);
    int64_t stored = size <= (hsize_t)in->file_bytes ? (int64_t)size : -1;
    if (stored < 0 || (layout != H5D_CHUNKED ? stored < bytes : bytes / MODAL_H5_MOST_COMPRESSED > stored)) {
        status =
            modal_broken(&in->checker, rows->where, "%lld bytes claimed, %llu stored in a file of %lld",
                         (long long)bytes, (unsigned long long)size, (long long)in->file_bytes);
        goto done;
    }
    if (layout == H5D_CONTIGUOUS && !rows->big_endian && in->base == 0) {
        const haddr_t address = H5Dget_offset(rows->dataset);
        if (address != HADDR_UNDEF && address <= (haddr_t)in->file_bytes && bytes <= in->file_bytes - (int64_t)address)
            rows->place = (int64_t)address;
    }
    if (layout == H5D_CHUNKED) {
        char wrong[MODAL_H5_CHUNK_TEXT];
        MODAL_TRY(modal_h5_chunks_new(&rows->chunks, rows->dataset, creation, rows->rank, rows->dims, wrong, in->checker.err));
        if (wrong[0]) {
            status = modal_broken(&in->checker, rows->where, "%s", wrong);
            goto done;
        }
    }
    *fine = 1;
done:
    modal_h5_drop(&creation);
    return status;
}

/* ---- rows ---- */

modal_status modal_h5_rows_open(const modal_h5_in *in, const modal_h5_place *place, const char *name, modal_h5_type type,
                                int rank, int64_t *dims, modal_h5_need need, modal_h5_rows **rows)
{
    modal_status status = MODAL_OK;
    hid_t space = H5I_INVALID_HID;
    int fine = 0;
    int64_t bytes = 0;
    modal_h5_rows *r = NULL;
    *rows = NULL;
    assert(rank >= 1 && rank <= MODAL_H5_RANK);
    if (place->id < 0) return MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&r, 1, sizeof *r, "array", in->checker.err));
    r->dataset = H5I_INVALID_HID;
    r->type = type;
    r->rank = rank;
    r->place = -1;
    modal_h5_join(r->where, place, name);
    MODAL_TRY(modal_h5_find(in, place, name, r->where, need, &fine));
    if (!fine) goto done;
    r->dataset = H5Dopen2(place->id, name, H5P_DEFAULT);
    if (r->dataset < 0) {
        status = modal_h5_broken(in, r->where, "not a dataset");
        goto done;
    }
    space = H5Dget_space(r->dataset);
    if (space < 0) {
        status = modal_h5_broken(in, r->where, "shape cannot be read");
        goto done;
    }
    MODAL_TRY(modal_h5_check_type(in, r->dataset, 0, r->where, type, &fine, &r->big_endian));
    if (!fine) goto done;
    MODAL_TRY(check_shape(in, r, space, type, rank, dims, &bytes, &fine));
    if (!fine) goto done;
    MODAL_TRY(check_storage(in, r, bytes, &fine));
    if (!fine) goto done;
    memcpy(dims, r->dims, (size_t)rank * sizeof *dims);
    *rows = r;
    r = NULL;
done:
    modal_h5_drop(&space);
    modal_h5_rows_close(r);
    return status;
}

modal_h5_rows *modal_h5_rows_close(modal_h5_rows *rows)
{
    if (!rows) return NULL;
    modal_h5_chunks_delete(rows->chunks);
    modal_h5_drop(&rows->dataset);
    modal_free(&rows);
    return NULL;
}

int64_t modal_h5_rows_place(const modal_h5_rows *rows) { return rows->place; }

/* What HDF5 reads itself: one piece, of a size that was compared with that of the array. */
static int read_piece(const modal_h5_rows *r, int64_t first, int64_t count, void *to)
{
    hsize_t size[MODAL_H5_RANK], start[MODAL_H5_RANK] = {(hsize_t)first};
    hid_t space = H5S_ALL, memory = H5S_ALL;
    int good = 1;
    if (count != r->dims[0]) {
        for (int i = 0; i < r->rank; i++) size[i] = (hsize_t)(i == 0 ? count : r->dims[i]);
        space = H5Dget_space(r->dataset);
        memory = H5Screate_simple(r->rank, size, NULL);
        good = space >= 0 && memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0;
    }
    good = good && H5Dread(r->dataset, modal_h5_native_type(r->type), memory, space, H5P_DEFAULT, to) >= 0;
    if (space > 0) H5Sclose(space);
    if (memory > 0) H5Sclose(memory);
    return good;
}

modal_status modal_h5_rows_read(modal_h5_rows *r, int64_t first, int64_t count, void *to, modal_error *err)
{
    char wrong[MODAL_H5_CHUNK_TEXT] = "";
    int64_t values = count;
    assert(first >= 0 && count >= 0 && first + count <= r->dims[0]);
    for (int i = 1; i < r->rank; i++) values *= r->dims[i];
    if (values == 0) return MODAL_OK;
    if (!r->chunks) {
        if (read_piece(r, first, count, to)) return MODAL_OK;
        return modal_h5_failed(err, MODAL_ERROR_INPUT, r->where, "cannot be read");
    }
    modal_status status = modal_h5_chunks_read(r->chunks, first, count, to, wrong, err);
    if (status == MODAL_OK && wrong[0]) status = modal_error_set(err, MODAL_ERROR_INPUT, "%s: %s", r->where, wrong);
    return status;
}

modal_status modal_h5_read_array(const modal_h5_in *in, const modal_h5_place *place, const char *name, modal_h5_type type,
                                 int rank, int64_t *dims, modal_h5_need need, void *values)
{
    modal_status status = MODAL_OK;
    modal_error local = {0};
    modal_h5_rows *rows = NULL;
    void *array = NULL;
    int64_t bytes = (int64_t)modal_h5_type_bytes(type), shape[MODAL_H5_RANK];
    if (values) memcpy(values, &array, sizeof array);
    memcpy(shape, dims, (size_t)rank * sizeof *dims);
    MODAL_TRY(modal_h5_rows_open(in, place, name, type, rank, shape, need, &rows));
    if (!rows) goto done;
    for (int i = 0; i < rank; i++) bytes *= shape[i];
    if (values && in->budget) {
        in->budget->used += bytes;
        if (in->budget->limit > 0 && in->budget->used > in->budget->limit)
            MODAL_FAIL(in->checker.err, MODAL_ERROR_MEMORY, "%s: %lld bytes, with those before %lld of %lld allowed",
                       rows->where, (long long)bytes, (long long)in->budget->used, (long long)in->budget->limit);
    }
    if (values) {
        MODAL_TRY(modal_alloc(&array, bytes, 1, rows->where, in->checker.err));
        status = modal_h5_rows_read(rows, 0, shape[0], array, &local);
        if (status == MODAL_ERROR_INPUT) {
            status = modal_broken(&in->checker, rows->where, "%s", local.message + strlen(rows->where) + 2);
            goto done;
        }
        if (status != MODAL_OK) MODAL_FAIL(in->checker.err, status, "%s", local.message);
        memcpy(values, &array, sizeof array);
        array = NULL;
    }
    memcpy(dims, shape, (size_t)rank * sizeof *dims);
done:
    modal_free(&array);
    modal_h5_rows_close(rows);
    return status;
}
