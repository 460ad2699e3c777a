/* SPDX-License-Identifier: Apache-2.0 */
/* PLY, binary little-endian, a file a frame, and sequence.ply.series, by which ParaView knows the
 * times. A vertex's numbers lie together in the file, a frame's arrays apart in memory: pieces of
 * vertices are brought together in the file's buffer. */
#include "formats/sequences/sequence_ply.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/sequences/diverging_map.h"
#include "formats/sequences/file_out.h"
#include "formats/sequences/sequence_parts.h"
#include "formats/meshes/number_text.h"
#include "lib/base/memory.h"

typedef struct ply_writer {
    modal_file_out out;
    char *folder;
    char *faces; /* [n_triangles, 13] the end of every file */
    int64_t n_points, n_triangles, n_written;
    int n_arrays, arrays[MODAL_MOST_ARRAYS]; /* those of points: their places in the frames */
    int components[MODAL_MOST_ARRAYS];       /* of each of them */
    int stride;                              /* bytes of a vertex */
    char *properties;                        /* the head's lines */
    const modal_sequence_colour *colour;     /* or NULL */
    uint8_t map[256][3];
    const uint8_t *texture;                  /* [n_points, 4] of every frame, or NULL */
} ply_writer;

static modal_status size(const modal_sequence_info *info, int64_t *disk_bytes, int64_t *memory_bytes,
                         modal_error *err)
{
    int64_t faces = 0, frame = 0, colours = 0;
    *memory_bytes = 0;
    if (info->n_points > INT32_MAX || info->n_triangles > INT32_MAX ||
        !modal_size_multiply(info->n_triangles, 13, &faces) ||
        !modal_sequence_frame_bytes(info, &frame) ||
        !modal_size_multiply(info->n_points, (info->colour ? 3 : 0) + (info->texture ? 4 : 0), &colours) ||
        !modal_size_add(frame, faces + colours + 5000 + 64, &frame) || /* head, rounding to blocks, series */
        !modal_size_multiply(frame, info->n_frames, disk_bytes))
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "ply: counts points in 32 bits, %" PRId64 " points", info->n_points);
    *memory_bytes = faces + (1 << 20);
    return MODAL_OK;
}

static void drop(void **writer)
{
    ply_writer *w = *writer;
    if (w) {
        modal_file_out_free(&w->out);
        modal_free(&w->folder);
        modal_free(&w->faces);
        modal_free(&w->properties);
    }
    modal_free(&w);
    *writer = NULL;
}

/* The arrays of points, and how the head describes them. */
static modal_status list_properties(ply_writer *w, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t line = MODAL_SEQUENCE_LABEL + 16;
    int64_t length = 0;
    MODAL_TRY(modal_alloc(&w->properties, MODAL_MOST_ARRAYS * MODAL_ARRAY_COMPONENTS + 7, (size_t)line, "properties", err));
    for (int i = 0; i < info->arrays.n; i++) {
        const modal_array *a = &info->arrays.all[i];
        if (a->of_cells) continue;
        w->arrays[w->n_arrays] = i;
        w->components[w->n_arrays++] = a->components;
        w->stride += 4 * a->components;
        for (int k = 0; k < a->components; k++) {
            char label[MODAL_SEQUENCE_LABEL];
            modal_sequence_label(a, k, 1, label);
            length += snprintf(w->properties + length, (size_t)line, "property float %s\n", label);
        }
    }
    w->texture = info->texture ? info->texture->colours : NULL;
    if (w->texture) {
        w->stride += 4;
        length += snprintf(w->properties + length, 4 * (size_t)line,
                           "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\n");
    }
    w->colour = info->colour;
    if (!w->colour) goto done;
    w->stride += 3;
    snprintf(w->properties + length, 3 * (size_t)line, "property uchar red\nproperty uchar green\nproperty uchar blue\n");
    modal_diverging_map(w->map);
done:
    return status;
}

static modal_status begin(void **writer, const modal_sequence_target *target,
                          const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    ply_writer *w = NULL;
    *writer = NULL;
    MODAL_TRY(modal_alloc_zero(&w, 1, sizeof *w, "writer", err));
    *writer = w;
    w->out.file = -1;
    w->n_points = info->n_points;
    w->n_triangles = info->n_triangles;
    MODAL_TRY(list_properties(w, info, err));
    MODAL_TRY(modal_copy_text(&w->folder, target->folder, SIZE_MAX, err));
    MODAL_TRY(modal_alloc(&w->faces, info->n_triangles, 13, "faces", err));
    for (int64_t t = 0; t < info->n_triangles; t++) {
        w->faces[13 * t] = 3;
        for (int k = 0; k < 3; k++) {
            const int32_t vertex = (int32_t)info->triangles[3 * t + k];
            memcpy(w->faces + 13 * t + 1 + 4 * k, &vertex, 4);
        }
    }
done:
    if (status != MODAL_OK) drop(writer);
    return status;
}

