/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays in every layout that readers take, against HDF5's own reading of the same file; and chunks that are not what
 * they claim to be, each of which must be refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/h5/h5_util.h"
#include "lib/base/memory.h"
#include "tests/unit/file_samples.h"
#include "tests/unit/processor_limit.h"

#define H5(call) assert_true((call) >= 0)

enum { RANK = 3 };

typedef enum filter { NONE, DEFLATE, SHUFFLE, FLETCHER, SCALE, FILLED } filter; /* FILLED: scaleoffset with a fill value */
enum { MOST_FILTERS = 3 };

typedef struct layout {
    const char *name;
    filter filters[MOST_FILTERS];
} layout;

static const layout layouts[] = {
    {"plain", {NONE}},
    {"deflate", {DEFLATE}},
    {"shuffle", {SHUFFLE}},
    {"shuffle, deflate", {SHUFFLE, DEFLATE}},
    {"scaleoffset", {SCALE}}, /* of float32, little-endian, without a fill value */
    {"scaleoffset, deflate", {SCALE, DEFLATE}},
};
static const layout not_read[] = {
    {"filter 3: only", {FLETCHER}},
    {"filter 3: only", {SHUFFLE, DEFLATE, FLETCHER}},
    {"filter 2: only", {DEFLATE, SHUFFLE}},
    {"filter 1: only", {DEFLATE, DEFLATE}},
    {"filter 2: only", {SCALE, SHUFFLE}},
    {"filter 6: only", {SHUFFLE, SCALE}},
    {"scaleoffset of another kind", {SCALE}},
    {"scaleoffset of another kind", {FILLED}},
};

static const int64_t shapes[][2][RANK] = {
    /* the array, its chunk */
    {{17, 5, 3}, {4, 5, 3}},   {{17, 5, 3}, {4, 2, 2}}, {{17, 5, 3}, {17, 5, 3}}, {{1, 1, 1}, {1, 1, 1}},
    {{40, 7, 3}, {1, 7, 3}},   {{9, 33, 2}, {2, 32, 2}}, {{16, 8, 3}, {4, 4, 3}},  {{600, 2, 1}, {512, 2, 1}},
};

/* Numbers of the type that its filters and the other order of bytes do to. */
static void fill(modal_h5_type type, void *values, int64_t n, unsigned seed)
{
    srand(seed);
    for (int64_t i = 0; i < n; i++) {
        const double x = rand() / (double)RAND_MAX * 200 - 100;
        switch (type) {
        case MODAL_H5_F64: ((double *)values)[i] = x; break;
        case MODAL_H5_F32: ((float *)values)[i] = (float)x; break;
        case MODAL_H5_I64: ((int64_t *)values)[i] = (int64_t)(x * 1e9); break;
        case MODAL_H5_I32: ((int32_t *)values)[i] = (int32_t)(x * 1e3); break;
        case MODAL_H5_U8: ((uint8_t *)values)[i] = (uint8_t)(x + 100); break;
        }
    }
}

static hid_t native(modal_h5_type type)
{
    const hid_t all[] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, H5T_NATIVE_INT64, H5T_NATIVE_INT32, H5T_NATIVE_UINT8};
    return all[type];
}

static hid_t stored_type(modal_h5_type type, int big_endian)
{
    hid_t copy = H5Tcopy(native(type));
    H5(H5Tset_order(copy, big_endian ? H5T_ORDER_BE : H5T_ORDER_LE));
    return copy;
}

