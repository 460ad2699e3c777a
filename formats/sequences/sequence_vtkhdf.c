/* SPDX-License-Identifier: Apache-2.0 */
/* The writer. The moving arrays are contiguous datasets, allocated early and never filled, so that
 * H5Dwrite of some frames becomes one pwrite of the caller's array. Large sequences on a disk go past HDF5 and the page
 * cache to the same places (direct_out.h): the same bytes.
 * Everything else is written, and the file closed and opened again, before the first frame: when the
 * disk fills up later, HDF5 has nothing left that it would try to write again while it closes the
 * file; and a file whose process was killed is sound, but for its frames. */
#include "formats/sequences/sequence_vtkhdf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/sequences/direct_out.h"
#include "formats/sequences/file_out.h"
#include "formats/h5/h5_private.h"
#include "formats/sequences/sequence_parts.h"
#include "lib/base/memory.h"

struct modal_sequence_writer {
    char *path;
    hid_t file;
    modal_array_list list;
    hid_t arrays[MODAL_MOST_ARRAYS]; /* H5I_INVALID_HID behind the list, and where it is not open */
    int64_t rows[MODAL_MOST_ARRAYS]; /* of a frame */
    int64_t n_frames, n_written;
    double precision;
    modal_rounder *rounder; /* NULL: all values as they are */
    modal_direct_out *direct; /* NULL: HDF5 writes the arrays */
    int64_t places[MODAL_MOST_ARRAYS]; /* of the arrays in the file, with `direct` */
};

/* HDF5's own words for a full disk are long and hide it. To be called where errno was 0 before what
 * failed, and before anything else is called. */
static void blame_the_system(modal_error *err)
{
    int code = errno;
    if (err->status == MODAL_ERROR_SYSTEM &&
        (code == ENOSPC || code == EFBIG || code == EDQUOT || code == EIO || code == EROFS)) {
        memset(err, 0, sizeof *err);
        modal_error_set(err, MODAL_ERROR_SYSTEM, "write error, %s", strerror(code));
    }
}

/* Hands a failure on, with the path in front. */
static modal_status hand_on(modal_status status, modal_error *local, const char *path,
                            modal_error *err)
{
    if (status == MODAL_OK) return status;
    modal_error_context(local, "%s", path);
    return modal_error_set(err, status, "%s", local->message);
}

/* The path is put in front by the public functions. */
static modal_status failed(const char *where, const char *what, modal_error *err)
{
    return modal_h5_failed(err, MODAL_ERROR_SYSTEM, where, what);
}

/* [rows, components], or [rows] where there is one number a row. */
static hid_t rows_of(const modal_array *array, int64_t rows)
{
    const hsize_t dims[2] = {(hsize_t)rows, (hsize_t)array->components};
    return H5Screate_simple(dims[1] > 1 ? 2 : 1, dims, NULL);
}

/* The rows [first, first + n) of an array of so many rows; H5I_INVALID_HID where that fails. */
static hid_t select_rows(const modal_array *array, int64_t rows, int64_t first, int64_t n)
{
    const hsize_t start[2] = {(hsize_t)first, 0};
    const hsize_t count[2] = {(hsize_t)n, (hsize_t)array->components};
    hid_t space = rows_of(array, rows);
    if (space >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0) {
        H5Sclose(space);
        space = H5I_INVALID_HID;
    }
    return space;
}

