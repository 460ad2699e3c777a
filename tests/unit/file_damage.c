/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks one thing in a good file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/file_samples.h"

#define H5(call) assert_true((call) >= 0)

/* A dataset in memory, as doubles. */
typedef struct held {
    int rank;
    hsize_t dims[8];
    size_t n;
    hid_t type;
    double *values;
} held;

static held take(hid_t file, const char *path)
{
    held h = {0};
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(dataset);
    assert_true(dataset >= 0);
    h.rank = H5Sget_simple_extent_dims(space, h.dims, NULL);
    h.n = (size_t)H5Sget_simple_extent_npoints(space);
    h.type = H5Dget_type(dataset);
    h.values = calloc(h.n + 1, sizeof *h.values);
    H5(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, h.values));
    H5(H5Sclose(space));
    H5(H5Dclose(dataset));
    return h;
}

static void put(hid_t file, const char *path, const held *h, hid_t type, hid_t creation, int write)
{
    hid_t space = H5Screate_simple(h->rank, h->dims, NULL);
    H5(H5Ldelete(file, path, H5P_DEFAULT));
    hid_t dataset = H5Dcreate2(file, path, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    assert_true(dataset >= 0);
    if (write) H5(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, h->values));
    H5(H5Dclose(dataset));
    H5(H5Sclose(space));
}

static void set_attribute(hid_t file, const damage_case *what)
{
    char path[160];
    snprintf(path, sizeof path, "%s", what->path);
    char *at = strrchr(path, '@');
    assert_non_null(at);
    *at++ = '\0';
    hid_t object = H5Oopen(file, path[0] ? path : "/", H5P_DEFAULT);
    assert_true(object >= 0);
    if (what->kind == DELETE_ATTRIBUTE || H5Aexists(object, at) > 0) H5(H5Adelete(object, at));
    if (what->kind != DELETE_ATTRIBUTE) {
        int64_t integer = (int64_t)what->value;
        hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
        if (what->kind == SET_TEXT) H5(H5Tset_size(type, strlen(what->text)));
        hid_t use = what->kind == SET_TEXT     ? type
                    : what->kind == SET_NUMBER ? H5T_IEEE_F64LE
                                               : H5T_STD_I64LE;
        const void *value = what->kind == SET_TEXT     ? (const void *)what->text
                            : what->kind == SET_NUMBER ? (const void *)&what->value
                                                       : (const void *)&integer;
        hid_t attribute = H5Acreate2(object, at, use, space, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(attribute >= 0);
        H5(H5Awrite(attribute, use, value));
        H5(H5Aclose(attribute));
        H5(H5Tclose(type));
        H5(H5Sclose(space));
    }
    H5(H5Oclose(object));
}

/* Puts a dataset of the right type that does not lie in the file in the place of a good one. */
static void replace_storage(hid_t file, const damage_case *what, held *h)
{
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (what->kind == VIRTUAL) {
        hid_t space = H5Screate_simple(h->rank, h->dims, NULL);
        H5(H5Pset_virtual(creation, space, "elsewhere.h5", "/x", space));
        H5(H5Sclose(space));
    } else if (what->kind == ELSEWHERE) {
        H5(H5Pset_external(creation, "/dev/zero", 0, H5F_UNLIMITED));
    } else if (what->kind == HUGE_CHUNKED) {
        hsize_t chunk[8];
        for (int i = 0; i < h->rank; i++) chunk[i] = h->dims[i];
        h->dims[0] = (hsize_t)1 << 40;
        H5(H5Pset_chunk(creation, h->rank, chunk));
    }
    put(file, what->path, h, h->type, creation, 0);
    H5(H5Pclose(creation));
}

static void damage_dataset(hid_t file, const damage_case *what)
{
    held h = take(file, what->path);
    hid_t swapped = H5I_INVALID_HID;
    switch (what->kind) {
    case SET_VALUE:
        assert_true((size_t)what->index < h.n);
        h.values[what->index] = what->value;
        put(file, what->path, &h, h.type, H5P_DEFAULT, 1);
        break;
    case RETYPE:
        put(file, what->path, &h,
            H5Tget_class(h.type) == H5T_FLOAT && H5Tget_size(h.type) == 8 ? H5T_IEEE_F32LE
                                                                          : H5T_STD_I16LE,
            H5P_DEFAULT, 1);
        break;
    case SWAP_BYTES:
        swapped = H5Tcopy(h.type);
        H5(H5Tset_order(swapped, H5T_ORDER_BE));
        put(file, what->path, &h, swapped, H5P_DEFAULT, 1);
        H5(H5Tclose(swapped));
        break;
    case SHORTEN:
        h.dims[0]--;
        put(file, what->path, &h, h.type, H5P_DEFAULT, 1);
        break;
    case FLATTEN:
        h.rank = h.rank == 1 ? 2 : 1;
        h.dims[0] = h.n;
        h.dims[1] = 1;
        put(file, what->path, &h, h.type, H5P_DEFAULT, 1);
        break;
    default: replace_storage(file, what, &h); break;
    }
    H5(H5Tclose(h.type));
    free(h.values);
}

void sample_damage(const char *path, const damage_case *what)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), group;
    assert_true(file >= 0);
    switch (what->kind) {
    case DELETE_LINK: H5(H5Ldelete(file, what->path, H5P_DEFAULT)); break;
    case DELETE_ATTRIBUTE:
    case SET_NUMBER:
    case SET_INTEGER:
    case SET_TEXT: set_attribute(file, what); break;
    case SOFT_LINK:
        H5(H5Lmove(file, what->path, file, "/aside", H5P_DEFAULT, H5P_DEFAULT));
        H5(H5Lcreate_soft("/aside", file, what->path, H5P_DEFAULT, H5P_DEFAULT));
        break;
    case EXTERNAL_LINK:
        H5(H5Ldelete(file, what->path, H5P_DEFAULT));
        H5(H5Lcreate_external("another.h5", what->text ? what->text : "/", file, what->path,
                              H5P_DEFAULT, H5P_DEFAULT));
        break;
    case MAKE_GROUP:
        H5(H5Ldelete(file, what->path, H5P_DEFAULT));
        group = H5Gcreate2(file, what->path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5(H5Gclose(group));
        break;
    default: damage_dataset(file, what); break;
    }
    H5(H5Fclose(file));
}

/* xorshift64 (G. Marsaglia, "Xorshift RNGs", 2003) */
static uint64_t draw(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

void sample_flip(uint64_t *random, const unsigned char *good, unsigned char *bad, size_t length)
{
    memcpy(bad, good, length);
    for (int flips = 1 + (int)(draw(random) % 4); flips > 0; flips--) {
        unsigned char *at = &bad[draw(random) % length];
        *at ^= (unsigned char)(1 + draw(random) % 255);
    }
}
