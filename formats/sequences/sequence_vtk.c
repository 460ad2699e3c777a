/* SPDX-License-Identifier: Apache-2.0 */
/* Every frame's file repeats the cells, which no reader lets us share; they are 32-bit numbers where
 * these suffice. Arrays are written as they are: no piece of a frame is copied. */
#include "formats/sequences/sequence_vtk.h"

#include <inttypes.h>
#include <string.h>

#include "formats/sequences/file_out.h"
#include "formats/sequences/sequence_parts.h"
#include "formats/meshes/number_text.h"
#include "lib/base/memory.h"

typedef struct vtk_writer {
    modal_file_out out;
    const modal_sequence_format *format;
    char *folder;
    char *connectivity, *offsets; /* 4 or 8 bytes a number */
    uint8_t *types;               /* NULL: polygons */
    double *times;
    int64_t n_points, n_cells, n_corners, n_written;
    int index_bytes;
    modal_array_list arrays;
    int64_t floats[MODAL_MOST_ARRAYS]; /* of a frame, of each array */
} vtk_writer;

static int64_t corners_of(const modal_sequence_info *info)
{
    return info->volume ? info->volume->offsets[info->volume->n_cells] : 3 * info->n_triangles;
}

static int index_bytes_of(const modal_sequence_info *info)
{
    return info->n_points <= INT32_MAX && corners_of(info) <= INT32_MAX ? 4 : 8;
}

static modal_status size(const modal_sequence_info *info, int64_t *disk_bytes, int64_t *memory_bytes,
                         modal_error *err)
{
    int64_t cells = 0, frame = 0;
    *memory_bytes = 0;
    if (!modal_size_add(corners_of(info), 2 * modal_sequence_n_cells(info), &cells) ||
        !modal_size_multiply(cells, index_bytes_of(info), &cells) ||
        !modal_sequence_frame_bytes(info, &frame) ||
        !modal_size_add(frame, cells + 6500, &frame) || /* head, rounding to blocks, .pvd */
        !modal_size_multiply(frame, info->n_frames, disk_bytes))
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: too large, %" PRId64 " points",
                               info->volume ? "vtu" : "vtp", info->n_points);
    *memory_bytes = cells + 8 * info->n_frames + (1 << 20);
    return MODAL_OK;
}

static void drop(void **writer)
{
    vtk_writer *w = *writer;
    if (w) {
        modal_file_out_free(&w->out);
        modal_free(&w->folder);
        modal_free(&w->connectivity);
        modal_free(&w->offsets);
        modal_free(&w->types);
        modal_free(&w->times);
    }
    modal_free(&w);
    *writer = NULL;
}

static void put_index(char *to, int64_t i, int64_t value, int bytes)
{
    memcpy(to + i * bytes, &value, (size_t)bytes); /* little-endian hosts only, as all of this */
}

static modal_status make_cells(vtk_writer *w, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t *corners = info->volume ? info->volume->connectivity : info->triangles;
    w->n_cells = modal_sequence_n_cells(info);
    w->n_corners = corners_of(info);
    w->index_bytes = index_bytes_of(info);
    MODAL_TRY(modal_alloc(&w->connectivity, w->n_corners, (size_t)w->index_bytes, "cells", err));
    MODAL_TRY(modal_alloc(&w->offsets, w->n_cells, (size_t)w->index_bytes, "cells", err));
    for (int64_t i = 0; i < w->n_corners; i++) put_index(w->connectivity, i, corners[i], w->index_bytes);
    for (int64_t i = 0; i < w->n_cells; i++) /* each cell's end */
        put_index(w->offsets, i, info->volume ? info->volume->offsets[i + 1] : 3 * (i + 1), w->index_bytes);
    if (!info->volume) goto done;
    MODAL_TRY(modal_alloc(&w->types, w->n_cells, 1, "cells", err));
    memcpy(w->types, info->volume->types, (size_t)w->n_cells);
done:
    return status;
}