/* A chunked dataset, made but not written. */
static hid_t make(hid_t file, const char *name, modal_h5_type type, int big_endian, const layout *l, int fills,
                  const int64_t *dims, const int64_t *chunk)
{
    hsize_t size[RANK], piece[RANK];
    for (int i = 0; i < RANK; i++) size[i] = (hsize_t)dims[i], piece[i] = (hsize_t)chunk[i];
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(RANK, size, NULL);
    hid_t item = stored_type(type, big_endian);
    H5(H5Pset_chunk(creation, RANK, piece));
    const int scaled = l->filters[0] == SCALE;
    if (!fills || scaled) H5(H5Pset_fill_value(creation, item, NULL));
    for (int i = 0; i < MOST_FILTERS; i++) {
        const int whole = type == MODAL_H5_I64 || type == MODAL_H5_I32 || type == MODAL_H5_U8;
        if (l->filters[i] == DEFLATE) H5(H5Pset_deflate(creation, 4));
        if (l->filters[i] == SHUFFLE) H5(H5Pset_shuffle(creation));
        if (l->filters[i] == FLETCHER) {
            /* HDF5 forbids nothing here, but adds a filter once only through this call. */
            H5(H5Pset_filter(creation, H5Z_FILTER_FLETCHER32, H5Z_FLAG_MANDATORY, 0, NULL));
        }
        if (l->filters[i] == SCALE || l->filters[i] == FILLED)
            H5(H5Pset_scaleoffset(creation, whole ? H5Z_SO_INT : H5Z_SO_FLOAT_DSCALE, whole ? 0 : 3));
    }
    hid_t dataset = H5Dcreate2(file, name, item, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    assert_true(dataset >= 0);
    H5(H5Tclose(item));
    H5(H5Sclose(space));
    H5(H5Pclose(creation));
    return dataset;
}

static hid_t create(const char *path, int latest)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (latest) H5(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    assert_true(file >= 0);
    H5(H5Pclose(access));
    return file;
}

/* ---- what is right is read as HDF5 reads it ---- */

static void compare(const modal_h5_in *in, const modal_h5_place *root, const char *name, modal_h5_type type,
                    const int64_t *dims, const void *expected)
{
    modal_error err = {0};
    int64_t found[RANK] = {-1, -1, -1}, row = (int64_t)modal_h5_type_bytes(type) * dims[1] * dims[2];
    unsigned char *all = NULL;
    modal_h5_rows *rows = NULL;
    if (modal_h5_read_array(in, root, name, type, RANK, found, MODAL_H5_REQUIRED, &all) != MODAL_OK)
        fail_msg("%s: %s", name, in->checker.err->message);
    assert_memory_equal(found, dims, sizeof found);
    if (memcmp(all, expected, (size_t)(dims[0] * row)) != 0) fail_msg("%s: other values", name);
    modal_free(&all);
    assert_int_equal(modal_h5_rows_open(in, root, name, type, RANK, found, MODAL_H5_REQUIRED, &rows), MODAL_OK);
    for (int k = 0; k < 12; k++) {
        const int64_t first = rand() % dims[0], count = k == 0 ? 1 : rand() % (dims[0] - first + 1);
        unsigned char *some = malloc((size_t)(count * row) + 1);
        memset(some, 0xa5, (size_t)(count * row) + 1);
        if (modal_h5_rows_read(rows, first, count, some, &err) != MODAL_OK) fail_msg("%s: %s", name, err.message);
        if (memcmp(some, (const char *)expected + first * row, (size_t)(count * row)) != 0 || some[count * row] != 0xa5)
            fail_msg("%s: other values in rows %lld and the %lld after it", name, (long long)first, (long long)count);
        free(some);
    }
    modal_h5_rows_close(rows);
}

static int is_read(const layout *l, modal_h5_type type, int big_endian)
{
    return l->filters[0] != SCALE || (type == MODAL_H5_F32 && !big_endian);
}

static void test_layouts(void **state)
{
    (void)state;
    modal_error err = {0};
    unsigned char *values = malloc(1 << 16), *expected = malloc(1 << 16);
    for (int latest = 0; latest < 2; latest++)
        for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++)
            for (int order = 0; order < 2; order++) {
                const char *path = sample_path("layouts.h5");
                hid_t file = create(path, latest);
                enum { SHAPES = sizeof shapes / sizeof *shapes, TYPES = 5 };
                char name[32];
                for (int s = 0; s < SHAPES; s++)
                    for (int type = 0; type < TYPES; type++) {
                        if (!is_read(&layouts[l], type, order)) continue;
                        snprintf(name, sizeof name, "%d %d", s, type);
                        fill(type, values, shapes[s][0][0] * shapes[s][0][1] * shapes[s][0][2], (unsigned)(s + type));
                        hid_t dataset =
                            make(file, name, type, order, &layouts[l], (s + type) % 2, shapes[s][0], shapes[s][1]);
                        H5(H5Dwrite(dataset, native(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
                        H5(H5Dclose(dataset));
                    }
                H5(H5Fclose(file));
                size_t length;
                unsigned char *bytes = sample_bytes(path, &length);
                for (int image = 0; image < 2; image++) {
                    const modal_h5_source source = {path, image ? bytes : NULL, image ? length : 0};
                    modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, &err}, NULL};
                    modal_h5_place root;
                    if (modal_h5_open(&in, &source) != MODAL_OK) fail_msg("%s: %s", layouts[l].name, err.message);
                    assert_int_equal(modal_h5_enter(&in, NULL, NULL, MODAL_H5_REQUIRED, &root), MODAL_OK);
                    hid_t twin = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
                    for (int s = 0; s < SHAPES; s++)
                        for (int type = 0; type < TYPES; type++) {
                            if (!is_read(&layouts[l], type, order)) continue;
                            snprintf(name, sizeof name, "%d %d", s, type);
                            hid_t dataset = H5Dopen2(twin, name, H5P_DEFAULT);
                            H5(H5Dread(dataset, native(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, expected));
                            H5(H5Dclose(dataset));
                            compare(&in, &root, name, type, shapes[s][0], expected);
                        }
                    H5(H5Fclose(twin));
                    modal_h5_leave(&root);
                    assert_int_equal(modal_h5_close(&in, MODAL_OK), MODAL_OK);
                }
                free(bytes);
            }
    free(values);
    free(expected);
    assert_no_ids();
}

/* ---- what is not is refused ---- */

typedef struct bad_chunk {
    const char *layout;
    int keep;  /* of the right bytes, so many; < 0: less so many */
    int add;   /* and as many zeros after them */
    unsigned mask;
    const char *says;
} bad_chunk;

static const bad_chunk bad_chunks[] = {
    {"plain", 0, 0, 0, NULL},
    {"plain", -1, 0, 0, "must be 240"},
    {"plain", 0, 8, 0, "must be 240"},
    {"plain", 2, 0, 0, "must be 240"},
    {"plain", 0, 0, 1, "stored without some of its filters, mask 1"},
    {"deflate", 0, 0, 0, NULL},
    {"deflate", -1, 0, 0, "deflate data cut off"},
    {"deflate", 1, 0, 0, "deflate data cut off"},
    {"deflate", 0, 1, 0, "bytes after the deflate data"},
    {"deflate", 0, 4000, 0, "must be at most"},
    {"deflate", 0, 0, 1, "mask 1"},
    {"shuffle", 100, 0, 0, "must be 240"},
    {"scaleoffset", 5, 0, 0, "scaleoffset data without a head"},
    {"scaleoffset", -1, 0, 0, "scaleoffset data of another size"},
    {"scaleoffset", 0, 1, 0, "scaleoffset data of another size"},
    {"scaleoffset", 0, 0, 1, "mask 1"},
    {"shuffle, deflate", 0, 0, 2, "mask 2"},
    {"shuffle, deflate", 4, 0, 0, "deflate data cut off"},
    {"scaleoffset, deflate", -1, 0, 0, "deflate data cut off"},
};

static const layout *layout_of(const char *name)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (strcmp(layouts[i].name, name) == 0) return &layouts[i];
    fail_msg("%s", name);
    return NULL;
}

/* Writes values of float32 to the dataset; returns the stored bytes of the chunk at `offset`. */
static size_t write_and_fetch(hid_t file, hid_t dataset, const float *values, const hsize_t *offset, unsigned char *to)
{
    uint32_t mask;
    hsize_t size;
    H5(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    H5(H5Fflush(file, H5F_SCOPE_LOCAL));
    H5(H5Dget_chunk_storage_size(dataset, offset, &size));
    H5(H5Dread_chunk(dataset, H5P_DEFAULT, offset, &mask, to));
    return (size_t)size;
}

/* The stored bytes of a chunk of float32, as they should be. */
static size_t right_chunk(const layout *l, unsigned char *to)
{
    const int64_t *dims = shapes[0][0], *chunk = shapes[0][1];
    float values[17 * 5 * 3];
    const hsize_t offset[RANK] = {4, 0, 0};
    hid_t file = create(sample_path("right.h5"), 0), dataset = make(file, "x", MODAL_H5_F32, 0, l, 1, dims, chunk);
    fill(MODAL_H5_F32, values, 17 * 5 * 3, 1);
    const size_t size = write_and_fetch(file, dataset, values, offset, to);
    H5(H5Dclose(dataset));
    H5(H5Fclose(file));
    return size;
}

static modal_status read_back(const char *path, modal_error *err)
{
    modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, err}, NULL};
    modal_h5_place root = {H5I_INVALID_HID, ""};
    int64_t dims[RANK] = {-1, -1, -1};
    float *values = NULL;
    modal_status status = modal_h5_open(&in, &(modal_h5_source){path, NULL, 0});
    if (status == MODAL_OK) status = modal_h5_enter(&in, NULL, NULL, MODAL_H5_REQUIRED, &root);
    if (status == MODAL_OK) status = modal_h5_read_array(&in, &root, "x", MODAL_H5_F32, RANK, dims, MODAL_H5_REQUIRED, &values);
    modal_free(&values);
    modal_h5_leave(&root);
    return modal_h5_close(&in, status);
}

