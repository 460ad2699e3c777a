/* SPDX-License-Identifier: Apache-2.0 */
/* Writing: contiguous arrays, fixed-length text, no times, so that equal content gives equal bytes. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/h5/h5_private.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "lib/base/memory_file.h"

/* Creation properties without a time stamp. */
static hid_t timeless(hid_t kind)
{
    hid_t properties = H5Pcreate(kind);
    if (properties >= 0 && H5Pset_obj_track_times(properties, 0) < 0) modal_h5_drop(&properties);
    return properties;
}

/* A file of thousands of shapes is a hundred thousand groups and arrays, and making properties takes
 * longer than using them: these are made once and live as long as the process. Links stay in the header
 * of a group until there are many, instead of in a heap and a tree from the ninth on, and room is left for
 * them. Everything is written at once, so nothing needs to be filled first. */
static pthread_once_t creations_made = PTHREAD_ONCE_INIT;
static hid_t group_creation = H5I_INVALID_HID, array_creation = H5I_INVALID_HID;

static void make_creations(void)
{
    enum { MOST_LINKS = 64, LEAST_LINKS = 32, USUAL_LINKS = 10, USUAL_NAME = 12 };
    hid_t group = timeless(H5P_GROUP_CREATE), array = timeless(H5P_DATASET_CREATE);
    if (group >= 0 && (H5Pset_link_phase_change(group, MOST_LINKS, LEAST_LINKS) < 0 ||
                       H5Pset_est_link_info(group, USUAL_LINKS, USUAL_NAME) < 0))
        modal_h5_drop(&group);
    if (array >= 0 && H5Pset_fill_time(array, H5D_FILL_TIME_NEVER) < 0) modal_h5_drop(&array);
    group_creation = group;
    array_creation = array;
}

/* A cache of metadata that fits a second-level cache of the processor: everything is written once, in order, and
 * thousands of groups and arrays go through it. HDF5's own would grow with them and take a quarter longer. */
static int set_small_cache(hid_t access)
{
    H5AC_cache_config_t config = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
    if (H5Pget_mdc_config(access, &config) < 0) return -1;
    config.set_initial_size = 1;
    config.initial_size = config.min_size = config.max_size = 256 << 10;
    config.incr_mode = H5C_incr__off;
    config.flash_incr_mode = H5C_flash_incr__off;
    config.decr_mode = H5C_decr__off;
    return H5Pset_mdc_config(access, &config);
}

modal_status modal_h5_create(hid_t *file, const char *path, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t access = H5I_INVALID_HID, creation = H5I_INVALID_HID;
    char name[32]; /* HDF5 takes two files in memory of one name for one file */
    snprintf(name, sizeof name, "image %p", (void *)file);
    *file = H5I_INVALID_HID;
    modal_h5_start();
    MODAL_TRY(modal_h5_access(&access, err));
    creation = timeless(H5P_FILE_CREATE);
    /* HDF5 wants a name that leads to a file, which that of a file in memory does not: its bytes come in the end */
    const int in_memory = !path || modal_is_memory_file(path);
    if (creation < 0 || set_small_cache(access) < 0 || (in_memory && H5Pset_fapl_core(access, 1 << 20, 0) < 0)) {
        status = modal_h5_failed(err, MODAL_ERROR_MEMORY, "HDF5", "no creation properties");
        goto done;
    }
    *file = H5Fcreate(path ? path : name, H5F_ACC_TRUNC, creation, access);
    if (*file < 0)
        status =
            modal_h5_failed(err, MODAL_ERROR_SYSTEM, path ? path : "image", "cannot be created");
done:
    modal_h5_drop(&creation);
    modal_h5_drop(&access);
    return status;
}

/* Where the file is one in memory of lib/base/memory_file.h: its bytes, which must get there. */
static modal_status take_memory_file(hid_t file, char path[MODAL_MEMORY_FILE_PATH], void **bytes, size_t *length, modal_error *err)
{
    const ssize_t named = H5Fget_name(file, path, MODAL_MEMORY_FILE_PATH);
    const int is_one = named > 0 && named < MODAL_MEMORY_FILE_PATH && modal_is_memory_file(path);
    return is_one ? modal_h5_image(file, bytes, length, err) : MODAL_OK;
}

