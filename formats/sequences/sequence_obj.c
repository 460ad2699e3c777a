/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/sequence_obj.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/sequences/file_out.h"
#include "formats/meshes/number_text.h"
#include "lib/base/memory.h"

/* "v " and "vn ", three numbers of at most 15 characters, their blanks, the end of the line. */
enum { MOST_LINE = 3 + 3 * 16, PIECE = MODAL_FILE_OUT_PIECE / MOST_LINE };

typedef struct obj_writer {
    modal_file_out out;
    char *folder;
    char *faces; /* the end of every file */
    int64_t faces_bytes, n_points, n_written;
    int normals; /* their place in the frames; 0: there are none */
} obj_writer;

/* The place of the normals in the frames, or 0. */
static int normals_of(const modal_sequence_info *info)
{
    for (int i = 1; i < info->arrays.n; i++)
        if (modal_sequence_is_normals(&info->arrays.all[i])) return i;
    return 0;
}

/* Of "f a//a b//b c//c": the name of a point twice a corner, if there are normals. */
static int64_t face_bytes(const modal_sequence_info *info, int normals)
{
    char digits[MODAL_NUMBER_TEXT];
    const int64_t length = modal_put_integer(digits, info->n_points) - digits;
    return 2 + 3 * (normals ? 2 * length + 3 : length + 1);
}

static modal_status size(const modal_sequence_info *info, int64_t *disk_bytes, int64_t *memory_bytes,
                         modal_error *err)
{
    int64_t faces = 0, frame = 0;
    *memory_bytes = 0;
    const int normals = normals_of(info);
    if (!modal_size_multiply(info->n_triangles, face_bytes(info, normals), &faces) ||
        !modal_size_multiply(info->n_points, (normals ? 2 : 1) * 40, &frame) ||
        !modal_size_add(frame, faces + 5000, &frame) ||
        !modal_size_multiply(frame, info->n_frames, disk_bytes))
        return modal_error_set(err, MODAL_ERROR_INPUT, "obj: too large, %" PRId64 " points",
                               info->n_points);
    *memory_bytes = faces + (1 << 20);
    return MODAL_OK;
}

static void discard(obj_writer *w)
{
    if (w) {
        modal_file_out_free(&w->out);
        modal_free(&w->folder);
        modal_free(&w->faces);
    }
    modal_free(&w);
}

static void drop(void **writer)
{
    discard(*writer);
    *writer = NULL;
}

static modal_status make_faces(obj_writer *w, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc(&w->faces, info->n_triangles, (size_t)face_bytes(info, w->normals), "faces", err));
    char *to = w->faces;
    for (int64_t t = 0; t < info->n_triangles; t++) {
        *to++ = 'f';
        for (int k = 0; k < 3; k++) {
            *to++ = ' ';
            const char *corner = to;
            to = modal_put_integer(to, info->triangles[3 * t + k] + 1);
            if (!w->normals) continue;
            const size_t length = (size_t)(to - corner);
            *to++ = '/';
            *to++ = '/';
            memcpy(to, corner, length);
            to += length;
        }
        *to++ = '\n';
    }
    w->faces_bytes = to - w->faces;
done:
    return status;
}

static modal_status new_writer(obj_writer **writer, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = modal_alloc_zero(writer, 1, sizeof **writer, "writer", err);
    if (status != MODAL_OK) return status;
    (*writer)->out.file = -1;
    (*writer)->n_points = info->n_points;
    (*writer)->normals = normals_of(info);
    return make_faces(*writer, info, err);
}

static modal_status begin(void **writer, const modal_sequence_target *target,
                          const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    obj_writer *w = NULL;
    *writer = NULL;
    MODAL_TRY(new_writer(&w, info, err));
    MODAL_TRY(modal_copy_text(&w->folder, target->folder, SIZE_MAX, err));
    *writer = w;
    w = NULL;
done:
    discard(w);
    return status;
}

