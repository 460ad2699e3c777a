/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/viewer/viewer_data.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json/json_text.h"
#include "formats/viewer/viewer_private.h"
#include "formats/viewer/viewer_sink.h"
#include "lib/base/memory.h"

/* ---- the bytes ---- */

static inline uint16_t zigzag16(int16_t x) { return (uint16_t)((uint16_t)(x * 2) ^ (uint16_t)(x >> 15)); }

/* ---- prediction ---- */

/* What vertex v is predicted from, all of it vertices before v: the parallelograms that complete its
 * triangles, a + b - c, or the mean of its neighbours, or the vertex before. CSR of (a, b, c), with
 * c = -1 for a plain vertex a. The prediction is floor(sum / number of terms). */
typedef struct predictor {
    int64_t *offsets; /* [n_vertices + 1] */
    int32_t *terms;   /* [offsets[n_vertices], 3] */
    int64_t capacity;
} predictor;

static modal_status add_term(predictor *p, int64_t v, int32_t a, int32_t b, int32_t c, modal_error *err)
{
    const int64_t n = p->offsets[v + 1];
    modal_status status = modal_grow(&p->terms, &p->capacity, n + 1, 3 * sizeof *p->terms, "page", err);
    if (status != MODAL_OK) return status;
    p->terms[3 * n] = a;
    p->terms[3 * n + 1] = b;
    p->terms[3 * n + 2] = c;
    p->offsets[v + 1] = n + 1;
    return MODAL_OK;
}

/* The vertices of triangle f beside v, in its order after v. */
static void others(const modal_surface *s, int32_t f, int64_t v, int32_t *a, int32_t *b)
{
    const int32_t *t = s->triangles + 3 * (int64_t)f;
    const int k = t[0] == v ? 0 : t[1] == v ? 1 : 2;
    *a = t[(k + 1) % 3];
    *b = t[(k + 2) % 3];
}

static modal_status add_parallelograms(const modal_surface *s, predictor *p, int64_t v, modal_error *err)
{
    for (int64_t i = s->face_offsets[v]; i < s->face_offsets[v + 1]; i++) {
        int32_t a, b;
        others(s, s->faces[i], v, &a, &b);
        if (a >= v || b >= v) continue;
        for (int64_t j = s->face_offsets[a]; j < s->face_offsets[a + 1]; j++) {
            int32_t d, e;
            others(s, s->faces[j], a, &d, &e);
            if (d != b && e != b) continue;
            const int32_t c = d == b ? e : d;
            if (c >= v) continue;
            modal_status status = add_term(p, v, a, b, c, err);
            if (status != MODAL_OK) return status;
        }
    }
    return MODAL_OK;
}

static modal_status make_predictor(const modal_surface *s, predictor *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&p->offsets, s->n_vertices + 1, sizeof *p->offsets, "page", err));
    for (int64_t v = 0; v < s->n_vertices; v++) {
        p->offsets[v + 1] = p->offsets[v];
        MODAL_TRY(add_parallelograms(s, p, v, err));
        const int alone = p->offsets[v + 1] == p->offsets[v];
        for (int64_t i = s->face_offsets[v]; alone && i < s->face_offsets[v + 1]; i++) {
            int32_t a, b;
            others(s, s->faces[i], v, &a, &b);
            if (a < v) MODAL_TRY(add_term(p, v, a, -1, -1, err));
            if (b < v) MODAL_TRY(add_term(p, v, b, -1, -1, err));
        }
        if (v > 0 && p->offsets[v + 1] == p->offsets[v])
            MODAL_TRY(add_term(p, v, (int32_t)(v - 1), -1, -1, err));
    }
done:
    return status;
}

static int32_t predict(const predictor *p, int64_t v, const int32_t *x)
{
    const int64_t first = p->offsets[v], n = p->offsets[v + 1] - first;
    int64_t sum = 0;
    if (n == 0) return 0;
    for (int64_t i = first; i < first + n; i++) {
        const int32_t *t = p->terms + 3 * i;
        sum += t[2] < 0 ? x[t[0]] : (int64_t)x[t[0]] + x[t[1]] - x[t[2]];
    }
    return (int32_t)floor((double)sum / (double)n);
}

