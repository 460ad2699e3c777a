/* SPDX-License-Identifier: Apache-2.0 */
/* Checked reading of groups, arrays and attributes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/hdf5/h5_private.h"
#include "lib/base/memory.h"

/* Deflate cannot shrink data more than 1032 times. A file whose arrays claim to be more than this
 * factor larger than what is stored for them would make a reader of a few bytes allocate as much
 * as the author likes. */
enum { MOST_COMPRESSED = 1100 };

static void join(char where[MODAL_H5_PATH], const modal_h5_place *place, const char *name)
{
    snprintf(where, MODAL_H5_PATH, "%.160s/%.80s", place->path, name);
}

static modal_status broken_in_hdf5(const modal_h5_in *in, const char *where, const char *what)
{
    char text[MODAL_H5_STACK];
    modal_h5_stack(text);
    return modal_broken(&in->checker, where, "%s (HDF5: %s)", what, text);
}

/* *there: a hard link of that name exists. Other links could lead out of the file. */
static modal_status find(const modal_h5_in *in, const modal_h5_place *place, const char *name,
                         const char *where, modal_h5_need need, int *there)
{
    H5L_info_t info;
    *there = 0;
    htri_t exists = H5Lexists(place->id, name, H5P_DEFAULT);
    if (exists < 0) return broken_in_hdf5(in, where, "cannot be looked up");
    if (!exists)
        return need == MODAL_H5_OPTIONAL ? MODAL_OK : modal_broken(&in->checker, where, "missing");
    if (H5Lget_info(place->id, name, &info, H5P_DEFAULT) < 0)
        return broken_in_hdf5(in, where, "cannot be looked up");
    if (info.type != H5L_TYPE_HARD)
        return modal_broken(&in->checker, where, "a soft or external link, must lie in this file");
    *there = 1;
    return MODAL_OK;
}

modal_status modal_h5_enter(const modal_h5_in *in, const modal_h5_place *parent, const char *name,
                            modal_h5_need need, modal_h5_place *place)
{
    place->id = H5I_INVALID_HID;
    place->path[0] = '\0';
    if (!parent) {
        place->id = H5Gopen2(in->file, "/", H5P_DEFAULT);
        return place->id < 0 ? broken_in_hdf5(in, "/", "cannot be opened") : MODAL_OK;
    }
    join(place->path, parent, name);
    int there = 0;
    if (parent->id < 0) return MODAL_OK;
    modal_status status = find(in, parent, name, place->path, need, &there);
    if (status != MODAL_OK || !there) return status;
    place->id = H5Gopen2(parent->id, name, H5P_DEFAULT);
    return place->id < 0 ? broken_in_hdf5(in, place->path, "not a group") : MODAL_OK;
}

modal_status modal_h5_read_count(const modal_h5_in *in, const modal_h5_place *place, int32_t *count)
{
    *count = 0;
    if (place->id < 0) return MODAL_OK;
    /* More members than the group has links cannot be right, and nothing is allocated for them. */
    H5G_info_t info;
    if (H5Gget_info(place->id, &info) < 0)
        return broken_in_hdf5(in, place->path, "cannot be counted");
    int64_t value = 0, links = info.nlinks < INT32_MAX ? (int64_t)info.nlinks : INT32_MAX;
    modal_status status = modal_h5_read_integer(in, place, "count", 0, links, &value);
    *count = (int32_t)value;
    return status;
}

/* ---- arrays ---- */

static void describe(hid_t type, char *text, size_t bytes)
{
    const char *name = "another type";
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        name = H5Tget_sign(type) == H5T_SGN_NONE ? "unsigned integer" : "integer";
        break;
    case H5T_FLOAT: name = "float"; break;
    case H5T_STRING: name = "text"; break;
    case H5T_COMPOUND: name = "compound"; break;
    default: break;
    }
    snprintf(text, bytes, "%s-endian %zu-byte %s",
             H5Tget_order(type) == H5T_ORDER_BE ? "big" : "little", H5Tget_size(type), name);
}