/* A file of chunks as they are, but for the second band, which is what `bad` makes of it; `skip` leaves one out. */
static const char *damaged_file(const layout *l, const bad_chunk *bad, int skip)
{
    unsigned char bytes[1 << 14] = {0};
    const size_t size = right_chunk(l, bytes);
    hid_t file = create(sample_path("damaged.h5"), 0);
    hid_t dataset = make(file, "x", MODAL_H5_F32, 0, l, 1, shapes[0][0], shapes[0][1]);
    for (hsize_t band = 0; band < 5; band++) {
        const hsize_t offset[RANK] = {4 * band, 0, 0};
        size_t n = size;
        if (band == 1 && bad) {
            n = bad->keep > 0 ? (size_t)bad->keep : size - (size_t)-bad->keep;
            if (bad->add > 0) memset(bytes + n, 0, (size_t)bad->add);
            n += (size_t)bad->add;
        }
        if ((int)band != skip)
            H5(H5Dwrite_chunk(dataset, H5P_DEFAULT, band == 1 && bad ? bad->mask : 0, offset, n, bytes));
        right_chunk(l, bytes);
    }
    H5(H5Dclose(dataset));
    H5(H5Fclose(file));
    return sample_path("damaged.h5");
}

/* What HDF5 reads and our files need not: refused before HDF5 decodes it, or before a chunk is read. */
static void test_refused(void **state)
{
    (void)state;
    enum { TYPES = 4, OTHERS = 3 };
    const hsize_t three = 3;
    const int64_t *dims = shapes[0][0], *chunk = shapes[0][1];
    for (size_t i = 0; i < sizeof not_read / sizeof *not_read; i++) {
        modal_error err = {0};
        float values[17 * 5 * 3];
        const char *path = sample_path("refused.h5");
        const int big_endian = not_read[i].filters[0] == SCALE && not_read[i].filters[1] == NONE;
        hid_t file = create(path, i % 2), dataset = make(file, "x", MODAL_H5_F32, big_endian, &not_read[i], 1, dims, chunk);
        fill(MODAL_H5_F32, values, 17 * 5 * 3, 1);
        H5(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
        H5(H5Dclose(dataset));
        H5(H5Fclose(file));
        if (read_back(path, &err) != MODAL_ERROR_INPUT || !strstr(err.message, not_read[i].name))
            fail_msg("%d: \"%s\", not \"%s\"", (int)i, err.message, not_read[i].name);
    }
    for (int latest = 0; latest < 2; latest++)
        for (int i = 0; i < TYPES + OTHERS; i++) {
            static const char *const says[] = {"a type other than numbers and texts", "layout other than", "a message that no", "a shared message"};
            modal_error err = {0};
            const char *path = sample_path("refused.h5");
            hid_t file = create(path, latest), space = H5Screate(H5S_SCALAR), creation = H5Pcreate(H5P_DATASET_CREATE);
            hid_t type = i == 0 ? H5Tcreate(H5T_COMPOUND, 8) : i == 1 ? H5Tenum_create(H5T_NATIVE_INT)
                         : i == 2 ? H5Tarray_create2(H5T_NATIVE_INT, 1, &three)
                         : i == 3 ? H5Tvlen_create(H5T_NATIVE_INT) : H5Tcopy(H5T_NATIVE_FLOAT);
            if (i == 0) H5(H5Tinsert(type, "a", 0, H5T_NATIVE_DOUBLE));
            if (i == 1) H5(H5Tenum_insert(type, "red", &i));
            if (i == TYPES) H5(H5Pset_layout(creation, H5D_COMPACT));
            if (i == TYPES + 2) H5(H5Tcommit2(file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
            hid_t dataset = H5Dcreate2(file, "x", type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
            if (i == TYPES + 1) H5(H5Oset_comment(dataset, "a comment"));
            H5(H5Dclose(dataset));
            H5(H5Tclose(type));
            H5(H5Pclose(creation));
            H5(H5Sclose(space));
            H5(H5Fclose(file));
            if (read_back(path, &err) != MODAL_ERROR_INPUT || !strstr(err.message, says[i < TYPES ? 0 : i - TYPES + 1]))
                fail_msg("%d: \"%s\", not \"%s\"", i, err.message, says[i < TYPES ? 0 : i - TYPES + 1]);
        }
    assert_no_ids();
}

static void test_bad_chunks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_chunks / sizeof *bad_chunks; i++) {
        const bad_chunk *bad = &bad_chunks[i];
        modal_error err = {0};
        const modal_status status = read_back(damaged_file(layout_of(bad->layout), bad, -1), &err);
        if (!bad->says) {
            if (status != MODAL_OK) fail_msg("%s: %s", bad->layout, err.message);
        } else if (status != MODAL_ERROR_INPUT || !strstr(err.message, "/x: chunk (1, 0, 0): ") ||
                   !strstr(err.message, bad->says)) {
            fail_msg("%s, %d, %d: %d, \"%s\", not \"%s\"", bad->layout, bad->keep, bad->add, (int)status, err.message,
                     bad->says);
        }
    }
    assert_no_ids();
}

static void test_missing_chunk(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        for (int skip = 0; skip < 5; skip++) {
            modal_error err = {0};
            assert_int_equal(read_back(damaged_file(&layouts[i], NULL, skip), &err), MODAL_ERROR_INPUT);
            if (!strstr(err.message, "/x: 4 chunks of 5 are stored")) fail_msg("%s", err.message);
        }
    assert_no_ids();
}

/* Deflate data of more or fewer values than a chunk has: HDF5 1.10 takes both. */
static void test_inflated_sizes(void **state)
{
    (void)state;
    static const int64_t dims[RANK] = {4, 5, 3};
    for (int rows = 1; rows <= 8; rows++) {
        const int64_t other[RANK] = {rows, 5, 3};
        float values[8 * 5 * 3];
        unsigned char bytes[1 << 13];
        const hsize_t offset[RANK] = {0};
        modal_error err = {0};
        const char *path = sample_path("inflated.h5");
        hid_t file = create(path, 0), dataset = make(file, "other", MODAL_H5_F32, 0, layout_of("deflate"), 1, other, other);
        fill(MODAL_H5_F32, values, 8 * 5 * 3, 3);
        const size_t size = write_and_fetch(file, dataset, values, offset, bytes);
        H5(H5Dclose(dataset));
        dataset = make(file, "x", MODAL_H5_F32, 0, layout_of("deflate"), 1, dims, dims);
        H5(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset, size, bytes));
        H5(H5Dclose(dataset));
        H5(H5Fclose(file));
        const modal_status status = read_back(path, &err);
        if (rows == 4) {
            if (status != MODAL_OK) fail_msg("%s", err.message);
        } else if (status != MODAL_ERROR_INPUT ||
                   !strstr(err.message, rows < 4 ? "bytes come out of a filter, must be 240" : "must be at most") ) {
            if (rows < 4 || !strstr(err.message, "deflate data of more bytes")) fail_msg("%d: %s", rows, err.message);
        }
    }
    assert_no_ids();
}

/* ---- where a file begins and ends ---- */

static void expect(const unsigned char *bytes, size_t length, const char *says)
{
    const char *path = sample_path("ends.h5");
    sample_put(path, bytes, length);
    for (int image = 0; image < 2; image++) {
        modal_error err = {0};
        modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, &err}, NULL};
        const modal_h5_source source = {path, image ? bytes : NULL, image ? length : 0};
        const modal_status status = modal_h5_close(&in, modal_h5_open(&in, &source));
        if (says ? status != MODAL_ERROR_INPUT || !strstr(err.message, says) : status != MODAL_OK)
            fail_msg("%d: \"%s\", not \"%s\"", (int)status, err.message, says ? says : "");
    }
}