/* ---- the arrays ---- */

enum { POSITION_STEPS = 1 << 20, MODE_STEPS = 32767 };

static modal_status put_positions(modal_viewer_sink *out, const modal_surface *s, const predictor *p, json_t *about,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *values = NULL;
    uint32_t *coded = NULL;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, size = 0;
    MODAL_TRY(modal_alloc(&values, s->n_vertices, sizeof *values, "page", err));
    MODAL_TRY(modal_alloc(&coded, s->n_vertices, sizeof *coded, "page", err));
    for (int k = 0; k < 3; k++) {
        double high = -HUGE_VAL;
        for (int64_t v = 0; v < s->n_vertices; v++) {
            low[k] = fmin(low[k], s->rest_positions[3 * v + k]);
            high = fmax(high, s->rest_positions[3 * v + k]);
        }
        size = fmax(size, high - low[k]);
    }
    const double step = size > 0 ? size / POSITION_STEPS : 1;
    for (int k = 0; k < 3; k++) {
        for (int64_t v = 0; v < s->n_vertices; v++) {
            values[v] = (int32_t)lround((s->rest_positions[3 * v + k] - low[k]) / step);
            coded[v] = modal_viewer_zigzag32(values[v] - predict(p, v, values));
        }
        MODAL_TRY(modal_viewer_put_planes(out, coded, s->n_vertices, 4, err));
    }
    json_object_set_new(about, "position_step", json_real(step));
    json_object_set_new(about, "origin", json_pack("[f, f, f]", low[0], low[1], low[2]));
done:
    modal_free(&values);
    modal_free(&coded);
    return status;
}

static inline float matrix_entry(const modal_shape *s, int64_t v, int32_t mode, int axis)
{
    return s->modes.modal_matrix[((v / MODAL_TILE * s->modes.n_modes + mode) * 3 + axis) * MODAL_TILE + v % MODAL_TILE];
}

/* Every mode has a step of its own, its largest entry over 32767. */
static modal_status put_modes(modal_viewer_sink *out, const modal_shape *s, const predictor *p, json_t *about,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    json_t *steps = json_array();
    int32_t *values = NULL;
    uint16_t *coded = NULL;
    MODAL_TRY(modal_alloc(&values, s->surface.n_vertices, sizeof *values, "page", err));
    MODAL_TRY(modal_alloc(&coded, 3 * s->surface.n_vertices, sizeof *coded, "page", err));
    for (int32_t mode = 0; mode < s->modes.n_modes; mode++) {
        double largest = 0;
        for (int64_t v = 0; v < s->surface.n_vertices; v++)
            for (int k = 0; k < 3; k++) largest = fmax(largest, fabs(matrix_entry(s, v, mode, k)));
        const double step = largest > 0 ? largest / MODE_STEPS : 1;
        for (int k = 0; k < 3; k++) {
            for (int64_t v = 0; v < s->surface.n_vertices; v++) {
                values[v] = (int32_t)lround(matrix_entry(s, v, mode, k) / step);
                coded[k * s->surface.n_vertices + v] = /* modulo 2^16, as the reader adds */
                    zigzag16((int16_t)(uint16_t)(uint32_t)(values[v] - predict(p, v, values)));
            }
        }
        MODAL_TRY(modal_viewer_put_planes(out, coded, 3 * s->surface.n_vertices, 2, err));
        json_array_append_new(steps, json_real(step));
    }
    json_object_set(about, "mode_steps", steps);
done:
    json_decref(steps);
    modal_free(&values);
    modal_free(&coded);
    return status;
}