static modal_status check_type(const modal_h5_in *in, hid_t id, int is_attribute, const char *where,
                               modal_h5_type type, int *fine)
{
    char found[80], expected[80];
    hid_t file_type = is_attribute ? H5Aget_type(id) : H5Dget_type(id);
    modal_status status = MODAL_OK;
    *fine = 0;
    if (file_type < 0) {
        status = broken_in_hdf5(in, where, "type cannot be read");
    } else if (H5Tequal(file_type, modal_h5_file_type(type)) > 0) {
        *fine = 1;
    } else {
        describe(file_type, found, sizeof found);
        describe(modal_h5_file_type(type), expected, sizeof expected);
        status = modal_broken(&in->checker, where, "type must be %s, is %s", expected, found);
    }
    modal_h5_drop(&file_type);
    return status;
}

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

/* Compares the shape, fills shape[rank] and the number of bytes that it stands for. */
static modal_status check_shape(const modal_h5_in *in, hid_t space, const char *where,
                                size_t item_bytes, int rank, const int64_t *expected,
                                int64_t *shape, int64_t *bytes, int *fine)
{
    hsize_t dims[H5S_MAX_RANK] = {0};
    char found_text[120], expected_text[120];
    *fine = 0;
    if (H5Sget_simple_extent_type(space) == H5S_NULL)
        return modal_broken(&in->checker, where, "has no values (a null dataspace)");
    int found = H5Sget_simple_extent_dims(space, dims, NULL);
    if (found < 0) return broken_in_hdf5(in, where, "shape cannot be read");
    int64_t all[H5S_MAX_RANK] = {0};
    int equal = found == rank, fits = 1;
    *bytes = (int64_t)item_bytes;
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
    memcpy(shape, all, (size_t)rank * sizeof *shape);
    *fine = 1;
    return MODAL_OK;
}

static modal_status check_filters(const modal_h5_in *in, hid_t properties, const char *where,
                                  int *fine)
{
    int n = H5Pget_nfilters(properties);
    if (n < 0) return broken_in_hdf5(in, where, "filters cannot be read");
    for (int i = 0; i < n; i++) {
        unsigned flags, values[8];
        size_t n_values = 8;
        H5Z_filter_t filter =
            H5Pget_filter2(properties, (unsigned)i, &flags, &n_values, values, 0, NULL, NULL);
        if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE &&
            filter != H5Z_FILTER_FLETCHER32 && filter != H5Z_FILTER_SCALEOFFSET) {
            *fine = 0;
            return modal_broken(&in->checker, where,
                                "filter %d: only deflate, shuffle, fletcher32 and scaleoffset are "
                                "allowed",
                                (int)filter);
        }
    }
    return MODAL_OK;
}

/* Every chunk must be there, and none may be absurdly large: HDF5 would make up the missing ones. */
static modal_status check_chunks(const modal_h5_in *in, hid_t dataset, hid_t space,
                                 hid_t properties, const char *where, size_t item_bytes, int rank,
                                 const int64_t *shape, int64_t stored, int *fine)
{
    hsize_t chunk[H5S_MAX_RANK] = {0}, allocated = 0;
    int64_t needed = 1, chunk_bytes = (int64_t)item_bytes;
    modal_status status = check_filters(in, properties, where, fine);
    if (status != MODAL_OK || !*fine) return status;
    *fine = 0;
    if (H5Pget_chunk(properties, H5S_MAX_RANK, chunk) != rank)
        return broken_in_hdf5(in, where, "chunks cannot be read");
    for (int i = 0; i < rank; i++) {
        if (chunk[i] == 0 || chunk[i] > INT32_MAX ||
            !modal_size_multiply(chunk_bytes, (int64_t)chunk[i], &chunk_bytes) ||
            !modal_size_multiply(needed, (shape[i] - 1) / (int64_t)chunk[i] + 1, &needed))
            return modal_broken(&in->checker, where, "chunk size overflow");
    }
    if (chunk_bytes / MOST_COMPRESSED > stored)
        return modal_broken(&in->checker, where, "a chunk of %lld bytes, %lld bytes stored",
                            (long long)chunk_bytes, (long long)stored);
    if (H5Dget_num_chunks(dataset, space, &allocated) < 0)
        return broken_in_hdf5(in, where, "chunks cannot be counted");
    if ((int64_t)allocated != needed)
        return modal_broken(&in->checker, where, "%lld chunks of %lld are stored",
                            (long long)allocated, (long long)needed);
    *fine = 1;
    return MODAL_OK;
}