static void test_ends(void **state)
{
    (void)state;
    char text[64];
    for (int latest = 0; latest < 2; latest++)
        for (size_t block = 0; block <= 2048; block = block == 0 ? 512 : 2 * block) {
            hid_t creation = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
            H5(H5Pset_userblock(creation, block));
            if (latest) H5(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
            const char *path = sample_path("block.h5");
            hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
            H5(H5Dclose(make(file, "x", MODAL_H5_F64, 0, &layouts[1], 1, shapes[0][0], shapes[0][1])));
            H5(H5Fclose(file));
            H5(H5Pclose(creation));
            H5(H5Pclose(access));
            size_t length;
            unsigned char *bytes = sample_bytes(path, &length);
            bytes = realloc(bytes, length + 10);
            memset(bytes + length, 0, 10);
            expect(bytes, length, NULL);
            snprintf(text, sizeof text, "truncated, %zu bytes of %zu", length - 1, length);
            expect(bytes, length - 1, text);
            expect(bytes, length + 1, "1 bytes after the end of the HDF5 file");
            expect(bytes, block + 20, "truncated, it ends in its superblock");
            expect(bytes, block + 7, "not an HDF5 file");
            bytes[block + 8] = 4;
            expect(bytes, length, "superblock of version 4, this program knows 0, 2 and 3");
            bytes[block + 8] = 1; /* trees of an unusual rank */
            expect(bytes, length, "superblock of version 1, this program knows 0, 2 and 3");
            free(bytes);
        }
    assert_no_ids();
}

/* ---- metadata without checksums ---- */

/* Attributes, so many that the header of the root has a further block. */
static void add_many(hid_t file)
{
    const char *text = "inner";
    const double number = 7;
    hid_t texts = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    char name[16];
    H5(H5Tset_size(texts, H5T_VARIABLE));
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "more %d", i);
        const hid_t type = i % 2 ? H5T_IEEE_F64LE : texts;
        hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        H5(H5Awrite(attribute, type, i % 2 ? (const void *)&number : &text));
        H5(H5Aclose(attribute));
    }
    H5(H5Sclose(space));
    H5(H5Tclose(texts));
}

