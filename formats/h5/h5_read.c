/* SPDX-License-Identifier: Apache-2.0 */
/* Checked reading of groups and attributes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/h5/h5_private.h"
#include "lib/base/memory.h"

void modal_h5_join(char where[MODAL_H5_PATH], const modal_h5_place *place, const char *name)
{
    snprintf(where, MODAL_H5_PATH, "%.160s/%.80s", place->path, name);
}

modal_status modal_h5_broken(const modal_h5_in *in, const char *where, const char *what)
{
    char text[MODAL_H5_STACK];
    modal_h5_stack(text);
    return modal_broken(&in->checker, where, "%s (HDF5: %s)", what, text);
}

modal_status modal_h5_find(const modal_h5_in *in, const modal_h5_place *place, const char *name, const char *where,
                           modal_h5_need need, int *there)
{
    H5L_info_t info;
    *there = 0;
    htri_t exists = H5Lexists(place->id, name, H5P_DEFAULT);
    if (exists < 0) return modal_h5_broken(in, where, "cannot be looked up");
    if (!exists)
        return need == MODAL_H5_OPTIONAL ? MODAL_OK : modal_broken(&in->checker, where, "missing");
    if (H5Lget_info(place->id, name, &info, H5P_DEFAULT) < 0)
        return modal_h5_broken(in, where, "cannot be looked up");
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
        return place->id < 0 ? modal_h5_broken(in, "/", "cannot be opened") : MODAL_OK;
    }
    modal_h5_join(place->path, parent, name);
    int there = 0;
    if (parent->id < 0) return MODAL_OK;
    modal_status status = modal_h5_find(in, parent, name, place->path, need, &there);
    if (status != MODAL_OK || !there) return status;
    place->id = H5Gopen2(parent->id, name, H5P_DEFAULT);
    return place->id < 0 ? modal_h5_broken(in, place->path, "not a group") : MODAL_OK;
}

modal_status modal_h5_read_count(const modal_h5_in *in, const modal_h5_place *place, int32_t *count)
{
    *count = 0;
    if (place->id < 0) return MODAL_OK;
    /* More members than the group has links cannot be right, and nothing is allocated for them. */
    H5G_info_t info;
    if (H5Gget_info(place->id, &info) < 0)
        return modal_h5_broken(in, place->path, "cannot be counted");
    int64_t value = 0, links = info.nlinks < INT32_MAX ? (int64_t)info.nlinks : INT32_MAX;
    modal_status status = modal_h5_read_integer(in, place, "count", 0, links, &value);
    *count = (int32_t)value;
    return status;
}

/* ---- types ---- */

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

modal_status modal_h5_check_type(const modal_h5_in *in, hid_t id, int is_attribute, const char *where, modal_h5_type type,
                                 int *fine, int *big_endian)
{
    char found[80], expected[80];
    hid_t file_type = is_attribute ? H5Aget_type(id) : H5Dget_type(id);
    modal_status status = MODAL_OK;
    *fine = 0;
    hid_t swapped = H5I_INVALID_HID;
    *big_endian = 0;
    if (file_type < 0) {
        status = modal_h5_broken(in, where, "type cannot be read");
    } else if (H5Tequal(file_type, modal_h5_file_type(type)) > 0) {
        *fine = 1;
    } else if ((swapped = H5Tcopy(modal_h5_file_type(type))) >= 0 && H5Tset_order(swapped, H5T_ORDER_BE) >= 0 &&
               H5Tequal(file_type, swapped) > 0) {
        *fine = *big_endian = 1;
    } else {
        describe(file_type, found, sizeof found);
        describe(modal_h5_file_type(type), expected, sizeof expected);
        status = modal_broken(&in->checker, where, "type must be %s, is %s", expected, found);
    }
    modal_h5_drop(&swapped);
    modal_h5_drop(&file_type);
    return status;
}

/* ---- attributes ---- */

int modal_h5_has_attribute(const modal_h5_place *place, const char *name)
{
    return place->id >= 0 && H5Aexists(place->id, name) > 0;
}

int modal_h5_has_link(const modal_h5_place *place, const char *name)
{
    return place->id >= 0 && H5Lexists(place->id, name, H5P_DEFAULT) > 0;
}

int modal_h5_is_float(const modal_h5_place *place, const char *name)
{
    hid_t dataset = modal_h5_has_link(place, name) ? H5Dopen2(place->id, name, H5P_DEFAULT) : H5I_INVALID_HID;
    hid_t type = dataset < 0 ? H5I_INVALID_HID : H5Dget_type(dataset);
    const int is = type >= 0 && H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == 4;
    modal_h5_drop(&type);
    modal_h5_drop(&dataset);
    H5Eclear2(H5E_DEFAULT);
    return is;
}

/* Opens an attribute that holds one value; H5I_INVALID_HID where it is broken. */
static modal_status open_attribute(const modal_h5_in *in, const modal_h5_place *place,
                                   const char *name, char where[MODAL_H5_PATH], hid_t *attribute)
{
    *attribute = H5I_INVALID_HID;
    snprintf(where, MODAL_H5_PATH, "%.160s%s@%.80s", place->path, place->path[0] ? "" : "/", name);
    if (place->id < 0) return MODAL_OK;
    htri_t exists = H5Aexists(place->id, name);
    if (exists < 0) return modal_h5_broken(in, where, "cannot be looked up");
    if (!exists) return modal_broken(&in->checker, where, "missing");
    hid_t opened = H5Aopen(place->id, name, H5P_DEFAULT);
    if (opened < 0) return modal_h5_broken(in, where, "cannot be opened");
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

/* Without the padding of one that is padded with spaces, as Fortran does. */
static size_t text_length(hid_t type, const char *text, size_t bytes)
{
    if (H5Tget_strpad(type) == H5T_STR_SPACEPAD)
        while (bytes > 0 && text[bytes - 1] == ' ') bytes--;
    return bytes;
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
            status = modal_h5_broken(in, where, "cannot be read");
        } else {
            status = modal_copy_text(text, variable ? variable : "", SIZE_MAX, in->checker.err);
        }
    } else if (bytes == 0 || (int64_t)bytes > in->file_bytes) {
        status = modal_broken(&in->checker, where, "%zu bytes in a file of %lld", bytes,
                              (long long)in->file_bytes);
    } else {
        MODAL_TRY(modal_alloc_zero(&fixed, (int64_t)bytes + 1, 1, where, in->checker.err));
        if (H5Aread(attribute, type, fixed) < 0)
            status = modal_h5_broken(in, where, "cannot be read");
        else
            status = modal_copy_text(text, fixed, text_length(type, fixed, bytes), in->checker.err);
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
        status = modal_h5_broken(in, where, "type cannot be read");
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
    int big_endian; /* HDF5 turns a value round where it must */
    *fine = 0;
    modal_status status = open_attribute(in, place, name, where, &attribute);
    if (attribute < 0) return status;
    status = modal_h5_check_type(in, attribute, 1, where, type, fine, &big_endian);
    if (*fine && H5Aread(attribute, modal_h5_file_type(type), value) < 0) {
        *fine = 0;
        status = modal_h5_broken(in, where, "cannot be read");
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
    modal_h5_join(where, place, name);
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
        status = modal_h5_broken(in, where, "cannot be read");
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