/* What is stored must be in this file, all of it, and in proportion to what it claims to be. */
static modal_status check_storage(const modal_h5_in *in, hid_t dataset, hid_t space,
                                  const char *where, size_t item_bytes, int rank,
                                  const int64_t *shape, int64_t bytes, int *fine)
{
    modal_status status = MODAL_OK;
    *fine = 0;
    hid_t properties = H5Dget_create_plist(dataset);
    if (properties < 0) return broken_in_hdf5(in, where, "layout cannot be read");
    H5D_layout_t layout = H5Pget_layout(properties);
    if (bytes == 0) {
        *fine = 1;
        goto done;
    }
    if (layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED && layout != H5D_COMPACT) {
        status = modal_broken(&in->checker, where, "a virtual dataset, must lie in this file");
        goto done;
    }
    if (layout == H5D_CONTIGUOUS && H5Pget_external_count(properties) != 0) {
        status = modal_broken(&in->checker, where, "stored in another file, must lie in this file");
        goto done;
    }
    hsize_t size = H5Dget_storage_size(dataset);
    int64_t stored = size <= (hsize_t)in->file_bytes ? (int64_t)size : -1;
    if (stored < 0 || (layout != H5D_CHUNKED ? stored < bytes : bytes / MOST_COMPRESSED > stored)) {
        status =
            modal_broken(&in->checker, where, "%lld bytes claimed, %llu stored in a file of %lld",
                         (long long)bytes, (unsigned long long)size, (long long)in->file_bytes);
        goto done;
    }
    *fine = 1;
    if (layout == H5D_CHUNKED)
        status = check_chunks(in, dataset, space, properties, where, item_bytes, rank, shape,
                              stored, fine);
done:
    modal_h5_drop(&properties);
    return status;
}

modal_status modal_h5_read_array(const modal_h5_in *in, const modal_h5_place *place,
                                 const char *name, modal_h5_type type, int rank, int64_t *dims,
                                 modal_h5_need need, void *values)
{
    char where[MODAL_H5_PATH];
    modal_status status = MODAL_OK;
    hid_t dataset = H5I_INVALID_HID, space = H5I_INVALID_HID;
    int fine = 0;
    int64_t bytes = 0, shape[MODAL_H5_RANK] = {0};
    void *array = NULL;
    size_t item_bytes = modal_h5_type_bytes(type);
    if (values) memcpy(values, &array, sizeof array);
    if (place->id < 0) return MODAL_OK;
    join(where, place, name);
    MODAL_TRY(find(in, place, name, where, need, &fine));
    if (!fine) goto done;
    dataset = H5Dopen2(place->id, name, H5P_DEFAULT);
    if (dataset < 0) {
        status = broken_in_hdf5(in, where, "not a dataset");
        goto done;
    }
    space = H5Dget_space(dataset);
    if (space < 0) {
        status = broken_in_hdf5(in, where, "shape cannot be read");
        goto done;
    }
    MODAL_TRY(check_type(in, dataset, 0, where, type, &fine));
    if (!fine) goto done;
    MODAL_TRY(check_shape(in, space, where, item_bytes, rank, dims, shape, &bytes, &fine));
    if (!fine) goto done;
    MODAL_TRY(check_storage(in, dataset, space, where, item_bytes, rank, shape, bytes, &fine));
    if (!fine) goto done;
    if (values && in->budget) {
        in->budget->used += bytes;
        if (in->budget->limit > 0 && in->budget->used > in->budget->limit)
            MODAL_FAIL(in->checker.err, MODAL_ERROR_MEMORY, "%s: %lld bytes, with those before %lld of %lld allowed",
                       where, (long long)bytes, (long long)in->budget->used, (long long)in->budget->limit);
    }
    if (values) {
        MODAL_TRY(modal_alloc(&array, bytes, 1, where, in->checker.err));
        if (bytes > 0 &&
            H5Dread(dataset, modal_h5_file_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, array) < 0) {
            modal_free(&array);
            status = broken_in_hdf5(in, where, "cannot be read");
            goto done;
        }
        memcpy(values, &array, sizeof array);
    }
    memcpy(dims, shape, (size_t)rank * sizeof *dims);
done:
    modal_h5_drop(&space);
    modal_h5_drop(&dataset);
    return status;
}