static modal_status begin_as(void **writer, const modal_sequence_format *format,
                             const modal_sequence_target *target, const modal_sequence_info *info,
                             modal_error *err)
{
    modal_status status = MODAL_OK;
    vtk_writer *w = NULL;
    *writer = NULL;
    MODAL_TRY(modal_alloc_zero(&w, 1, sizeof *w, "writer", err));
    *writer = w;
    w->out.file = -1;
    w->format = format;
    w->n_points = info->n_points;
    w->arrays = info->arrays;
    for (int i = 0; i < w->arrays.n; i++) w->floats[i] = modal_sequence_floats(info, i);
    MODAL_TRY(modal_copy_text(&w->folder, target->folder, SIZE_MAX, err));
    MODAL_TRY(make_cells(w, info, err));
    MODAL_TRY(modal_alloc(&w->times, info->n_frames, sizeof *w->times, "times", err));
    memcpy(w->times, info->times, (size_t)info->n_frames * sizeof *w->times);
done:
    if (status != MODAL_OK) drop(writer);
    return status;
}

static modal_status begin_vtp(void **writer, const modal_sequence_target *target,
                              const modal_sequence_info *info, modal_error *err)
{
    return begin_as(writer, &modal_sequence_vtp, target, info, err);
}

static modal_status begin_vtu(void **writer, const modal_sequence_target *target,
                              const modal_sequence_info *info, modal_error *err)
{
    return begin_as(writer, &modal_sequence_vtu, target, info, err);
}

/* An array's description; it lies at *offset of the appended data, with its length of 8 bytes in
 * front. */
static modal_status describe(vtk_writer *w, const char *type, const char *name, int components,
                             int64_t bytes, int64_t *offset, modal_error *err)
{
    const int64_t at = *offset;
    *offset += 8 + bytes;
    return modal_file_out_printf(&w->out, err,
                                 "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
                                 "format=\"appended\" offset=\"%" PRId64 "\"/>\n",
                                 type, name, components, at);
}

/* The arrays of points but the first one, or those of cells; no element where there are none. */
static modal_status describe_arrays(vtk_writer *w, int of_cells, int64_t *offset, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *const element = of_cells ? "CellData" : "PointData";
    int n = 0;
    for (int i = 1; i < w->arrays.n; i++) {
        const modal_array *a = &w->arrays.all[i];
        const char *attribute = modal_sequence_vtk_attribute(a);
        if (!a->of_cells != !of_cells) continue;
        if (n++ == 0 && attribute)
            MODAL_TRY(modal_file_out_printf(&w->out, err, "      <%s %s=\"%s\">\n", element, attribute, a->name));
        else if (n == 1)
            MODAL_TRY(modal_file_out_printf(&w->out, err, "      <%s>\n", element));
        MODAL_TRY(describe(w, "Float32", a->name, a->components, 4 * w->floats[i], offset, err));
    }
    if (n > 0) MODAL_TRY(modal_file_out_printf(&w->out, err, "      </%s>\n", element));
done:
    return status;
}

static modal_status write_head(vtk_writer *w, int64_t frame, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_file_out *out = &w->out;
    const char *const kind = w->types ? "UnstructuredGrid" : "PolyData";
    const char *const cells = w->types ? "Cells" : "Polys";
    const char *const index = w->index_bytes == 4 ? "Int32" : "Int64";
    char time[MODAL_NUMBER_TEXT + 1];
    int64_t offset = 0;
    *modal_put_double(time, w->times[frame]) = '\0';
    MODAL_TRY(modal_file_out_printf(
        out, err,
        "<?xml version=\"1.0\"?>\n"
        "<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
        "  <%s>\n    <FieldData>\n      <DataArray type=\"Float64\" Name=\"TimeValue\" "
        "NumberOfTuples=\"1\" format=\"ascii\">%s</DataArray>\n    </FieldData>\n", kind, kind, time));
    MODAL_TRY(modal_file_out_printf(
        out, err,
        w->types ? "    <Piece NumberOfPoints=\"%" PRId64 "\" NumberOfCells=\"%" PRId64 "\">\n      <Points>\n"
                 : "    <Piece NumberOfPoints=\"%" PRId64 "\" NumberOfVerts=\"0\" NumberOfLines=\"0\" "
                   "NumberOfStrips=\"0\" NumberOfPolys=\"%" PRId64 "\">\n      <Points>\n",
        w->n_points, w->n_cells));
    MODAL_TRY(describe(w, "Float32", w->arrays.all[0].name, 3, 4 * w->floats[0], &offset, err));
    MODAL_TRY(modal_file_out_printf(out, err, "      </Points>\n"));
    MODAL_TRY(describe_arrays(w, 0, &offset, err));
    MODAL_TRY(describe_arrays(w, 1, &offset, err));
    MODAL_TRY(modal_file_out_printf(out, err, "      <%s>\n", cells));
    MODAL_TRY(describe(w, index, "connectivity", 1, w->index_bytes * w->n_corners, &offset, err));
    MODAL_TRY(describe(w, index, "offsets", 1, w->index_bytes * w->n_cells, &offset, err));
    if (w->types) MODAL_TRY(describe(w, "UInt8", "types", 1, w->n_cells, &offset, err));
    MODAL_TRY(modal_file_out_printf(out, err,
                                    "      </%s>\n    </Piece>\n  </%s>\n"
                                    "  <AppendedData encoding=\"raw\">\n_", cells, kind));
done:
    return status;
}

