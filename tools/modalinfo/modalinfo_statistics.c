/* SPDX-License-Identifier: Apache-2.0 */
/* --statistics: how the arrays of a sequence are distributed, frame by frame. */
#include <inttypes.h>
#include <math.h>

#include "formats/h5/h5_util.h"
#include "formats/sequences/sequence_checked.h"
#include "formats/sequences/sequence_vtkhdf.h"
#include "lib/base/memory.h"
#include "lib/base/quantiles.h"
#include "tools/modalinfo/modalinfo.h"

static const char *const names[5] = {"least", "quantile_02", "median", "quantile_98", "most"};

/* Every frame of one array of n numbers a frame; to [n_frames]. */
static modal_status of_array(const modal_h5_in *in, const modal_h5_place *place, const char *name, int64_t n, int64_t n_frames,
                             float *values, json_t *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_h5_rows *rows = NULL;
    int64_t dims[1] = {n * n_frames};
    MODAL_TRY(modal_h5_rows_open(in, place, name, MODAL_H5_F32, 1, dims, MODAL_H5_REQUIRED, &rows));
    for (int64_t f = 0; rows && f < n_frames; f++) {
        double quantiles[5];
        json_t *frame = json_object();
        json_array_append_new(to, frame);
        MODAL_TRY(modal_h5_rows_read(rows, n * f, n, values, err));
        for (int64_t i = 0; i < n; i++)
            if (!isfinite(values[i]))
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: frame %" PRId64 ", number %" PRId64 ": not finite, %g", name, f, i,
                           (double)values[i]);
        modal_quantiles(values, n, values + n, quantiles);
        for (int i = 0; i < 5; i++) json_object_set_new(frame, names[i], json_real(quantiles[i]));
    }
done:
    modal_h5_rows_close(rows);
    return status;
}

modal_status modalinfo_add_statistics(const char *path, json_t *info, modal_error *err)
{
    modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, err}};
    modal_h5_place root = {H5I_INVALID_HID, ""}, vtk = root, about = root, data = root;
    modal_array_list list = {0};
    float *values = NULL;
    json_t *all = json_object();
    json_object_set_new(info, "statistics", all);
    const int64_t n_frames = json_integer_value(json_object_get(info, "frames")), points = json_integer_value(json_object_get(info, "points"));
    const int64_t triangles = json_integer_value(json_object_get(info, "triangles")), cells = json_integer_value(json_object_get(info, "cells"));
    const int64_t rows[2] = {points, cells > 0 ? cells : triangles};
    modal_status status = modal_h5_open(&in, &(modal_h5_source){path, NULL, 0});
    if (status != MODAL_OK) goto done;
    MODAL_TRY(modal_alloc(&values, 2 * (rows[0] > rows[1] ? rows[0] : rows[1]), sizeof *values, "statistics", err));
    MODAL_TRY(modal_h5_check_root(&in, MODAL_SEQUENCE_TYPE, MODAL_SEQUENCE_MAJOR));
    MODAL_TRY(modal_h5_enter(&in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_enter(&in, &root, "VTKHDF", MODAL_H5_REQUIRED, &vtk));
    MODAL_TRY(modal_h5_enter(&in, &root, "modal", MODAL_H5_REQUIRED, &about));
    MODAL_TRY(modal_sequence_read_list(&in, &about, &vtk, &list));
    for (int i = 0; i < list.n; i++) {
        const modal_array *array = &list.all[i];
        if (array->components != 1) continue;
        json_t *frames = json_array();
        json_object_set_new(all, array->name, frames);
        MODAL_TRY(modal_h5_enter(&in, &vtk, array->of_cells ? "CellData" : "PointData", MODAL_H5_REQUIRED, &data));
        MODAL_TRY(of_array(&in, &data, array->name, rows[array->of_cells != 0], n_frames, values, frames, err));
        modal_h5_leave(&data);
    }
done:
    modal_h5_leave(&data);
    modal_h5_leave(&about);
    modal_h5_leave(&vtk);
    modal_h5_leave(&root);
    status = modal_h5_close(&in, status);
    modal_free(&values);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
    return status;
}

void modalinfo_print_statistics(FILE *to, const json_t *info)
{
    enum { MOST_FRAMES = 20 };
    const char *name;
    json_t *frames, *frame;
    size_t i;
    json_object_foreach (json_object_get(info, "statistics"), name, frames) {
        fprintf(to, "\n%s\n  %6s", name, "frame");
        for (int k = 0; k < 5; k++) fprintf(to, " %12s", names[k]);
        fputc('\n', to);
        json_array_foreach (frames, i, frame) {
            if (i == MOST_FRAMES) {
                fprintf(to, "  %zu more: see --json\n", json_array_size(frames) - i);
                break;
            }
            fprintf(to, "  %6zu", i);
            for (int k = 0; k < 5; k++) fprintf(to, " %12.6g", json_number_value(json_object_get(frame, names[k])));
            fputc('\n', to);
        }
    }
}