/* ---- attributes ---- */

/* Opens an attribute that holds one value; H5I_INVALID_HID where it is broken. */
static modal_status open_attribute(const modal_h5_in *in, const modal_h5_place *place,
                                   const char *name, char where[MODAL_H5_PATH], hid_t *attribute)
{
    *attribute = H5I_INVALID_HID;
    snprintf(where, MODAL_H5_PATH, "%.160s%s@%.80s", place->path, place->path[0] ? "" : "/", name);
    if (place->id < 0) return MODAL_OK;
    htri_t exists = H5Aexists(place->id, name);
    if (exists < 0) return broken_in_hdf5(in, where, "cannot be looked up");
    if (!exists) return modal_broken(&in->checker, where, "missing");
    hid_t opened = H5Aopen(place->id, name, H5P_DEFAULT);
    if (opened < 0) return broken_in_hdf5(in, where, "cannot be opened");
    hid_t space = H5Aget_space(opened);
    hssize_t points = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    modal_h5_drop(&space);
    if (points == 1) {
        *attribute = opened;
        return MODAL_OK;
    }
    modal_h5_drop(&opened);
    H5Eclear2(H5E_DEFAULT);
    return modal_broken(&in->checker, where, "must hold one value, holds %lld", (long long)points);
}

/* The text of an attribute of fixed length, or of variable length as h5py writes str. */
static modal_status read_text(const modal_h5_in *in, hid_t attribute, hid_t type, const char *where,
                              char **text)
{
    modal_status status = MODAL_OK;
    hid_t memory = H5I_INVALID_HID;
    char *fixed = NULL, *variable = NULL;
    size_t bytes = H5Tget_size(type);
    if (H5Tis_variable_str(type) > 0) {
        memory = H5Tcopy(type);
        if (memory < 0 || H5Aread(attribute, memory, &variable) < 0) {
            variable = NULL;
            status = broken_in_hdf5(in, where, "cannot be read");
        } else {
            status = modal_copy_text(text, variable ? variable : "", SIZE_MAX, in->checker.err);
        }
    } else if (bytes == 0 || (int64_t)bytes > in->file_bytes) {
        status = modal_broken(&in->checker, where, "%zu bytes in a file of %lld", bytes,
                              (long long)in->file_bytes);
    } else {
        MODAL_TRY(modal_alloc_zero(&fixed, (int64_t)bytes + 1, 1, where, in->checker.err));
        if (H5Aread(attribute, type, fixed) < 0)
            status = broken_in_hdf5(in, where, "cannot be read");
        else
            status = modal_copy_text(text, fixed, bytes, in->checker.err);
    }
done:
    modal_free(&fixed);
    if (variable) H5free_memory(variable);
    modal_h5_drop(&memory);
    return status;
}