/* A file of HDF5's oldest metadata: names in a local heap, a text in the global heap, a tree of two levels. */
static unsigned char *old_file(int64_t rows, size_t *length)
{
    const int64_t dims[RANK] = {rows, 2, 1}, chunk[RANK] = {1, 2, 1};
    const char *text = "a text of variable length";
    double values[300 * 2];
    hid_t file = create(sample_path("old.h5"), 0), type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5(H5Tset_size(type, H5T_VARIABLE));
    hid_t attribute = H5Acreate2(file, "text", type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5(H5Awrite(attribute, type, &text));
    H5(H5Aclose(attribute));
    H5(H5Tclose(type));
    H5(H5Sclose(space));
    add_many(file);
    hid_t dataset = make(file, "x", MODAL_H5_F64, 0, &layouts[1], 1, dims, chunk);
    fill(MODAL_H5_F64, values, rows * 2, 1);
    H5(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    H5(H5Dclose(dataset));
    H5(H5Fclose(file));
    return sample_bytes(sample_path("old.h5"), length);
}

static modal_status read_old(const unsigned char *bytes, size_t length, modal_error *err)
{
    modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, err}, NULL};
    modal_h5_place root = {H5I_INVALID_HID, ""};
    int64_t dims[RANK] = {-1, -1, -1};
    double *values = NULL;
    char *text = NULL;
    modal_status status = modal_h5_open(&in, &(modal_h5_source){"old", bytes, length});
    if (status == MODAL_OK) status = modal_h5_enter(&in, NULL, NULL, MODAL_H5_REQUIRED, &root);
    if (status == MODAL_OK) status = modal_h5_read_text(&in, &root, "text", &text);
    if (status == MODAL_OK) status = modal_h5_read_array(&in, &root, "x", MODAL_H5_F64, RANK, dims, MODAL_H5_REQUIRED, &values);
    modal_free(&values);
    modal_free(&text);
    modal_h5_leave(&root);
    return modal_h5_close(&in, status);
}