/* Lines of `keyword` (with its blank) and three numbers. */
static modal_status put_vectors(modal_file_out *out, const char *keyword, const float *values,
                                int64_t n, modal_error *err)
{
    modal_status status = MODAL_OK;
    const size_t length = strlen(keyword);
    for (int64_t first = 0; first < n; first += PIECE) {
        const int64_t last = n - first < PIECE ? n : first + PIECE;
        char *to = NULL;
        MODAL_TRY(modal_file_out_reserve(out, (last - first) * MOST_LINE, &to, err));
        for (int64_t v = first; v < last; v++) {
            memcpy(to, keyword, length);
            to = modal_put_float(to + length, values[3 * v]);
            *to++ = ' ';
            to = modal_put_float(to, values[3 * v + 1]);
            *to++ = ' ';
            to = modal_put_float(to, values[3 * v + 2]);
            *to++ = '\n';
        }
        modal_file_out_filled(out, to);
    }
done:
    return status;
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    obj_writer *w = writer;
    const float *normals = w->normals ? frames->arrays[w->normals] : NULL;
    for (int64_t f = 0; f < frames->n_frames; f++) {
        const int64_t at = 3 * w->n_points * f;
        MODAL_TRY(modal_file_out_open_frame(&w->out, w->folder, w->n_written + f, "obj", err));
        MODAL_TRY(put_vectors(&w->out, "v ", frames->arrays[0] + at, w->n_points, err));
        if (normals) MODAL_TRY(put_vectors(&w->out, "vn ", normals + at, w->n_points, err));
        MODAL_TRY(modal_file_out_write(&w->out, w->faces, w->faces_bytes, err));
        MODAL_TRY(modal_file_out_close(&w->out, err));
    }
    w->n_written += frames->n_frames;
done:
    return status;
}

static modal_status end(void **writer, const modal_sequence_target *target,
                        const modal_sequence_info *info, modal_error *err)
{
    (void)target, (void)info, (void)err;
    drop(writer); /* every file is closed already */
    return MODAL_OK;
}

static int carries(const modal_array *array)
{
    return modal_sequence_is_points(array) || modal_sequence_is_normals(array);
}

const modal_sequence_format modal_sequence_obj = {
    .name = "obj", .folder = "obj", .extension = "obj", .needs_frames = 1,
    .holds_surface = 1, .carries = carries, .size = size, .begin = begin, .add = add, .end = end, .abort = drop};

/* ---- rest.obj ---- */

static modal_status rest_size(const modal_sequence_info *info, int64_t *disk_bytes,
                              int64_t *memory_bytes, modal_error *err)
{
    modal_sequence_info one = *info;
    one.n_frames = 1;
    one.arrays.n = 1;
    modal_status status = size(&one, disk_bytes, memory_bytes, err);
    int64_t positions = 0;
    if (status == MODAL_OK && modal_size_multiply(info->n_points, 12, &positions))
        *memory_bytes += positions;
    return status;
}

/* The surface at rest, each object in its rest pose: x = R xbar + p, in the points' order. */
static modal_status rest_positions(const modal_sequence_scene *scene, float *to, modal_error *err)
{
    const modal_basis *b = scene->basis;
    for (int32_t i = 0; i < b->n_objects; i++) {
        const modal_shape *s = &b->shapes[b->objects[i].shape];
        const double *t = b->objects[i].rest_pose;
        for (int64_t v = 0; v < s->surface.n_vertices; v++) {
            const double *x = s->surface.rest_positions + 3 * v;
            float *point = to + 3 * (scene->stored_order ? v : s->surface.user_vertex[v]);
            for (int k = 0; k < 3; k++) {
                const double value = t[4 * k] * x[0] + t[4 * k + 1] * x[1] + t[4 * k + 2] * x[2] + t[4 * k + 3];
                if (!(fabs(value) <= FLT_MAX))
                    return modal_error_set(err, MODAL_ERROR_INPUT,
                                           "rest.obj: object %d, vertex %" PRId64 ": position does not fit float32, %g",
                                           i, scene->stored_order ? v : s->surface.user_vertex[v], value);
                point[k] = (float)value;
            }
        }
        to += 3 * s->surface.n_vertices;
    }
    return MODAL_OK;
}

static modal_status rest_begin(void **writer, const modal_sequence_target *target,
                               const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sequence_info bare = *info;
    obj_writer *w = NULL;
    float *positions = NULL;
    bare.arrays.n = 1;
    *writer = NULL;
    MODAL_TRY(new_writer(&w, &bare, err));
    MODAL_TRY(modal_alloc(&positions, info->n_points, 12, "rest positions", err));
    MODAL_TRY(rest_positions(info->scene, positions, err));
    MODAL_TRY(modal_file_out_open(&w->out, target->files[0], err));
    MODAL_TRY(put_vectors(&w->out, "v ", positions, info->n_points, err));
    MODAL_TRY(modal_file_out_write(&w->out, w->faces, w->faces_bytes, err));
    MODAL_TRY(modal_file_out_close(&w->out, err));
done:
    modal_free(&positions);
    discard(w);
    return status;
}

static modal_status rest_add(void *writer, const modal_frames *frames, modal_error *err)
{
    (void)writer, (void)frames, (void)err;
    return MODAL_OK;
}

const modal_sequence_format modal_sequence_rest = {
    .files = {"rest.obj"}, .kinds = {"obj"}, .needs_scene = 1,
    .holds_surface = 1, .carries = modal_sequence_is_points, .size = rest_size, .begin = rest_begin, .add = rest_add, .end = end, .abort = drop};