static modal_status put_memory_file(const char *path, const void *bytes, size_t length, modal_error *err)
{
    const int to = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    const int failed = to < 0 || modal_disk_write(to, 0, bytes, (int64_t)length) != 0, code = errno;
    if (to >= 0) close(to);
    return failed ? modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot be written, %s", path, strerror(code)) : MODAL_OK;
}

modal_status modal_h5_finish(hid_t *file, modal_status status, modal_error *err)
{
    char path[MODAL_MEMORY_FILE_PATH];
    void *bytes = NULL;
    size_t length = 0;
    if (*file < 0) return status;
    if (status == MODAL_OK) status = take_memory_file(*file, path, &bytes, &length, err);
    if (status == MODAL_OK && H5Fflush(*file, H5F_SCOPE_LOCAL) < 0)
        status = modal_h5_failed(err, MODAL_ERROR_SYSTEM, "HDF5 file", "cannot be flushed");
    if (H5Fclose(*file) < 0 && status == MODAL_OK)
        status = modal_h5_failed(err, MODAL_ERROR_SYSTEM, "HDF5 file", "cannot be closed");
    *file = H5I_INVALID_HID;
    if (bytes && status == MODAL_OK) status = put_memory_file(path, bytes, length, err);
    modal_free(&bytes);
    H5Eclear2(H5E_DEFAULT);
    return status;
}

static uint32_t rotate(uint32_t x, int by) { return x << by | x >> (32 - by); }

/* The checksum of HDF5's metadata, lookup3 (Bob Jenkins, 2006), of exactly 44 bytes. */
static uint32_t checksum_44(const unsigned char *bytes)
{
    uint32_t word[11], a = 0xdeadbeef + 44, b = a, c = a;
    memcpy(word, bytes, sizeof word); /* little-endian, as hash.c demands */
    for (int i = 0; i < 9; i += 3) {
        a += word[i], b += word[i + 1], c += word[i + 2];
        a -= c, a ^= rotate(c, 4), c += b;
        b -= a, b ^= rotate(a, 6), a += c;
        c -= b, c ^= rotate(b, 8), b += a;
        a -= c, a ^= rotate(c, 16), c += b;
        b -= a, b ^= rotate(a, 19), a += c;
        c -= b, c ^= rotate(b, 4), b += a;
    }
    a += word[9], b += word[10];
    c ^= b, c -= rotate(b, 14);
    a ^= c, a -= rotate(c, 11);
    b ^= a, b -= rotate(a, 25);
    c ^= b, c -= rotate(b, 16);
    a ^= c, a -= rotate(c, 4);
    b ^= a, b -= rotate(a, 14);
    c ^= b, c -= rotate(b, 24);
    return c;
}

/* H5Fget_file_image clears the "open for writing" flag in the superblock that it copies, and in 1.10
 * leaves the checksum of the flag that was set: nobody could open the image. */
static void repair_superblock(unsigned char *bytes, size_t length)
{
    enum { VERSION = 8, CHECKSUM = 44 };
    if (length < CHECKSUM + 4 || bytes[VERSION] < 2) return;
    uint32_t sum = checksum_44(bytes);
    memcpy(bytes + CHECKSUM, &sum, sizeof sum);
}

modal_status modal_h5_image(hid_t file, void **bytes, size_t *length, modal_error *err)
{
    *bytes = NULL;
    *length = 0;
    ssize_t size = -1;
    if (H5Fflush(file, H5F_SCOPE_LOCAL) >= 0) size = H5Fget_file_image(file, NULL, 0);
    if (size < 0) return modal_h5_failed(err, MODAL_ERROR_SYSTEM, "image", "cannot be made");
    modal_status status = modal_alloc(bytes, (int64_t)size, 1, "image", err);
    if (status != MODAL_OK) return status;
    if (H5Fget_file_image(file, *bytes, (size_t)size) != size) {
        modal_free(bytes);
        return modal_h5_failed(err, MODAL_ERROR_SYSTEM, "image", "cannot be made");
    }
    repair_superblock(*bytes, (size_t)size);
    *length = (size_t)size;
    return MODAL_OK;
}