static unsigned char *find_part(unsigned char *bytes, size_t length, const char *part, size_t part_length)
{
    unsigned char *found = memmem(bytes, length, part, part_length);
    assert_non_null(found);
    return found;
}

static void put_number(unsigned char *to, uint64_t value) { memcpy(to, &value, sizeof value); }

/* No byte of a file without checksums makes HDF5 1.10 crash, whatever it is changed to. */
static void test_every_byte(void **state)
{
    (void)state;
    size_t length;
    int64_t refused = 0;
    unsigned char *bytes = old_file(3, &length);
    modal_error err = {0};
    assert_int_equal(read_old(bytes, length, &err), MODAL_OK);
    limit_processor(120);
    for (size_t i = 0; i < length; i++) {
        const unsigned char was = bytes[i], to[] = {0xff, 0, was ^ 1, was ^ 0x80, was + 3};
        for (size_t k = 0; k < sizeof to; k++) {
            if (to[k] == was) continue;
            bytes[i] = to[k];
            refused += read_old(bytes, length, &err) != MODAL_OK;
        }
        bytes[i] = was;
    }
    limit_processor(0);
    print_message("%zu bytes, %lld changes refused\n", length, (long long)refused);
    assert_true(refused > (int64_t)length / 4);
    free(bytes);
    assert_no_ids();
}