static modal_status write_head(ply_writer *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_file_out_printf(&w->out, err,
                                    "ply\nformat binary_little_endian 1.0\nelement vertex %" PRId64
                                    "\n", w->n_points));
    MODAL_TRY(modal_file_out_write(&w->out, w->properties, (int64_t)strlen(w->properties), err));
    MODAL_TRY(modal_file_out_printf(&w->out, err,
                                    "element face %" PRId64
                                    "\nproperty list uchar int vertex_indices\nend_header\n",
                                    w->n_triangles));
done:
    return status;
}

/* One array of n vertices into records of `stride` bytes. */
static void scatter(char *to, int64_t stride, const float *from, int components, int64_t n)
{
    if (components == 3)
        for (int64_t v = 0; v < n; v++) memcpy(to + v * stride, from + 3 * v, 12);
    else
        for (int64_t v = 0; v < n; v++)
            memcpy(to + v * stride, from + components * v, 4 * (size_t)components);
}

static void scatter_colours(char *to, int64_t stride, const ply_writer *w, const float *values, int64_t n)
{
    for (int64_t v = 0; v < n; v++)
        memcpy(to + v * stride, w->map[modal_diverging_entry((double)values[v] - w->colour->middle, w->colour->range)], 3);
}

static modal_status write_vertices(ply_writer *w, const modal_frames *frames, int64_t frame,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t stride = w->stride, piece = MODAL_FILE_OUT_PIECE / stride;
    if (w->n_arrays == 1 && !w->colour && !w->texture) /* as they are */
        return modal_file_out_write(&w->out, frames->arrays[0] + 3 * w->n_points * frame, 12 * w->n_points, err);
    for (int64_t first = 0, n; first < w->n_points; first += n) {
        n = w->n_points - first < piece ? w->n_points - first : piece;
        char *to = NULL;
        int64_t at = 0;
        MODAL_TRY(modal_file_out_reserve(&w->out, n * stride, &to, err));
        for (int a = 0; a < w->n_arrays; a++) {
            const int components = w->components[a];
            scatter(to + at, stride,
                    frames->arrays[w->arrays[a]] + components * (w->n_points * frame + first),
                    components, n);
            at += 4 * components;
        }
        for (int64_t v = 0; w->texture && v < n; v++) memcpy(to + at + v * stride, w->texture + 4 * (first + v), 4);
        if (w->texture) at += 4;
        if (w->colour)
            scatter_colours(to + at, stride, w, w->colour->values + w->n_points * frame + first, n);
        modal_file_out_filled(&w->out, to + n * stride);
    }
done:
    return status;
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    ply_writer *w = writer;
    for (int64_t f = 0; f < frames->n_frames; f++) {
        MODAL_TRY(modal_file_out_open_frame(&w->out, w->folder, w->n_written + f, "ply", err));
        MODAL_TRY(write_head(w, err));
        MODAL_TRY(write_vertices(w, frames, f, err));
        MODAL_TRY(modal_file_out_write(&w->out, w->faces, 13 * w->n_triangles, err));
        MODAL_TRY(modal_file_out_close(&w->out, err));
    }
    w->n_written += frames->n_frames;
done:
    return status;
}

static modal_status end(void **writer, const modal_sequence_target *target,
                        const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    ply_writer *w = *writer;
    char time[MODAL_NUMBER_TEXT + 1];
    MODAL_TRY(modal_file_out_open(&w->out, target->files[0], err));
    MODAL_TRY(modal_file_out_printf(&w->out, err,
                                    "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n"));
    for (int64_t f = 0; f < info->n_frames; f++) {
        *modal_put_double(time, info->times[f]) = '\0';
        MODAL_TRY(modal_file_out_printf(&w->out, err,
                                        "    {\"name\": \"ply/%06" PRId64 ".ply\", \"time\": %s}%s\n",
                                        f, time, f + 1 < info->n_frames ? "," : ""));
    }
    MODAL_TRY(modal_file_out_printf(&w->out, err, "  ]\n}\n"));
    MODAL_TRY(modal_file_out_close(&w->out, err));
done:
    drop(writer);
    return status;
}

static void skip(void *writer, int64_t frame) { ((ply_writer *)writer)->n_written = frame; }

const modal_sequence_format modal_sequence_ply = {
    .name = "ply", .files = {"sequence.ply.series"}, .kinds = {"ply.series"}, .folder = "ply",
    .extension = "ply", .needs_frames = 1,
    .holds_surface = 1, .carries = modal_sequence_of_points, .size = size, .begin = begin, .add = add, .end = end, .abort = drop, .skip = skip};