static modal_status make_arrays(modal_sequence_writer *w, hid_t vtk, const modal_sequence_info *info,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    char path[MODAL_SEQUENCE_PATH];
    hid_t points = H5I_INVALID_HID, cells = H5I_INVALID_HID, plist = H5I_INVALID_HID;
    if (info->uv || info->texture) { /* the head has made it */
        if ((points = H5Gopen2(vtk, "PointData", H5P_DEFAULT)) < 0) MODAL_TRY(failed("/VTKHDF/PointData", "cannot be opened", err));
    } else {
        MODAL_TRY(modal_h5_make_group(vtk, "PointData", &points, err));
    }
    if (modal_sequence_has_cell_arrays(&w->list)) MODAL_TRY(modal_h5_make_group(vtk, "CellData", &cells, err));
    for (int i = 0; i < w->list.n; i++) {
        const modal_array *a = &w->list.all[i];
        hid_t space = rows_of(a, w->n_frames * w->rows[i]);
        plist = modal_sequence_array_layout(info, i);
        w->arrays[i] = H5Dcreate2(i == 0 ? vtk : a->of_cells ? cells : points, a->name, H5T_IEEE_F32LE, space,
                                  H5P_DEFAULT, plist, H5P_DEFAULT);
        if (space >= 0) H5Sclose(space);
        modal_h5_drop(&plist);
        if (w->arrays[i] < 0) {
            status = failed(modal_sequence_path(&w->list, i, path), "cannot be made", err);
            goto done;
        }
    }
done:
    status = modal_h5_end_group(&cells, status, err);
    return modal_h5_end_group(&points, status, err);
}

static int make_view(const modal_sequence_writer *w, hid_t group, int array, int64_t frame)
{
    const modal_array *a = &w->list.all[array];
    const int64_t n = w->rows[array];
    char path[MODAL_SEQUENCE_PATH];
    hid_t source = select_rows(a, w->n_frames * n, frame * n, n), space = rows_of(a, n), view = H5I_INVALID_HID;
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE); /* mappings add up: a list serves one dataset */
    int fine = source >= 0 && space >= 0 && plist >= 0 && H5Pset_obj_track_times(plist, 0) >= 0 &&
               H5Pset_virtual(plist, space, ".", modal_sequence_path(&w->list, array, path), source) >= 0 &&
               (view = H5Dcreate2(group, a->name, H5T_IEEE_F32LE, space, H5P_DEFAULT, plist,
                                  H5P_DEFAULT)) >= 0 &&
               H5Dclose(view) >= 0;
    if (plist >= 0 && H5Pclose(plist) < 0) fine = 0;
    if (space >= 0) H5Sclose(space);
    if (source >= 0) H5Sclose(source);
    return fine;
}

/* One frame's rows of every moving array under /xdmf/NNNNNN. */
static modal_status make_views(const modal_sequence_writer *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t views = H5I_INVALID_HID, group = H5I_INVALID_HID;
    int fine = 1;
    MODAL_TRY(modal_h5_make_group(w->file, "xdmf", &views, err));
    for (int64_t f = 0; f < w->n_frames && fine; f++) {
        char name[32];
        snprintf(name, sizeof name, "%06" PRId64, f);
        MODAL_TRY(modal_h5_make_group(views, name, &group, err));
        for (int i = 0; i < w->list.n && fine; i++) fine = make_view(w, group, i, f);
        MODAL_TRY(modal_h5_end_group(&group, MODAL_OK, err));
    }
    if (!fine) status = failed("/xdmf", "the views of the frames cannot be made", err);
done:
    status = modal_h5_end_group(&group, status, err);
    return modal_h5_end_group(&views, status, err);
}

static modal_status write_all_but_frames(modal_sequence_writer *w, const modal_sequence_info *info,
                                         modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t vtk = H5I_INVALID_HID;
    MODAL_TRY(modal_h5_create(&w->file, w->path, err));
    /* Virtual datasets came with HDF5 1.10; everything else stays as 1.8 writes it. */
    if (H5Fset_libver_bounds(w->file, H5F_LIBVER_V18, H5F_LIBVER_V110) < 0)
        MODAL_TRY(failed("HDF5", "no virtual datasets", err));
    MODAL_TRY(modal_sequence_write_head(w->file, &vtk, info, err));
    MODAL_TRY(make_arrays(w, vtk, info, err));
    MODAL_TRY(make_views(w, err));
    MODAL_TRY(modal_h5_end_group(&vtk, MODAL_OK, err));
    if (H5Fflush(w->file, H5F_SCOPE_LOCAL) < 0)
        MODAL_TRY(failed("HDF5 file", "cannot be flushed", err));
done:
    return modal_h5_end_group(&vtk, status, err);
}

