/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/sequence_obj.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/sequences/file_out.h"
#include "formats/meshes/number_text.h"
#include "formats/sequences/sequence_paint.h"
#include "lib/base/memory.h"

/* "v " and "vn ", three numbers of at most 15 characters, their blanks, the end of the line. */
enum { MOST_LINE = 3 + 3 * 16, PIECE = MODAL_FILE_OUT_PIECE / MOST_LINE };

typedef struct obj_writer {
    modal_file_out out;
    char *folder;
    char *head;  /* of every file, before the vertices: the library, texture coordinates */
    char *faces; /* the end of every file */
    int64_t head_bytes, faces_bytes, n_points, n_written;
    int normals; /* their place in the frames; 0: there are none */
    const modal_creases *creases; /* borrowed from the info, or NULL */
    float *of_wedges;             /* [n_wedges, 3] their normals */
} obj_writer;

/* The place of the normals in the frames, or 0. */
static int normals_of(const modal_sequence_info *info)
{
    for (int i = 1; i < info->arrays.n; i++)
        if (modal_sequence_is_normals(&info->arrays.all[i])) return i;
    return 0;
}

/* Of "f a/b/c a/b/c a/b/c" with what there is of b and c; and the end of the line. */
static int64_t face_bytes(const modal_sequence_info *info, int normals)
{
    char digits[MODAL_NUMBER_TEXT];
    int64_t most = info->n_points;
    if (info->frame_creases && info->frame_creases->n_wedges > most) most = info->frame_creases->n_wedges;
    if (info->paint && info->paint->n_uv > most) most = info->paint->n_uv;
    const int64_t length = modal_put_integer(digits, most) - digits;
    return 2 + 3 * (1 + length * (1 + (info->paint != NULL) + (normals || info->frame_creases)) + 2);
}

/* Bytes of "usemtl NAME" before every run of triangles. */
static int64_t name_bytes(const modal_sequence_info *info)
{
    int64_t bytes = 0;
    for (int64_t t = 0; info->paint && t < info->paint->n_triangles; t++)
        if (t == 0 || info->paint->triangle_paint[t] != info->paint->triangle_paint[t - 1])
            bytes += 8 + (int64_t)strlen(info->paint->paints[info->paint->triangle_paint[t]].name);
    return bytes;
}

static int64_t head_bytes(const modal_sequence_info *info) { return info->paint ? 100 + 60 * info->paint->n_uv : 0; }

static modal_status size(const modal_sequence_info *info, int64_t *disk_bytes, int64_t *memory_bytes,
                         modal_error *err)
{
    int64_t faces = 0, frame = 0, wedges = 0;
    *memory_bytes = 0;
    const int normals = normals_of(info);
    if (!modal_size_multiply(info->n_triangles, face_bytes(info, normals), &faces) ||
        !modal_size_multiply(info->n_points, (normals ? 2 : 1) * 40, &frame) ||
        !modal_size_multiply(info->frame_creases ? info->frame_creases->n_wedges : 0, 40, &wedges) ||
        !modal_size_add(faces, name_bytes(info) + head_bytes(info), &faces) || !modal_size_add(frame, faces + wedges + 5000, &frame) ||
        !modal_size_multiply(frame, info->n_frames, disk_bytes))
        return modal_error_set(err, MODAL_ERROR_INPUT, "obj: too large, %" PRId64 " points",
                               info->n_points);
    *memory_bytes = faces + wedges + (1 << 20);
    return MODAL_OK;
}

