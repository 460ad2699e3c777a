/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of a shape in a GLB: triangles, base, targets, normals, uv. */
#include <math.h>
#include <string.h>

#include "formats/sequences/glb_normals.h"
#include "formats/sequences/glb_writer.h"
#include "lib/base/memory.h"

/* The triangles of each primitive of a shape. */
static modal_status write_primitives(glb_writer *w, int32_t shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    const glb_look *look = &w->scene.look;
    const modal_surface *s = &w->scene.basis->shapes[shape].surface;
    uint32_t *indices = NULL;
    int32_t *stored = NULL;
    MODAL_TRY(modal_alloc(&indices, s->n_triangles, 12, "triangles", err));
    MODAL_TRY(modal_alloc(&stored, s->n_triangles, sizeof *stored, "triangles", err));
    for (int64_t t = 0; t < s->n_triangles; t++) stored[w->scene.info->scene->stored_order ? t : s->user_triangle[t]] = (int32_t)t;
    for (int32_t i = 0; i < look->shown.n_variants; i++)
        for (int32_t k = 0; look->shown.variants[i].shape == shape && k < look->meshes[i].n_primitives; k++) {
            const glb_primitive *p = &look->primitives[look->meshes[i].first_primitive + k];
            modal_glb_look_indices(look, i, k, stored, indices);
            MODAL_TRY(modal_glb_put(w, p->array, indices, 12 * p->n_triangles, err));
        }
    if (look->splits[shape].uv) MODAL_TRY(modal_glb_put(w, w->scene.shapes[shape].uv, look->splits[shape].uv, 8 * look->splits[shape].n_split, err));
done:
    modal_free(&indices);
    modal_free(&stored);
    return status;
}

/* corners: [n_triangles, 3], filled: of vertices without seams. */
static modal_status write_triangles(glb_writer *w, int32_t shape, uint32_t *corners, modal_error *err)
{
    const modal_shape *s = &w->scene.basis->shapes[shape];
    const int stored = w->scene.info->scene->stored_order;
    for (int64_t t = 0; t < s->surface.n_triangles; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t v = s->surface.triangles[3 * t + k];
            corners[3 * (stored ? t : s->surface.user_triangle[t]) + k] = (uint32_t)(stored ? v : s->surface.user_vertex[v]);
        }
    if (w->scene.look.in) return write_primitives(w, shape, err);
    if (w->scene.look.splits)
        return modal_glb_put(w, w->scene.shapes[shape].first_array, w->scene.look.splits[shape].corners, 12 * s->surface.n_triangles, err);
    return modal_glb_put(w, w->scene.shapes[shape].first_array, corners, 12 * s->surface.n_triangles, err);
}

/* Tiles [begin, end) of a shape, and targets [first, last). */
typedef struct glb_part {
    int32_t shape, first, last;
    int64_t begin, end;
} glb_part;

/* These tiles of U into these targets and, with base, all modes times low into it. */
static void scatter(const glb_writer *w, const glb_part *part, const float *tiles, float *targets, double *base)
{
    const modal_shape *s = &w->scene.basis->shapes[part->shape];
    const glb_shape *g = &w->scene.shapes[part->shape];
    const int64_t begin = part->begin, end = part->end;
    const int32_t first = part->first, last = part->last;
    const int stored = w->scene.info->scene->stored_order;
    const int64_t stride = 3 * modal_glb_vertices(&w->scene, part->shape);
    for (int64_t v = begin * MODAL_TILE; v < end * MODAL_TILE && v < s->surface.n_vertices; v++) {
        const float *u = tiles + (v / MODAL_TILE - begin) * s->modes.n_modes * 3 * MODAL_TILE + v % MODAL_TILE;
        const int64_t place = 3 * (stored ? v : s->surface.user_vertex[v]);
        for (int i = 0; i < 3; i++) {
            for (int32_t k = first; k < last; k++)
                targets[(k - first) * stride + place + i] =
                    (float)(g->spread[g->modes[k]] * (double)u[(g->modes[k] * 3 + i) * MODAL_TILE]);
            if (!base) continue;
            double sum = s->surface.rest_positions[3 * v + i];
            for (int32_t k = 0; k < s->modes.n_modes; k++) sum += g->low[k] * (double)u[(k * 3 + i) * MODAL_TILE];
            base[place + i] = sum;
        }
    }
}

/* What write_normals needs beside the shape; nothing without normals. Its vertices are the file's before they are split or, with creases, wedges: the
 * file's vertices, then the further wedges. */
typedef struct smooth {
    modal_glb_normals normals;
    int64_t n;         /* of its vertices */
    double *rest;      /* [n, 3] X */
    double *base;      /* [n, 3] scratch, with creases */
    float *target;     /* [n, 3] scratch, with creases */
    float *floats;     /* [n_split, 3] */
    float *of_wedges;  /* [n, 3] scratch, with creases */
    int32_t *place;    /* [n - n_vertices] the file's vertex of each further wedge */
    uint32_t *corners; /* [n_triangles, 3] with creases */
} smooth;