int64_t modal_sequence_direct_from = INT64_C(256) << 20;

static int n_direct_threads(const modal_sequence_info *info)
{
    return info->threads < 1 ? 1 : info->threads < 4 ? info->threads : 4;
}

/* Whether the moving arrays go past HDF5 and the cache: all of them lie in the file as they are in memory, and there is
 * more than a cache does well with. */
static int goes_direct(const modal_sequence_info *info)
{
    int64_t frame, all;
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && info->precision <= 0 && modal_sequence_frame_bytes(info, &frame) &&
           modal_size_multiply(frame, info->n_frames, &all) && all >= modal_sequence_direct_from;
}

/* HDF5 has given every array its place and will not write to it any more. */
static modal_status open_direct(modal_sequence_writer *w, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t end = 0;
    if (!goes_direct(info)) return MODAL_OK;
    for (int i = 0; i < w->list.n; i++) {
        const haddr_t place = H5Dget_offset(w->arrays[i]);
        if (place == HADDR_UNDEF) return MODAL_OK;
        w->places[i] = (int64_t)place;
        const int64_t array_end = w->places[i] + w->n_frames * 4 * modal_sequence_floats(info, i);
        if (array_end > end) end = array_end;
    }
    MODAL_TRY(modal_direct_out_open(&w->direct, w->path, end, n_direct_threads(info), err));
done:
    return status;
}

/* Closes whatever is open. The file's close is tried even after a failure: what HDF5 still holds
 * would otherwise be written when the process ends. */
static modal_status close_all(modal_sequence_writer *w, modal_status status, modal_error *err)
{
    char path[MODAL_SEQUENCE_PATH];
    for (int i = 0; i < MODAL_MOST_ARRAYS; i++) {
        if (w->arrays[i] >= 0 && H5Dclose(w->arrays[i]) < 0 && status == MODAL_OK)
            status = failed(modal_sequence_path(&w->list, i, path), "cannot be closed", err);
        w->arrays[i] = H5I_INVALID_HID;
    }
    status = modal_h5_finish(&w->file, status, err);
    H5Eclear2(H5E_DEFAULT);
    return status;
}

modal_sequence_writer *modal_sequence_abort(modal_sequence_writer *writer)
{
    if (!writer) return NULL;
    modal_direct_out_close(writer->direct);
    close_all(writer, MODAL_ERROR_SYSTEM, NULL);
    modal_rounder_delete(writer->rounder);
    modal_free(&writer->path);
    modal_free(&writer);
    return NULL;
}

static modal_status new_writer(modal_sequence_writer **writer, const char *path,
                               const modal_sequence_info *info, modal_error *err)
{
    modal_sequence_writer *w = NULL;
    modal_h5_start();
    modal_status status = modal_sequence_check_info(info, err);
    if (status == MODAL_OK) status = modal_alloc_zero(&w, 1, sizeof *w, "writer", err);
    if (status != MODAL_OK) return status;
    w->file = H5I_INVALID_HID;
    w->list = info->arrays;
    for (int i = 0; i < MODAL_MOST_ARRAYS; i++) {
        w->arrays[i] = H5I_INVALID_HID;
        w->rows[i] = i < w->list.n ? modal_sequence_rows(info, i) : 0;
    }
    w->n_frames = info->n_frames;
    w->precision = info->precision;
    *writer = w;
    status = modal_copy_text(&w->path, path, SIZE_MAX, err);
    if (status == MODAL_OK && info->precision > 0) status = modal_rounder_new(&w->rounder, info, err);
    return status;
}

