/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/sequence_read.h"

#include <inttypes.h>
#include <string.h>

#include "formats/sequences/sequence_checked.h"
#include "lib/base/memory.h"

/* Without a list of findings the first broken rule is the error. */
struct modal_sequence_reader {
    sequence_checked c;
    modal_h5_rows *points;
    char *path;
};

static modal_status read_times(sequence_checked *c, const modal_h5_place *vtk)
{
    modal_status status = MODAL_OK;
    modal_h5_place steps = {H5I_INVALID_HID, ""};
    int64_t dims[1] = {-1};
    MODAL_TRY(modal_h5_enter(&c->in, vtk, "Steps", MODAL_H5_REQUIRED, &steps));
    MODAL_TRY(modal_h5_read_integer(&c->in, &steps, "NSteps", 1, 999999, &c->info.n_frames));
    dims[0] = c->info.n_frames;
    MODAL_TRY(modal_h5_read_array(&c->in, &steps, "Values", MODAL_H5_F64, 1, dims, MODAL_H5_REQUIRED, &c->times));
    for (int64_t f = 0; f < dims[0]; f++)
        if (!(c->times[f] - c->times[f] == 0.0) || (f > 0 && !(c->times[f] > c->times[f - 1])))
            MODAL_TRY(modal_broken(&c->in.checker, "/VTKHDF/Steps/Values", "frame %" PRId64 ": not after the one before, %.17g",
                                   f, c->times[f]));
done:
    modal_h5_leave(&steps);
    return status;
}

static modal_status read_head(modal_sequence_reader *r)
{
    modal_status status = MODAL_OK;
    sequence_checked *c = &r->c;
    modal_h5_place root = {H5I_INVALID_HID, ""}, vtk = root;
    int64_t dims[2] = {-1, 3};
    MODAL_TRY(modal_h5_check_root(&c->in, MODAL_SEQUENCE_TYPE, MODAL_SEQUENCE_MAJOR));
    MODAL_TRY(modal_h5_enter(&c->in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_enter(&c->in, &root, "VTKHDF", MODAL_H5_REQUIRED, &vtk));
    if (modal_h5_has_link(&vtk, "Connectivity"))
        MODAL_TRY(modal_broken(&c->in.checker, "/VTKHDF", "the sequence of a solid: a surface is needed"));
    MODAL_TRY(modal_sequence_read_one(c, &vtk, "NumberOfPoints", &c->info.n_points));
    MODAL_TRY(modal_sequence_check_surface(c, &vtk));
    MODAL_TRY(read_times(c, &vtk));
    if (!modal_size_multiply(c->info.n_points, c->info.n_frames, &dims[0]))
        MODAL_TRY(modal_broken(&c->in.checker, "/VTKHDF/NumberOfPoints", "size overflow, %" PRId64, c->info.n_points));
    MODAL_TRY(modal_h5_rows_open(&c->in, &vtk, "Points", MODAL_H5_F32, 2, dims, MODAL_H5_REQUIRED, &r->points));
done:
    modal_h5_leave(&vtk);
    modal_h5_leave(&root);
    H5Eclear2(H5E_DEFAULT);
    return status;
}

modal_status modal_sequence_reader_open(modal_sequence_reader **reader, const char *path, modal_sequence_surface *surface,
                                        modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sequence_reader *r = NULL;
    *reader = NULL;
    MODAL_TRY(modal_alloc_zero(&r, 1, sizeof *r, "reader", err));
    r->c = (sequence_checked){.in = {H5I_INVALID_HID, 0, {NULL, err}},
                              .info = {.n_points = -1, .n_triangles = -1, .n_frames = -1}};
    MODAL_TRY(modal_copy_text(&r->path, path, SIZE_MAX, err));
    status = modal_h5_open(&r->c.in, &(modal_h5_source){path, NULL, 0});
    if (status == MODAL_OK) status = read_head(r);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", path);
        goto done;
    }
    *surface = (modal_sequence_surface){.n_points = r->c.info.n_points, .n_triangles = r->c.info.n_triangles,
                                        .n_frames = r->c.info.n_frames, .triangles = r->c.triangles, .times = r->c.times};
    *reader = r;
    r = NULL;
done:
    modal_sequence_reader_close(r);
    return status;
}

modal_status modal_sequence_reader_points(modal_sequence_reader *r, int64_t frame, float *points, modal_error *err)
{
    const int64_t n = r->c.info.n_points;
    modal_status status = modal_h5_rows_read(r->points, n * frame, n, points, err);
    for (int64_t i = 0; status == MODAL_OK && i < 3 * n; i++)
        if (!(points[i] - points[i] == 0.0f)) /* NaN and infinities */
            status = modal_error_set(err, MODAL_ERROR_INPUT, "/VTKHDF/Points: frame %" PRId64 ", point %" PRId64 ": not finite, %g",
                                     frame, i / 3, (double)points[i]);
    if (status != MODAL_OK) modal_error_context(err, "%s", r->path);
    return status;
}

static modal_status read_field(const modal_sequence_reader *r, const char *name, int64_t frame, float *values, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_h5_in *in = &r->c.in;
    const int64_t n = r->c.info.n_points;
    int64_t dims[1] = {n * r->c.info.n_frames}; /* fits: Points has three times as many */
    modal_h5_place root = {H5I_INVALID_HID, ""}, vtk = root, data = root;
    modal_h5_rows *rows = NULL;
    MODAL_TRY(modal_h5_enter(in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_enter(in, &root, "VTKHDF", MODAL_H5_REQUIRED, &vtk));
    MODAL_TRY(modal_h5_enter(in, &vtk, "PointData", MODAL_H5_OPTIONAL, &data));
    if (strchr(name, '/') || !modal_h5_has_link(&data, name)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "no field of that name at its points, %s", name);
    MODAL_TRY(modal_h5_rows_open(in, &data, name, MODAL_H5_F32, 1, dims, MODAL_H5_REQUIRED, &rows));
    MODAL_TRY(modal_h5_rows_read(rows, n * frame, n, values, err));
    for (int64_t i = 0; i < n; i++)
        if (!(values[i] - values[i] == 0.0f))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: frame %" PRId64 ", point %" PRId64 ": not finite, %g", name, frame, i, (double)values[i]);
done:
    modal_h5_rows_close(rows);
    modal_h5_leave(&data);
    modal_h5_leave(&vtk);
    modal_h5_leave(&root);
    H5Eclear2(H5E_DEFAULT);
    return status;
}

modal_status modal_sequence_reader_field(modal_sequence_reader *r, const char *name, int64_t frame, float *values, modal_error *err)
{
    r->c.in.checker.err = err; /* that of open may be gone */
    const modal_status status = read_field(r, name, frame, values, err);
    if (status != MODAL_OK) modal_error_context(err, "%s", r->path);
    return status;
}

modal_sequence_reader *modal_sequence_reader_close(modal_sequence_reader *r)
{
    if (!r) return NULL;
    modal_error ignored = {0};
    modal_h5_rows_close(r->points);
    r->c.in.checker.err = &ignored; /* nothing was written: a failing close loses nothing */
    if (r->c.in.file >= 0) modal_h5_close(&r->c.in, MODAL_OK);
    modal_free(&r->c.times);
    modal_free(&r->c.triangles);
    modal_free(&r->path);
    modal_free(&r);
    return NULL;
}