modal_status modal_h5_make_group(hid_t parent, const char *name, hid_t *group, modal_error *err)
{
    pthread_once(&creations_made, make_creations);
    *group = group_creation < 0 ? H5I_INVALID_HID
                                : H5Gcreate2(parent, name, H5P_DEFAULT, group_creation, H5P_DEFAULT);
    return *group < 0 ? modal_h5_failed(err, MODAL_ERROR_SYSTEM, name, "group cannot be written")
                      : MODAL_OK;
}

void modal_h5_start_disk(hid_t place)
{
    const hid_t file = H5Iget_file_id(place), access = file < 0 ? -1 : H5Fget_access_plist(file);
    int *descriptor = NULL;
    if (access >= 0 && H5Pget_driver(access) == H5FD_SEC2 &&
        H5Fget_vfd_handle(file, H5P_DEFAULT, (void **)&descriptor) >= 0 && descriptor)
        modal_disk_start(*descriptor, 0, 0);
    if (access >= 0) H5Pclose(access);
    if (file >= 0) H5Fclose(file);
    H5Eclear2(H5E_DEFAULT);
}

/* Closes an id of a file being written, where a failure means that data is lost. */
static modal_status close_written(hid_t *id, modal_status status, const char *name,
                                  modal_error *err)
{
    if (*id >= 0 && H5Idec_ref(*id) < 0 && status == MODAL_OK)
        status = modal_h5_failed(err, MODAL_ERROR_SYSTEM, name, "cannot be closed");
    *id = H5I_INVALID_HID;
    return status;
}

modal_status modal_h5_end_group(hid_t *group, modal_status status, modal_error *err)
{
    return close_written(group, status, "group", err);
}

/* Rows of an array of any type, to it or from it. */
static modal_status move_rows(hid_t dataset, const char *name, hid_t type, int64_t first, int64_t count,
                              const void *from, void *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    hsize_t size[MODAL_H5_RANK], start[MODAL_H5_RANK] = {(hsize_t)first};
    hid_t space = H5Dget_space(dataset), memory = H5I_INVALID_HID;
    const int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    int good = rank > 0 && rank <= MODAL_H5_RANK && H5Sget_simple_extent_dims(space, size, NULL) >= 0 &&
               (hsize_t)(first + count) <= size[0];
    if (good) {
        size[0] = (hsize_t)count;
        memory = H5Screate_simple(rank, size, NULL);
        good = memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0;
    }
    if (good && from) good = H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, from) >= 0;
    if (good && to) good = H5Dread(dataset, type, memory, space, H5P_DEFAULT, to) >= 0;
    if (!good)
        status = modal_h5_failed(err, MODAL_ERROR_SYSTEM, name, from ? "cannot be written" : "cannot be read");
    modal_h5_drop(&memory);
    modal_h5_drop(&space);
    return status;
}