/* An array as make_arrays made it. */
static int array_is_sound(const modal_sequence_writer *w, int array)
{
    const int components = w->list.all[array].components, rank = components > 1 ? 2 : 1;
    hsize_t dims[2] = {0, 1};
    const hid_t dataset = w->arrays[array];
    const hsize_t rows = (hsize_t)(w->n_frames * w->rows[array]);
    hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    hid_t plist = H5Dget_create_plist(dataset);
    const int sound = space >= 0 && type >= 0 && plist >= 0 &&
                      H5Sget_simple_extent_ndims(space) == rank &&
                      H5Sget_simple_extent_dims(space, dims, NULL) == rank && dims[0] == rows &&
                      dims[1] == (hsize_t)components && H5Tequal(type, H5T_IEEE_F32LE) > 0 &&
                      (modal_sequence_is_rounded(w->precision, &w->list.all[array]) ||
                       (H5Pget_layout(plist) == H5D_CONTIGUOUS &&
                        H5Dget_storage_size(dataset) == rows * 4 * (hsize_t)components));
    if (plist >= 0) H5Pclose(plist);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    return sound;
}

/* Opens its arrays, which must be as make_arrays made them. */
static modal_status open_arrays(modal_sequence_writer *w, hid_t file, modal_error *err)
{
    modal_status status = MODAL_OK;
    char path[MODAL_SEQUENCE_PATH];
    for (int i = 0; i < w->list.n; i++) {
        w->arrays[i] = H5Dopen2(file, modal_sequence_path(&w->list, i, path), H5P_DEFAULT);
        if (w->arrays[i] < 0 || !array_is_sound(w, i)) {
            H5Eclear2(H5E_DEFAULT);
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: not as this sequence has it", path);
        }
    }
done:
    return status;
}

/* Opens a file that has everything but (some of) the frames. */
static modal_status open_file(modal_sequence_writer *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t access = H5I_INVALID_HID;
    MODAL_TRY(modal_h5_access(&access, err));
    if (H5Fis_hdf5(w->path) <= 0 || (w->file = H5Fopen(w->path, H5F_ACC_RDWR, access)) < 0)
        MODAL_TRY(modal_h5_failed(err, MODAL_ERROR_INPUT, "HDF5 file", "truncated or damaged"));
    MODAL_TRY(open_arrays(w, w->file, err));
done:
    modal_h5_drop(&access);
    return status;
}

modal_status modal_sequence_begin(modal_sequence_writer **writer, const char *path,
                                  const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sequence_writer *w = NULL;
    modal_error local = {0};
    *writer = NULL;
    MODAL_TRY(new_writer(&w, path, info, &local));
    errno = 0;
    status = close_all(w, write_all_but_frames(w, info, &local), &local);
    /* Opened again, so that a file that is gone on with later goes through the same steps. */
    if (status == MODAL_OK) status = open_file(w, &local);
    if (status == MODAL_OK) status = open_direct(w, info, &local);
    if (status != MODAL_OK) {
        blame_the_system(&local);
        goto done;
    }
    *writer = w;
    w = NULL;
done:
    modal_sequence_abort(w);
    return hand_on(status, &local, path, err);
}

modal_status modal_sequence_reopen(modal_sequence_writer **writer, const char *path,
                                   const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sequence_writer *w = NULL;
    modal_error local = {0};
    *writer = NULL;
    MODAL_TRY(new_writer(&w, path, info, &local));
    MODAL_TRY(open_file(w, &local));
    MODAL_TRY(open_direct(w, info, &local));
    *writer = w;
    w = NULL;
done:
    modal_sequence_abort(w);
    return hand_on(status, &local, path, err);
}

