/* SPDX-License-Identifier: Apache-2.0 */
/* --map: where the arrays of a file are, and in a sequence those of every frame, so that a range request fetches one. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/h5/h5_map.h"
#include "formats/json/json_text.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "tools/modalinfo/modalinfo.h"

static const modal_h5_mapped *find(const modal_h5_mapped *all, int64_t n, const char *path)
{
    for (int64_t i = 0; i < n; i++)
        if (strcmp(all[i].path, path) == 0) return &all[i];
    return NULL;
}

/* The moving array of that name. */
static const modal_h5_mapped *find_array(const modal_h5_mapped *all, int64_t n, const char *name)
{
    static const char *const folders[] = {"/VTKHDF/PointData/", "/VTKHDF/CellData/"};
    char path[MODAL_H5_PATH];
    const modal_h5_mapped *found = strcmp(name, "Points") == 0 ? find(all, n, "/VTKHDF/Points") : NULL;
    for (int i = 0; i < 2 && !found; i++)
        if (snprintf(path, sizeof path, "%s%s", folders[i], name) < (int)sizeof path) found = find(all, n, path);
    return found;
}

static json_t *list_arrays(const modal_h5_mapped *all, int64_t n, int in_one_piece, int64_t *n_views)
{
    json_t *list = json_array();
    *n_views = 0;
    for (int64_t i = 0; i < n; i++) {
        const modal_h5_mapped *a = &all[i];
        if (strcmp(a->layout, "virtual") == 0) { /* what they show lies elsewhere in the list */
            ++*n_views;
            continue;
        }
        if ((a->offset >= 0) != in_one_piece) continue;
        json_t *one = json_object(), *shape = json_array();
        json_object_set_new(one, "path", modal_json_string(a->path));
        json_object_set_new(one, "type", json_string(a->type));
        for (int k = 0; k < a->rank; k++) json_array_append_new(shape, json_integer(a->shape[k]));
        json_object_set_new(one, "shape", shape);
        if (in_one_piece) {
            json_object_set_new(one, "offset", json_integer(a->offset));
            json_object_set_new(one, "length", json_integer(a->length));
        } else {
            json_object_set_new(one, "layout", json_string(a->layout));
        }
        json_array_append_new(list, one);
    }
    return list;
}

static modal_status read_times(const char *path, const modal_h5_mapped *values, int64_t n_frames, double **times, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int file = modal_disk_open(path);
    MODAL_TRY(modal_alloc(times, n_frames, sizeof **times, "times", err));
    if (file < 0 || modal_disk_read(file, values->offset, *times, values->length) != values->length)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be read", path);
done:
    if (file >= 0) close(file);
    return status;
}

/* Of each frame its time, and where its part of every array is. */
static modal_status add_frames(const char *path, const json_t *info, const modal_h5_mapped *all, int64_t n, json_t *map, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_frames = json_integer_value(json_object_get(info, "frames"));
    const modal_h5_mapped *values = find(all, n, "/VTKHDF/Steps/Values");
    json_t *frames = json_array(), *name;
    double *times = NULL;
    size_t k;
    if (!values || values->offset < 0 || strcmp(values->type, "<f8") != 0 || values->length != 8 * n_frames)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: /VTKHDF/Steps/Values: not in one piece", path);
    MODAL_TRY(read_times(path, values, n_frames, &times, err));
    for (int64_t f = 0; f < n_frames; f++) {
        json_t *frame = json_object();
        json_object_set_new(frame, "time", json_real(times[f]));
        json_array_foreach (json_object_get(info, "arrays"), k, name) {
            const modal_h5_mapped *a = find_array(all, n, json_string_value(name));
            if (!a || a->offset < 0 || a->length % n_frames != 0) continue; /* chunks: among the others */
            const int64_t length = a->length / n_frames;
            json_object_set_new(frame, json_string_value(name), json_pack("[II]", (json_int_t)(a->offset + f * length), (json_int_t)length));
        }
        json_array_append_new(frames, frame);
    }
    json_object_set(map, "frames", frames);
done:
    json_decref(frames);
    modal_free(&times);
    return status;
}

modal_status modalinfo_map(const char *path, const json_t *info, json_t **map, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_h5_source source = {path, NULL, 0};
    modal_h5_in in = {H5I_INVALID_HID, 0, {NULL, err}};
    modal_h5_mapped *all = NULL;
    int64_t n = 0, n_views = 0;
    *map = json_object();
    MODAL_TRY(modal_h5_open(&in, &source));
    MODAL_TRY(modal_h5_map(&in, &all, &n, err));
    json_object_set_new(*map, "file", modal_json_string(path));
    json_object_set(*map, "type", json_object_get(info, "type"));
    json_object_set_new(*map, "bytes", json_integer(in.file_bytes));
    json_object_set_new(*map, "arrays", list_arrays(all, n, 1, &n_views));
    json_object_set_new(*map, "others", list_arrays(all, n, 0, &n_views));
    json_object_set_new(*map, "views", json_integer(n_views));
    if (strcmp(json_string_value(json_object_get(info, "type")), "sequence") == 0) MODAL_TRY(add_frames(path, info, all, n, *map, err));
done:
    status = modal_h5_close(&in, status);
    modal_free(&all);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", path);
        json_decref(*map);
        *map = NULL;
    }
    return status;
}