static modal_status put_shape(modal_viewer_sink *out, const modal_shape *s, json_t *shapes, modal_error *err)
{
    modal_status status = MODAL_OK;
    predictor p = {0};
    json_t *about = json_pack("{s:o, s:I, s:I, s:i}", "name", modal_json_string(s->name), "vertices",
                              (json_int_t)s->surface.n_vertices, "triangles", (json_int_t)s->surface.n_triangles,
                              "modes", s->modes.n_modes);
    json_t *frequencies = json_array();
    if (!about) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "page: out of memory");
    for (int32_t i = 0; i < s->modes.n_modes; i++)
        json_array_append_new(frequencies, json_real(s->modes.frequencies[i]));
    json_object_set(about, "frequencies", frequencies);
    MODAL_TRY(make_predictor(&s->surface, &p, err));
    MODAL_TRY(modal_viewer_put_differences(out, s->surface.triangles, 3 * s->surface.n_triangles, err));
    MODAL_TRY(modal_viewer_put_differences(out, s->surface.user_vertex, s->surface.n_vertices, err));
    MODAL_TRY(put_positions(out, &s->surface, &p, about, err));
    MODAL_TRY(put_modes(out, s, &p, about, err));
    json_array_append(shapes, about);
done:
    json_decref(frequencies);
    json_decref(about);
    modal_free(&p.offsets);
    modal_free(&p.terms);
    return status;
}

static modal_status put_objects(modal_viewer_sink *out, const modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *shapes = NULL;
    float *poses = NULL;
    MODAL_TRY(modal_alloc(&shapes, basis->n_objects, sizeof *shapes, "page", err));
    MODAL_TRY(modal_alloc(&poses, 12 * (int64_t)basis->n_objects, sizeof *poses, "page", err));
    for (int32_t i = 0; i < basis->n_objects; i++) {
        shapes[i] = basis->objects[i].shape;
        for (int k = 0; k < 12; k++) poses[12 * i + k] = (float)basis->objects[i].rest_pose[k];
    }
    MODAL_TRY(modal_viewer_put_differences(out, shapes, basis->n_objects, err));
    MODAL_TRY(modal_viewer_put_planes(out, poses, 12 * (int64_t)basis->n_objects, 4, err));
done:
    modal_free(&shapes);
    modal_free(&poses);
    return status;
}

/* A series of each coordinate: smooth in time, so bytes of equal significance repeat. */
static modal_status put_series(modal_viewer_sink *out, const double *values, int64_t n_frames, int64_t n,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    float *series = NULL;
    int64_t count;
    if (!modal_size_multiply(n_frames, n, &count) || count > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "frames: too many for a page, %lld of %lld values",
                   (long long)n_frames, (long long)n);
    MODAL_TRY(modal_alloc(&series, count, sizeof *series, "page", err));
    for (int64_t f = 0; f < n_frames; f++)
        for (int64_t i = 0; i < n; i++) series[i * n_frames + f] = (float)values[f * n + i];
    MODAL_TRY(modal_viewer_put_planes(out, series, count, 4, err));
done:
    modal_free(&series);
    return status;
}

/* 16 bits a sample: integers of a step of their own. */
static modal_status put_sound(modal_viewer_sink *out, const modal_viewer_play *play, json_t *header, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = play->n_samples * play->n_channels;
    double largest = 0;
    uint16_t *coded = NULL;
    MODAL_TRY(modal_alloc(&coded, n, sizeof *coded, "page", err));
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs((double)play->samples[i]));
    const double step = largest > 0 ? largest / 32767 : 1;
    for (int64_t i = 0; i < n; i++) coded[i] = zigzag16((int16_t)lround((double)play->samples[i] / step));
    MODAL_TRY(modal_viewer_put_planes(out, coded, n, 2, err));
    json_object_set_new(header, "sound", json_pack("{s:i, s:i, s:I, s:f}", "rate", play->rate, "channels", play->n_channels,
                                                   "samples", (json_int_t)play->n_samples, "step", step));
done:
    modal_free(&coded);
    return status;
}