modal_status modal_sequence_read_back(modal_sequence_writer *w, int64_t frame,
                                      float *const arrays[MODAL_MOST_ARRAYS], modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_error local = {0};
    char path[MODAL_SEQUENCE_PATH];
    for (int i = 0; i < w->list.n && status == MODAL_OK; i++) {
        const int64_t n = w->rows[i];
        hid_t space = select_rows(&w->list.all[i], w->n_frames * n, frame * n, n);
        hid_t memory = rows_of(&w->list.all[i], n);
        if (space < 0 || memory < 0 ||
            H5Dread(w->arrays[i], H5T_IEEE_F32LE, memory, space, H5P_DEFAULT, arrays[i]) < 0)
            status = modal_h5_failed(&local, MODAL_ERROR_INPUT, modal_sequence_path(&w->list, i, path), "cannot be read");
        if (memory >= 0) H5Sclose(memory);
        if (space >= 0) H5Sclose(space);
    }
    return hand_on(status, &local, w->path, err);
}

void modal_sequence_keep(modal_sequence_writer *w, int64_t n_frames) { w->n_written = n_frames; }

static modal_status append_array(const modal_sequence_writer *w, int array, int64_t n_frames,
                                 const float *values, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_array *a = &w->list.all[array];
    const int64_t n = w->rows[array], row = (int64_t)sizeof(float) * a->components;
    char path[MODAL_SEQUENCE_PATH];
    if (w->direct)
        return modal_direct_out_write(w->direct, w->places[array] + w->n_written * n * row, values, n_frames * n * row, err);
    hid_t space = select_rows(a, w->n_frames * n, w->n_written * n, n_frames * n);
    hid_t memory = rows_of(a, n_frames * n);
    if (space < 0 || memory < 0 ||
        H5Dwrite(w->arrays[array], H5T_IEEE_F32LE, memory, space, H5P_DEFAULT, values) < 0)
        status = failed(modal_sequence_path(&w->list, array, path), "write error", err);
    if (status != MODAL_OK) blame_the_system(err);
    if (memory >= 0) H5Sclose(memory);
    if (space >= 0) H5Sclose(space);
    H5Eclear2(H5E_DEFAULT);
    return status;
}

modal_status modal_sequence_append(modal_sequence_writer *writer,
                                   const modal_frames *frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_error local = {0};
    char path[MODAL_SEQUENCE_PATH];
    const int64_t n = frames->n_frames;
    errno = 0;
    if (n < 0 || n > writer->n_frames - writer->n_written)
        MODAL_FAIL(&local, MODAL_ERROR_USAGE, "%" PRId64 " frames after %" PRId64 " of %" PRId64, n,
                   writer->n_written, writer->n_frames);
    for (int i = 0; i < MODAL_MOST_ARRAYS; i++) {
        const int announced = i < writer->list.n;
        const int rounds = announced && modal_sequence_is_rounded(writer->precision, &writer->list.all[i]);
        const int given = frames->arrays[i] || (rounds && frames->encoded[i].bytes);
        if (given != announced)
            MODAL_FAIL(&local, MODAL_ERROR_USAGE, "array %d, %s: %s", i,
                       announced ? modal_sequence_path(&writer->list, i, path) : "(none)",
                       given ? "not announced" : "announced, not given");
    }
    for (int i = 0; i < writer->list.n && n > 0; i++)
        if (!modal_sequence_is_rounded(writer->precision, &writer->list.all[i]))
            MODAL_TRY(append_array(writer, i, n, frames->arrays[i], &local));
    if (writer->rounder) {
        status = modal_rounder_write(writer->rounder, writer->arrays, writer->n_written, frames, &local);
        if (status != MODAL_OK) blame_the_system(&local);
        H5Eclear2(H5E_DEFAULT);
        if (status != MODAL_OK) goto done;
    }
    writer->n_written += n;
    if (n > 0 && !writer->direct) modal_h5_start_disk(writer->file);
done:
    return hand_on(status, &local, writer->path, err);
}