/* In pieces, so that the disk works on one while the next is copied to the system's memory. */
static modal_status write_pieces(hid_t dataset, const char *name, modal_h5_type type, int rank, const int64_t *dims,
                                 const void *values, const modal_h5_rows_source *source, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *made = NULL;
    int64_t row = (int64_t)modal_h5_type_bytes(type);
    for (int i = 1; i < rank; i++) row *= dims[i];
    if (!source && dims[0] * row <= MODAL_DISK_PIECE) {
        if (H5Dwrite(dataset, modal_h5_file_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
            status = modal_h5_failed(err, MODAL_ERROR_SYSTEM, name, "cannot be written");
        goto done;
    }
    const int64_t most = row < MODAL_DISK_PIECE ? MODAL_DISK_PIECE / row : 1;
    if (source) MODAL_TRY(modal_alloc(&made, most < dims[0] ? most : dims[0], (size_t)row, name, err));
    for (int64_t first = 0; first < dims[0]; first += most) {
        const int64_t count = dims[0] - first < most ? dims[0] - first : most;
        if (source) MODAL_TRY(source->make(source->context, first, count, made, err));
        MODAL_TRY(move_rows(dataset, name, modal_h5_file_type(type), first, count, source ? made : (const char *)values + first * row,
                            NULL, err));
        modal_h5_start_disk(dataset);
    }
done:
    modal_free(&made);
    return status;
}

static modal_status write_array(hid_t place, const char *name, modal_h5_type type, int rank, const int64_t *dims, const void *values,
                                const modal_h5_rows_source *source, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t space = H5I_INVALID_HID, dataset = H5I_INVALID_HID, chunked = H5I_INVALID_HID;
    hsize_t size[MODAL_H5_RANK], most[MODAL_H5_RANK], chunk[MODAL_H5_RANK];
    int empty = 0;
    for (int i = 0; i < rank; i++) {
        size[i] = most[i] = chunk[i] = (hsize_t)dims[i];
        if (dims[i] > 0) continue;
        empty = 1;
        most[i] = H5S_UNLIMITED;
        chunk[i] = 1;
    }
    /* Only an empty array is chunked: h5repack cannot compress an empty contiguous one. */
    pthread_once(&creations_made, make_creations);
    hid_t creation = array_creation;
    if (empty && creation >= 0) creation = chunked = H5Pcopy(array_creation);
    if (creation < 0 || (empty && H5Pset_chunk(chunked, rank, chunk) < 0)) {
        status = modal_h5_failed(err, MODAL_ERROR_SYSTEM, name, "no creation properties");
        goto done;
    }
    space = H5Screate_simple(rank, size, most);
    if (space >= 0)
        dataset = H5Dcreate2(place, name, modal_h5_file_type(type), space, H5P_DEFAULT, creation,
                             H5P_DEFAULT);
    if (dataset < 0)
        status = modal_h5_failed(err, MODAL_ERROR_SYSTEM, name, "cannot be written");
    else if (!empty)
        status = write_pieces(dataset, name, type, rank, dims, values, source, err);
done:
    status = close_written(&dataset, status, name, err);
    modal_h5_drop(&space);
    modal_h5_drop(&chunked);
    return status;
}

modal_status modal_h5_write_array(hid_t place, const char *name, modal_h5_type type, int rank,
                                  const int64_t *dims, const void *values, modal_error *err)
{
    return write_array(place, name, type, rank, dims, values, NULL, err);
}

modal_status modal_h5_write_array_from(hid_t place, const char *name, modal_h5_type type, int rank, const int64_t *dims,
                                       const modal_h5_rows_source *source, modal_error *err)
{
    return write_array(place, name, type, rank, dims, NULL, source, err);
}

modal_status modal_h5_make_rows(hid_t place, const char *name, modal_h5_type type, int rank, const int64_t *dims,
                                hid_t *dataset, modal_error *err)
{
    hsize_t size[MODAL_H5_RANK];
    for (int i = 0; i < rank; i++) size[i] = (hsize_t)dims[i];
    hid_t creation = timeless(H5P_DATASET_CREATE), space = H5Screate_simple(rank, size, NULL);
    *dataset = H5I_INVALID_HID;
    if (creation >= 0 && space >= 0 && H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) >= 0 &&
        H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY) >= 0)
        *dataset = H5Dcreate2(place, name, modal_h5_file_type(type), space, H5P_DEFAULT, creation, H5P_DEFAULT);
    modal_h5_drop(&space);
    modal_h5_drop(&creation);
    return *dataset < 0 ? modal_h5_failed(err, MODAL_ERROR_SYSTEM, name, "cannot be written") : MODAL_OK;
}

modal_status modal_h5_put_rows(hid_t dataset, const char *name, int64_t first, int64_t count,
                               const double *values, modal_error *err)
{
    return move_rows(dataset, name, H5T_NATIVE_DOUBLE, first, count, values, NULL, err);
}

modal_status modal_h5_get_rows(hid_t dataset, const char *name, int64_t first, int64_t count, double *values,
                               modal_error *err)
{
    return move_rows(dataset, name, H5T_NATIVE_DOUBLE, first, count, NULL, values, err);
}

modal_status modal_h5_end_rows(hid_t *dataset, modal_status status, const char *name, modal_error *err)
{
    return close_written(dataset, status, name, err);
}