static modal_status put_array(vtk_writer *w, const void *values, int64_t bytes, modal_error *err)
{
    modal_status status = modal_file_out_write(&w->out, &bytes, sizeof bytes, err);
    return status != MODAL_OK ? status : modal_file_out_write(&w->out, values, bytes, err);
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    vtk_writer *w = writer;
    for (int64_t f = 0; f < frames->n_frames; f++) {
        MODAL_TRY(modal_file_out_open_frame(&w->out, w->folder, w->n_written, w->format->extension, err));
        MODAL_TRY(write_head(w, w->n_written, err));
        for (int pass = 0; pass < 2; pass++) /* as write_head describes them: of points, of cells */
            for (int i = 0; i < w->arrays.n; i++)
                if (!w->arrays.all[i].of_cells == !pass)
                    MODAL_TRY(put_array(w, frames->arrays[i] + w->floats[i] * f, 4 * w->floats[i], err));
        MODAL_TRY(put_array(w, w->connectivity, w->index_bytes * w->n_corners, err));
        MODAL_TRY(put_array(w, w->offsets, w->index_bytes * w->n_cells, err));
        if (w->types) MODAL_TRY(put_array(w, w->types, w->n_cells, err));
        MODAL_TRY(modal_file_out_printf(&w->out, err, "\n  </AppendedData>\n</VTKFile>\n"));
        MODAL_TRY(modal_file_out_close(&w->out, err));
        w->n_written++;
    }
done:
    return status;
}

static modal_status end(void **writer, const modal_sequence_target *target,
                        const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    vtk_writer *w = *writer;
    char time[MODAL_NUMBER_TEXT + 1];
    MODAL_TRY(modal_file_out_open(&w->out, target->files[0], err));
    MODAL_TRY(modal_file_out_printf(&w->out, err,
                                    "<?xml version=\"1.0\"?>\n"
                                    "<VTKFile type=\"Collection\" version=\"0.1\">\n  <Collection>\n"));
    for (int64_t f = 0; f < info->n_frames; f++) {
        *modal_put_double(time, info->times[f]) = '\0';
        MODAL_TRY(modal_file_out_printf(
            &w->out, err, "    <DataSet timestep=\"%s\" part=\"0\" file=\"%s/%06" PRId64 ".%s\"/>\n", time,
            w->format->folder, f, w->format->extension));
    }
    MODAL_TRY(modal_file_out_printf(&w->out, err, "  </Collection>\n</VTKFile>\n"));
    MODAL_TRY(modal_file_out_close(&w->out, err));
done:
    drop(writer);
    return status;
}

static void skip(void *writer, int64_t frame) { ((vtk_writer *)writer)->n_written = frame; }

const modal_sequence_format modal_sequence_vtp = {
    .name = "vtp", .files = {"sequence.pvd"}, .kinds = {"pvd"}, .folder = "vtp", .extension = "vtp",
    .needs_frames = 1, .holds_surface = 1,
    .size = size, .begin = begin_vtp, .add = add, .end = end, .abort = drop, .skip = skip};
const modal_sequence_format modal_sequence_vtu = {
    .name = "vtu", .files = {"sequence.pvd"}, .kinds = {"pvd"}, .folder = "vtu", .extension = "vtu",
    .needs_frames = 1, .holds_volume = 1,
    .size = size, .begin = begin_vtu, .add = add, .end = end, .abort = drop, .skip = skip};