static void free_smooth(smooth *m)
{
    modal_glb_normals_free(&m->normals);
    modal_free(&m->rest);
    modal_free(&m->base);
    modal_free(&m->target);
    modal_free(&m->floats);
    modal_free(&m->of_wedges);
    modal_free(&m->place);
    modal_free(&m->corners);
}

/* Triangles of wedges, in the order of the file. */
static modal_status make_wedges(const modal_surface *s, const modal_creases *c, int stored, smooth *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    m->n = c->n_wedges;
    MODAL_TRY(modal_alloc(&m->place, c->n_wedges - c->n_vertices, sizeof *m->place, "normals", err));
    MODAL_TRY(modal_alloc(&m->corners, 3 * s->n_triangles, sizeof *m->corners, "normals", err));
    MODAL_TRY(modal_alloc(&m->base, 3 * m->n, sizeof *m->base, "normals", err));
    MODAL_TRY(modal_alloc(&m->target, 3 * m->n, sizeof *m->target, "normals", err));
    MODAL_TRY(modal_alloc(&m->of_wedges, 3 * m->n, sizeof *m->of_wedges, "normals", err));
    for (int64_t i = 0; i < c->n_wedges - c->n_vertices; i++) m->place[i] = stored ? c->source[i] : s->user_vertex[c->source[i]];
    for (int64_t t = 0; t < s->n_triangles; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t wedge = c->corners[3 * t + k];
            m->corners[3 * (stored ? t : s->user_triangle[t]) + k] =
                (uint32_t)(stored || wedge >= c->n_vertices ? wedge : s->user_vertex[wedge]);
        }
done:
    return status;
}

static modal_status make_smooth(const glb_writer *w, int32_t shape, const uint32_t *corners, smooth *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_surface *s = &w->scene.basis->shapes[shape].surface;
    const int stored = w->scene.info->scene->stored_order;
    const modal_creases *creases = w->scene.info->creases ? &w->scene.info->creases[shape] : NULL;
    if (!w->scene.info->target_normals) return MODAL_OK;
    m->n = s->n_vertices;
    if (creases) MODAL_TRY(make_wedges(s, creases, stored, m, err));
    MODAL_TRY(modal_alloc(&m->rest, 3 * m->n, sizeof *m->rest, "normals", err));
    MODAL_TRY(modal_alloc(&m->floats, 3 * modal_glb_vertices(&w->scene, shape), sizeof *m->floats, "normals", err));
    for (int64_t v = 0; v < s->n_vertices; v++)
        memcpy(m->rest + 3 * (stored ? v : s->user_vertex[v]), s->rest_positions + 3 * v, 3 * sizeof(double));
    for (int64_t i = s->n_vertices; i < m->n; i++)
        memcpy(m->rest + 3 * i, m->rest + 3 * (int64_t)m->place[i - s->n_vertices], 3 * sizeof(double));
    MODAL_TRY(modal_glb_normals_init(&m->normals, m->n, s->n_triangles, creases ? m->corners : corners, m->rest, err));
done:
    return status;
}

/* Normals of the vertices of `base` or `target` [n_vertices, 3], into m->floats [n_split, 3]. */
static void find_normals(const glb_writer *w, int32_t shape, smooth *m, const double *base, const float *target)
{
    const int64_t n = w->scene.basis->shapes[shape].surface.n_vertices;
    const glb_split *split = w->scene.look.splits ? &w->scene.look.splits[shape] : NULL;
    float *to = m->place ? m->of_wedges : m->floats;
    if (m->place && base) {
        memcpy(m->base, base, (size_t)(3 * n) * sizeof *base);
        for (int64_t i = n; i < m->n; i++) memcpy(m->base + 3 * i, base + 3 * (int64_t)m->place[i - n], 3 * sizeof *base);
    }
    if (m->place && target) {
        memcpy(m->target, target, (size_t)(3 * n) * sizeof *target);
        for (int64_t i = n; i < m->n; i++) memcpy(m->target + 3 * i, target + 3 * (int64_t)m->place[i - n], 3 * sizeof *target);
    }
    if (target) modal_glb_normals_target(&m->normals, m->place ? m->target : target, to);
    else modal_glb_normals_base(&m->normals, !base ? m->rest : m->place ? m->base : base, to);
    for (int64_t i = 0; m->place && i < split->n_split; i++) memcpy(m->floats + 3 * i, to + 3 * (int64_t)split->wedge[i], 3 * sizeof *to);
    if (!m->place && split) modal_glb_split_rows(split, m->floats);
}