modal_status modal_h5_make_growing(hid_t place, const char *name, modal_h5_type type, int rank, const int64_t *dims,
                                   hid_t *dataset, modal_error *err)
{
    hsize_t size[MODAL_H5_RANK], most[MODAL_H5_RANK], chunk[MODAL_H5_RANK];
    for (int i = 0; i < rank; i++) size[i] = most[i] = chunk[i] = (hsize_t)dims[i];
    size[0] = 0, most[0] = H5S_UNLIMITED, chunk[0] = 1;
    hid_t creation = timeless(H5P_DATASET_CREATE), space = H5Screate_simple(rank, size, most);
    *dataset = H5I_INVALID_HID;
    if (creation >= 0 && space >= 0 && H5Pset_chunk(creation, rank, chunk) >= 0 &&
        H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) >= 0)
        *dataset = H5Dcreate2(place, name, modal_h5_file_type(type), space, H5P_DEFAULT, creation, H5P_DEFAULT);
    modal_h5_drop(&space);
    modal_h5_drop(&creation);
    return *dataset < 0 ? modal_h5_failed(err, MODAL_ERROR_SYSTEM, name, "cannot be written") : MODAL_OK;
}

modal_status modal_h5_add_row(hid_t dataset, const char *name, int64_t row, modal_h5_type type, const void *values,
                              modal_error *err)
{
    hsize_t size[MODAL_H5_RANK], first[MODAL_H5_RANK] = {(hsize_t)row}, count[MODAL_H5_RANK];
    hid_t space = H5Dget_space(dataset), memory = H5I_INVALID_HID;
    const int rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, size, NULL);
    int done = 0;
    modal_h5_drop(&space);
    if (rank > 0) {
        memcpy(count, size, sizeof count);
        size[0] = (hsize_t)row + 1, count[0] = 1;
        memory = H5Screate_simple(rank, count, NULL);
        if (memory >= 0 && H5Dset_extent(dataset, size) >= 0) space = H5Dget_space(dataset);
        done = space >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, count, NULL) >= 0 &&
               H5Dwrite(dataset, modal_h5_native_type(type), memory, space, H5P_DEFAULT, values) >= 0;
    }
    const modal_status status = done ? MODAL_OK : modal_h5_failed(err, MODAL_ERROR_SYSTEM, name, "cannot be written");
    modal_h5_drop(&memory);
    modal_h5_drop(&space);
    return status;
}

static modal_status write_attribute(hid_t place, const char *name, hid_t type, const void *value,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t attribute = H5I_INVALID_HID, space = H5Screate(H5S_SCALAR);
    if (space >= 0) attribute = H5Acreate2(place, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0 || H5Awrite(attribute, type, value) < 0)
        status = modal_h5_failed(err, MODAL_ERROR_SYSTEM, name, "attribute cannot be written");
    status = close_written(&attribute, status, name, err);
    modal_h5_drop(&space);
    return status;
}

modal_status modal_h5_write_text(hid_t place, const char *name, const char *text, modal_error *err)
{
    /* HDF5 knows no text of length 0: the empty one is a single NUL. */
    size_t length = strlen(text) ? strlen(text) : 1;
    hid_t type = H5Tcopy(H5T_C_S1);
    modal_status status = MODAL_OK;
    if (type < 0 || H5Tset_size(type, length) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 ||
        H5Tset_cset(type, H5T_CSET_UTF8) < 0)
        status = modal_h5_failed(err, MODAL_ERROR_SYSTEM, name, "no text type");
    else
        status = write_attribute(place, name, type, text, err);
    modal_h5_drop(&type);
    return status;
}

modal_status modal_h5_write_number(hid_t place, const char *name, double value, modal_error *err)
{
    return write_attribute(place, name, H5T_IEEE_F64LE, &value, err);
}

modal_status modal_h5_write_integer(hid_t place, const char *name, int64_t value, modal_error *err)
{
    return write_attribute(place, name, H5T_STD_I64LE, &value, err);
}

modal_status modal_h5_write_external(hid_t place, const char *name, const char *file_name,
                                     modal_error *err)
{
    if (H5Lcreate_external(file_name, "/", place, name, H5P_DEFAULT, H5P_DEFAULT) < 0)
        return modal_h5_failed(err, MODAL_ERROR_SYSTEM, name, "external link cannot be written");
    return MODAL_OK;
}