modal_status modal_sequence_end(modal_sequence_writer **writer, modal_error *err)
{
    modal_sequence_writer *w = *writer;
    modal_status status = MODAL_OK;
    modal_error local = {0};
    if (w->n_written != w->n_frames)
        status = modal_error_set(&local, MODAL_ERROR_USAGE,
                                 "%" PRId64 " of %" PRId64 " frames written", w->n_written,
                                 w->n_frames);
    w->direct = modal_direct_out_close(w->direct);
    errno = 0;
    status = close_all(w, status, &local);
    if (status != MODAL_OK) blame_the_system(&local);
    status = hand_on(status, &local, w->path, err);
    *writer = modal_sequence_abort(w);
    return status;
}

/* ---- as one of the formats ---- */

static modal_status size(const modal_sequence_info *info, int64_t *disk_bytes, int64_t *memory_bytes,
                         modal_error *err)
{
    *memory_bytes = info->precision > 0 ? modal_rounder_bytes(info)
                    : goes_direct(info) ? modal_direct_out_bytes(n_direct_threads(info))
                                        : 0;
    return modal_sequence_bytes(info, disk_bytes, err);
}

static modal_status begin(void **writer, const modal_sequence_target *target,
                          const modal_sequence_info *info, modal_error *err)
{
    modal_sequence_writer *w = NULL;
    modal_status status = modal_sequence_begin(&w, target->files[0], info, err);
    *writer = w;
    return status;
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    return modal_sequence_append(writer, frames, err);
}

static modal_status finish(const modal_sequence_target *target, const modal_sequence_info *info, modal_error *err)
{
    if (!target->files[1]) return MODAL_OK;
    return modal_sequence_write_xdmf(target->files[1], modal_sequence_vtkhdf.files[0], info, err);
}

static modal_status end(void **writer, const modal_sequence_target *target,
                        const modal_sequence_info *info, modal_error *err)
{
    modal_sequence_writer *w = *writer;
    *writer = NULL;
    modal_status status = modal_sequence_end(&w, err);
    if (status != MODAL_OK) return status;
    return finish(target, info, err);
}

static void drop(void **writer) { *writer = modal_sequence_abort(*writer); }

/* ---- shares ---- */

static modal_status lay_out(const char *path, const modal_sequence_info *info, modal_error *err)
{
    modal_sequence_writer *w = NULL;
    const modal_status status = modal_sequence_begin(&w, path, info, err);
    modal_sequence_abort(w); /* the file was closed once with all but its frames */
    return status;
}

static modal_status places(const char *path, const modal_sequence_info *info, modal_sequence_place *places, int *n, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sequence_writer *w = NULL;
    const modal_h5_source source = {path, NULL, 0};
    modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, err}};
    MODAL_TRY(new_writer(&w, path, info, err));
    /* As readers do: for writing HDF5 would lock it, which is for one process. */
    MODAL_TRY(modal_h5_open(&in, &source));
    MODAL_TRY(open_arrays(w, in.file, err));
    *n = w->list.n;
    for (int i = 0; i < w->list.n; i++) {
        const haddr_t place = H5Dget_offset(w->arrays[i]);
        if (place == HADDR_UNDEF) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: an array without a place", path);
        places[i] = (modal_sequence_place){i, 0, (int64_t)place, 4 * modal_sequence_floats(info, i)};
    }
done:
    modal_sequence_abort(w); /* closes the arrays, too */
    return modal_h5_close(&in, status);
}

static modal_status string(void *writer, const char *path, modal_error *err)
{
    modal_sequence_writer *w = writer;
    return modal_sequence_read_piece(path, &w->list, w->rows, w->precision, w, modal_sequence_append, err);
}

const modal_sequence_format modal_sequence_vtkhdf = {
    .name = "vtkhdf", .files = {"sequence.vtkhdf", "sequence.xdmf"}, .kinds = {"vtkhdf", "xdmf"},
    .needs_frames = 1, .holds_surface = 1, .holds_volume = 1,
    .size = size, .begin = begin, .add = add, .end = end, .abort = drop, .lay_out = lay_out, .places = places, .finish = finish,
    .piece = &modal_sequence_vtkhdf_piece, .string = string};