/* Damage that HDF5 1.10 follows for ever, or until its stack ends. */
static void test_unsealed(void **state)
{
    (void)state;
    enum { KEY = 8 + 8 * (RANK + 1), NODE = 24 };
    static const char *const says[] = {NULL, "damaged tree", "damaged local heap", "damaged local heap", "damaged attribute",
                                       "damaged attribute"};
    limit_processor(60);
    for (int kind = 0; kind < 6; kind++) {
        size_t length;
        unsigned char *bytes = old_file(300, &length);
        modal_error err = {0};
        uint64_t number;
        if (kind == 1) { /* the top of the tree is its own child */
            unsigned char *node = find_part(bytes, length, "TREE\1\1", 6);
            for (int i = 0; i < node[6]; i++) put_number(node + NODE + KEY + i * (KEY + 8), (uint64_t)(node - bytes));
        } else if (kind == 2) { /* a free block that comes after itself */
            unsigned char *heap = find_part(bytes, length, "HEAP\0", 5), *data;
            memcpy(&number, heap + 24, 8);
            data = bytes + number;
            memcpy(&number, heap + 16, 8);
            put_number(data + number, number);
        } else if (kind == 3) { /* names without an end */
            unsigned char *heap = find_part(bytes, length, "HEAP\0", 5);
            uint64_t size;
            memcpy(&number, heap + 24, 8);
            memcpy(&size, heap + 8, 8);
            put_number(heap + 16, 1);
            memset(bytes + number, 'x', size);
        } else if (kind >= 4) { /* larger than HDF5 asks for at first, and then no chain of objects, or past the end */
            unsigned char *heap = find_part(bytes, length, "GCOL", 4);
            put_number(heap + 8, kind == 4 ? 5120 : 1 << 30);
        }
        const modal_status status = read_old(bytes, length, &err);
        if (says[kind] ? status != MODAL_ERROR_INPUT || !(strstr(err.message, says[kind]) || kind == 1)
                         : status != MODAL_OK)
            fail_msg("%d: %d, \"%s\"", kind, (int)status, err.message);
        free(bytes);
    }
    limit_processor(0);
    assert_no_ids();
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(test_layouts),       cmocka_unit_test(test_refused), cmocka_unit_test(test_bad_chunks),
                                     cmocka_unit_test(test_missing_chunk), cmocka_unit_test(test_inflated_sizes),
                                     cmocka_unit_test(test_ends),          cmocka_unit_test(test_unsealed),
                                     cmocka_unit_test(test_every_byte)};
    modal_h5_start();
    return cmocka_run_group_tests(all, NULL, NULL);
}