static modal_status put_loads(modal_viewer_sink *out, const modal_viewer_play *play, int64_t n_frames, json_t *header,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    json_t *list = json_array();
    for (int32_t i = 0; i < play->n_loads; i++) {
        const modal_viewer_load *l = &play->loads[i];
        json_t *vertices = json_array();
        for (int32_t k = 0; k < l->n_vertices; k++) json_array_append_new(vertices, json_integer(l->vertices[k]));
        json_array_append_new(list, json_pack("{s:i, s:o, s:s, s:[fff]}", "object", l->object, "vertices", vertices, "unit",
                                              l->impulse ? "N s" : "N", "vector", l->vector[0], l->vector[1], l->vector[2]));
        MODAL_TRY(modal_viewer_put_planes(out, l->factors, n_frames, 4, err));
    }
    json_object_set(header, "loads", list);
done:
    json_decref(list);
    return status;
}

modal_status modal_viewer_data_make(const modal_basis *basis, const modal_trajectory *trajectory,
                                    const char *title, char up, const modal_viewer_play *play, const modal_sequence_look *look,
                                    modal_viewer_data *data, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_viewer_sink out = {0};
    json_t *shapes = json_array(), *header = NULL;
    memset(data, 0, sizeof *data);
    MODAL_TRY(modal_viewer_check_reach(basis, trajectory, err));
    MODAL_TRY(modal_viewer_sink_begin(&out, err));
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        const modal_shape *s = &basis->shapes[i];
        MODAL_TRY(put_shape(&out, s, shapes, err));
        const double step =
            json_number_value(json_object_get(json_array_get(shapes, (size_t)i), "position_step"));
        data->position_error = fmax(data->position_error, step / 2);
    }
    data->displacement_error = 0.5 / MODE_STEPS;
    MODAL_TRY(put_objects(&out, basis, err));
    header = json_pack("{s:i, s:o, s:s, s:O, s:i}", "version", 1, "title", modal_json_string(title), "up",
                       up == 'z' ? "z" : "y", "shapes", shapes, "objects", basis->n_objects);
    if (!header) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "page: out of memory");
    if (play && play->turntable) json_object_set_new(header, "turntable", json_true());
    if (trajectory) {
        json_object_set_new(header, "frames", json_integer(trajectory->n_frames));
        json_object_set_new(header, "moving_poses", json_boolean(trajectory->poses != NULL));
        MODAL_TRY(modal_viewer_put_planes(&out, trajectory->times, trajectory->n_frames, 8, err));
        MODAL_TRY(put_series(&out, trajectory->q, trajectory->n_frames,
                             trajectory->mode_offsets[trajectory->n_objects], err));
        if (trajectory->poses)
            MODAL_TRY(put_series(&out, trajectory->poses, trajectory->n_frames,
                                 12 * (int64_t)trajectory->n_objects, err));
        json_object_set_new(header, "quality", modal_viewer_quality(trajectory));
        json_object_set_new(header, "slow_motion", json_real(play->slow_motion));
        if (play->no_speeds) json_object_set_new(header, "speeds", json_false());
        if (play->n_columns > 0)
            json_object_set_new(header, "reduced", json_pack("{s:i, s:f}", "columns", play->n_columns, "error", play->column_error));
        if (play->n_channels > 0) MODAL_TRY(put_sound(&out, play, header, err));
        if (play->n_loads > 0) MODAL_TRY(put_loads(&out, play, trajectory->n_frames, header, err));
    }
    if (look) MODAL_TRY(modal_viewer_put_look(&out, look, basis, header, err));
    MODAL_TRY(modal_viewer_sink_end(&out, err));
    /* Without a < no name can end the script that holds the header (</script>), nor open a comment in it (<!--). */
    data->header = modal_json_dump(header, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII, '<');
    if (!data->header) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "page: out of memory");
    data->bytes = out.bytes;
    data->n_bytes = out.n;
    out.bytes = NULL;
done:
    modal_viewer_sink_free(&out);
    json_decref(shapes);
    json_decref(header);
    if (status != MODAL_OK) modal_viewer_data_free(data);
    return status;
}

void modal_viewer_data_free(modal_viewer_data *data)
{
    free(data->header);
    modal_free(&data->bytes);
    memset(data, 0, sizeof *data);
}