modal_status modal_h5_read_text(const modal_h5_in *in, const modal_h5_place *place,
                                const char *name, char **text)
{
    char where[MODAL_H5_PATH];
    hid_t attribute = H5I_INVALID_HID;
    *text = NULL;
    modal_status status = open_attribute(in, place, name, where, &attribute);
    if (attribute < 0) return status;
    hid_t type = H5Aget_type(attribute);
    if (type < 0)
        status = broken_in_hdf5(in, where, "type cannot be read");
    else if (H5Tget_class(type) != H5T_STRING)
        status = modal_broken(&in->checker, where, "must be text");
    else
        status = read_text(in, attribute, type, where, text);
    modal_h5_drop(&type);
    modal_h5_drop(&attribute);
    return status;
}

static modal_status read_scalar(const modal_h5_in *in, const modal_h5_place *place,
                                const char *name, modal_h5_type type, void *value, int *fine,
                                char where[MODAL_H5_PATH])
{
    hid_t attribute = H5I_INVALID_HID;
    *fine = 0;
    modal_status status = open_attribute(in, place, name, where, &attribute);
    if (attribute < 0) return status;
    status = check_type(in, attribute, 1, where, type, fine);
    if (*fine && H5Aread(attribute, modal_h5_file_type(type), value) < 0) {
        *fine = 0;
        status = broken_in_hdf5(in, where, "cannot be read");
    }
    modal_h5_drop(&attribute);
    return status;
}

modal_status modal_h5_read_number(const modal_h5_in *in, const modal_h5_place *place,
                                  const char *name, double *value)
{
    char where[MODAL_H5_PATH];
    double found = 0.0;
    int fine = 0;
    modal_status status = read_scalar(in, place, name, MODAL_H5_F64, &found, &fine, where);
    if (fine) *value = found;
    return status;
}

modal_status modal_h5_read_integer(const modal_h5_in *in, const modal_h5_place *place,
                                   const char *name, int64_t low, int64_t high, int64_t *value)
{
    char where[MODAL_H5_PATH];
    int64_t found = 0;
    int fine = 0;
    modal_status status = read_scalar(in, place, name, MODAL_H5_I64, &found, &fine, where);
    if (!fine) return status;
    if (found < low || found > high)
        return modal_broken(&in->checker, where, "must be %lld to %lld, is %lld", (long long)low,
                            (long long)high, (long long)found);
    *value = found;
    return MODAL_OK;
}

modal_status modal_h5_read_external(const modal_h5_in *in, const modal_h5_place *place,
                                    const char *name, char **file_name)
{
    char where[MODAL_H5_PATH];
    modal_status status = MODAL_OK;
    H5L_info_t info;
    char *value = NULL;
    const char *file = NULL, *object = NULL;
    unsigned flags = 0;
    *file_name = NULL;
    join(where, place, name);
    htri_t exists = H5Lexists(place->id, name, H5P_DEFAULT);
    if (exists <= 0) {
        H5Eclear2(H5E_DEFAULT);
        return modal_broken(&in->checker, where, "missing");
    }
    if (H5Lget_info(place->id, name, &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_EXTERNAL) {
        H5Eclear2(H5E_DEFAULT);
        return modal_broken(&in->checker, where, "must be an external link");
    }
    /* A byte more than the link has: always terminated. */
    MODAL_TRY(modal_alloc_zero(&value, (int64_t)info.u.val_size + 1, 1, where, in->checker.err));
    if (H5Lget_val(place->id, name, value, info.u.val_size, H5P_DEFAULT) < 0 ||
        H5Lunpack_elink_val(value, info.u.val_size, &flags, &file, &object) < 0) {
        status = broken_in_hdf5(in, where, "cannot be read");
    } else if (strcmp(object, "/") != 0) {
        status =
            modal_broken(&in->checker, where, "must lead to the root, leads to \"%.64s\"", object);
    } else {
        status = modal_copy_text(file_name, file, SIZE_MAX, in->checker.err);
    }
done:
    modal_free(&value);
    return status;
}