/* Normals of the base (array 0), or of target array - 1. */
static modal_status write_normals(glb_writer *w, int32_t shape, smooth *m, int32_t array, const double *base, const float *target,
                                  modal_error *err)
{
    const glb_shape *g = &w->scene.shapes[shape];
    const int32_t mode = array == 0 ? -1 : g->modes[array - 1];
    if (!m->floats || (target && w->scene.info->target_normals < 2)) return MODAL_OK;
    find_normals(w, shape, m, w->scene.info->target_normals > 1 ? base : NULL, target);
    return modal_glb_put_floats(w, modal_glb_normals_array(g) + array, m->floats, modal_glb_vertices(&w->scene, shape), 3,
                      (glb_what){"shape", shape, target ? "normal of mode" : "normal", mode, "vertex", 0, 1}, err);
}

static modal_status write_positions(glb_writer *w, int32_t shape, smooth *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_shape *s = &w->scene.basis->shapes[shape];
    const glb_shape *g = &w->scene.shapes[shape];
    const modal_matrix_source *source = &w->scene.info->scene->matrix;
    const int64_t at_once = modal_glb_targets_at_once(&s->surface, g->n_targets), range = modal_glb_tiles_at_once(s);
    const int64_t n_tiles = modal_tile_count(s->surface.n_vertices), n = s->surface.n_vertices, n_split = modal_glb_vertices(&w->scene, shape);
    const glb_split *split = w->scene.look.splits ? &w->scene.look.splits[shape] : NULL;
    float *targets = NULL, *tiles = NULL;
    double *base = NULL;
    MODAL_TRY(modal_alloc(&targets, at_once * n_split, 12, "targets", err));
    MODAL_TRY(modal_alloc(&tiles, range * s->modes.n_modes, 3 * MODAL_TILE * 4, "tiles", err));
    MODAL_TRY(modal_alloc(&base, 3 * n, sizeof *base, "positions", err));
    int32_t first = 0;
    do {
        const int32_t last = g->n_targets - first < at_once ? g->n_targets : first + (int32_t)at_once;
        for (int64_t begin = 0; begin < n_tiles; begin += range) {
            const int64_t end = n_tiles - begin < range ? n_tiles : begin + range;
            MODAL_TRY(source->read(source->context, shape, begin, end, tiles, err));
            scatter(w, &(glb_part){shape, first, last, begin, end}, tiles, targets, first == 0 ? base : NULL);
        }
        if (first == 0) MODAL_TRY(write_normals(w, shape, m, 0, base, NULL, err));
        for (int32_t k = first; k < last; k++) {
            float *target = targets + (k - first) * 3 * n_split;
            if (split) modal_glb_split_rows(split, target);
            MODAL_TRY(modal_glb_put_vectors(w, g->first_array + 2 + k, target,
                                  (glb_what){"shape", shape, "mode", g->modes[k], "vertex", 0, 1}, err));
            MODAL_TRY(write_normals(w, shape, m, 1 + k, NULL, target, err));
        }
        first = last;
    } while (first < g->n_targets);
    for (int64_t i = 0; i < 3 * n; i++) targets[i] = (float)base[i];
    if (split) modal_glb_split_rows(split, targets);
    MODAL_TRY(modal_glb_put_vectors(w, g->first_array + 1, targets, (glb_what){"shape", shape, "position", -1, "vertex", 0, 1}, err));
done:
    modal_free(&base);
    modal_free(&tiles);
    modal_free(&targets);
    return status;
}

/* glTF has colours of vertices in linear light. */
static modal_status write_colours(glb_writer *w, int32_t shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    const glb_shape *g = &w->scene.shapes[shape];
    const glb_split *split = w->scene.look.splits ? &w->scene.look.splits[shape] : NULL;
    const int64_t n = w->scene.basis->shapes[shape].surface.n_vertices, n_split = modal_glb_vertices(&w->scene, shape);
    float *rows = NULL;
    if (g->colour < 0) return MODAL_OK;
    MODAL_TRY(modal_alloc(&rows, 4 * n_split, sizeof *rows, "colours", err));
    for (int64_t i = 0; i < n_split; i++) {
        const uint8_t *from = w->scene.info->texture->colours + 4 * (g->first_point + (i < n ? i : split->source[i - n]));
        for (int k = 0; k < 4; k++) {
            const double c = from[k] / 255.0;
            rows[4 * i + k] = (float)(k == 3 ? c : c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4)); /* IEC 61966-2-1 */
        }
    }
    MODAL_TRY(modal_glb_put_floats(w, g->colour, rows, n_split, 4, (glb_what){"shape", shape, "colour", -1, "vertex", 0, 1}, err));
done:
    modal_free(&rows);
    return status;
}

modal_status modal_glb_write_shape(glb_writer *w, int32_t shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    smooth m = {0};
    uint32_t *corners = NULL;
    MODAL_TRY(modal_alloc(&corners, w->scene.basis->shapes[shape].surface.n_triangles, 12, "triangles", err));
    MODAL_TRY(write_triangles(w, shape, corners, err));
    MODAL_TRY(make_smooth(w, shape, corners, &m, err));
    MODAL_TRY(write_positions(w, shape, &m, err));
    MODAL_TRY(write_colours(w, shape, err));
done:
    free_smooth(&m);
    modal_free(&corners);
    return status;
}