static void discard(obj_writer *w)
{
    if (w) {
        modal_file_out_free(&w->out);
        modal_free(&w->folder);
        modal_free(&w->head);
        modal_free(&w->faces);
        modal_free(&w->of_wedges);
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
    const modal_sequence_paint *paint = info->paint;
    MODAL_TRY(modal_alloc(&w->faces, info->n_triangles * face_bytes(info, w->normals) + name_bytes(info), 1, "faces", err));
    char *to = w->faces;
    for (int64_t t = 0; t < info->n_triangles; t++) {
        if (paint && (t == 0 || paint->triangle_paint[t] != paint->triangle_paint[t - 1])) {
            to = stpcpy(stpcpy(to, "usemtl "), paint->paints[paint->triangle_paint[t]].name);
            *to++ = '\n';
        }
        *to++ = 'f';
        for (int64_t k = 3 * t; k < 3 * t + 3; k++) {
            const int64_t uv = paint ? paint->triangle_uv[k] : -1;
            const int64_t normal = w->creases ? w->creases->corners[k] : w->normals ? info->triangles[k] : -1;
            *to++ = ' ';
            to = modal_put_integer(to, info->triangles[k] + 1);
            if (uv < 0 && normal < 0) continue;
            *to++ = '/';
            if (uv >= 0) to = modal_put_integer(to, uv + 1);
            if (normal < 0) continue;
            *to++ = '/';
            to = modal_put_integer(to, normal + 1);
        }
        *to++ = '\n';
    }
    w->faces_bytes = to - w->faces;
done:
    return status;
}

static modal_status make_head(obj_writer *w, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (!info->paint) return MODAL_OK;
    MODAL_TRY(modal_alloc(&w->head, head_bytes(info), 1, "texture coordinates", err));
    char *to = stpcpy(w->head, "mtllib ../sequence.mtl\n");
    for (int64_t i = 0; i < info->paint->n_uv; i++)
        to += snprintf(to, 60, "vt %.9g %.9g\n", info->paint->uv[2 * i], info->paint->uv[2 * i + 1]); /* two numbers of 16 bytes */
    w->head_bytes = to - w->head;
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
    (*writer)->creases = info->frame_creases;
    if (info->frame_creases)
        status = modal_alloc(&(*writer)->of_wedges, 3 * info->frame_creases->n_wedges, sizeof(float), "normals", err);
    if (status == MODAL_OK) status = make_head(*writer, info, err);
    return status == MODAL_OK ? make_faces(*writer, info, err) : status;
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

/* Area-weighted normals of wedges, in float64; no area: zero. */
static void wedge_normals(const modal_creases *c, const float *x, float *to)
{
    for (int64_t w = 0; w < c->n_wedges; w++) {
        double sum[3] = {0};
        for (int64_t i = c->face_offsets[w]; i < c->face_offsets[w + 1]; i++) {
            double a[3], b[3];
            const int32_t *corner = c->corners + 3 * (int64_t)c->faces[i];
            const float *p[3];
            for (int k = 0; k < 3; k++) p[k] = x + 3 * (int64_t)modal_creases_vertex(c, corner[k]);
            for (int k = 0; k < 3; k++) a[k] = (double)p[1][k] - (double)p[0][k], b[k] = (double)p[2][k] - (double)p[0][k];
            for (int k = 0; k < 3; k++) sum[k] += a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
        }
        const double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
        for (int k = 0; k < 3; k++) to[3 * w + k] = length > 0 ? (float)(sum[k] / length) : 0.0f;
    }
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    obj_writer *w = writer;
    const float *normals = w->normals && !w->creases ? frames->arrays[w->normals] : NULL;
    for (int64_t f = 0; f < frames->n_frames; f++) {
        const int64_t at = 3 * w->n_points * f;
        MODAL_TRY(modal_file_out_open_frame(&w->out, w->folder, w->n_written + f, "obj", err));
        if (w->head) MODAL_TRY(modal_file_out_write(&w->out, w->head, w->head_bytes, err));
        MODAL_TRY(put_vectors(&w->out, "v ", frames->arrays[0] + at, w->n_points, err));
        if (w->creases) {
            wedge_normals(w->creases, frames->arrays[0] + at, w->of_wedges);
            MODAL_TRY(put_vectors(&w->out, "vn ", w->of_wedges, w->creases->n_wedges, err));
        }
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

static void skip(void *writer, int64_t frame) { ((obj_writer *)writer)->n_written = frame; }

const modal_sequence_format modal_sequence_obj = {
    .name = "obj", .folder = "obj", .extension = "obj", .needs_frames = 1,
    .holds_surface = 1, .carries = carries, .size = size, .begin = begin, .add = add, .end = end, .abort = drop,
    .skip = skip};

/* ---- rest.obj ---- */

static modal_status rest_size(const modal_sequence_info *info, int64_t *disk_bytes,
                              int64_t *memory_bytes, modal_error *err)
{
    modal_sequence_info one = *info;
    one.n_frames = 1;
    one.arrays.n = 1;
    one.paint = NULL;
    one.frame_creases = NULL;
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
    bare.paint = NULL;
    bare.frame_creases = NULL;
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
