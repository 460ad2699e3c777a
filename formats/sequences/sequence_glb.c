/* SPDX-License-Identifier: Apache-2.0 */
/* GLB (glTF 2.0 in one binary file): the modes as morph targets and q as their animated weights, so the
 * file is exact and has no frames at all: 12 (r + 1) bytes a vertex, and 4 r a frame and object. The
 * deformer is not needed; everything is written by begin.
 *
 * Some viewers clamp weights to [0, 1] (Blender's importer does), so q is brought there:
 *   base = X + sum_k U_k low_k,  target_k = U_k (high_k - low_k),  weight_k = (q_k - low_k) / (high_k - low_k)
 * with low_k and high_k the least and most of 0 and of q_k over all frames and objects of the shape.
 * Rigid motion animates the object's node. */
#include "formats/sequences/sequence_glb.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/sequences/file_out.h"
#include "formats/sequences/glb_normals.h"
#include "formats/sequences/glb_parts.h"
#include "lib/base/finite.h"
#include "lib/base/memory.h"

static const int64_t TARGET_BYTES = INT64_C(64) << 20; /* of the targets that are made at a time */
static const int64_t RANGE_BYTES = INT64_C(4) << 20;   /* of U that are read at a time */

typedef struct glb_writer {
    modal_file_out out;
    glb_scene scene;
    int64_t start; /* of the binary chunk's bytes in the file */
} glb_writer;

/* How many targets are made at a time, and tiles read. */
static int64_t targets_at_once(const modal_surface *s, int64_t n_targets)
{
    int64_t n = TARGET_BYTES / (12 * s->n_vertices + 1);
    if (n > n_targets) n = n_targets;
    return n > 1 ? n : 1;
}

static int64_t tiles_at_once(const modal_shape *s)
{
    int64_t n = RANGE_BYTES / (s->modes.n_modes * 3 * MODAL_TILE * 4 + 1), tiles = modal_tile_count(s->surface.n_vertices);
    if (n > tiles) n = tiles;
    return n > 1 ? n : 1;
}

/* Vertices of a shape in the file; with a look seams make more of them. */
static int64_t vertices_of(const glb_scene *g, int32_t shape)
{
    return g->look.splits ? g->look.splits[shape].n_split : g->basis->shapes[shape].surface.n_vertices;
}

static modal_status size(const modal_sequence_info *info, int64_t *disk_bytes, int64_t *memory_bytes,
                         modal_error *err)
{
    const modal_basis *b = info->scene->basis;
    double bytes = 65536; /* no overflow */
    glb_scene g = {.info = info, .basis = b};
    *memory_bytes = 0;
    if (info->look || info->creases) {
        const modal_status status = modal_glb_look_make(&g.look, info->look, info->creases, info->scene, err);
        if (status != MODAL_OK) {
            modal_glb_look_free(&g.look);
            return status;
        }
    }
    for (int32_t i = 0; i < b->n_shapes; i++) {
        const modal_shape *s = &b->shapes[i];
        const int normals = info->target_normals;
        const int64_t n = vertices_of(&g, i), crease_bytes = MODAL_GLB_NORMALS_BYTES + 48;
        const int64_t memory = 36 * n + 12 * s->surface.n_triangles + (normals ? (MODAL_GLB_NORMALS_BYTES + 24 + 12) * n : 0) +
                               (info->look ? 20 * n + 28 * s->surface.n_triangles : 0) +
                               (info->creases ? 16 * n + 24 * s->surface.n_triangles + crease_bytes * info->creases[i].n_wedges : 0) +
                               12 * n * targets_at_once(&s->surface, s->modes.n_modes) +
                               tiles_at_once(s) * s->modes.n_modes * 3 * MODAL_TILE * 4;
        if (memory > *memory_bytes) *memory_bytes = memory;
        bytes += 12.0 * (double)n * (s->modes.n_modes + 1.0) * (normals > 1 ? 2 : 1) + 12.0 * (double)n * (normals == 1) +
                 (info->look ? 8.0 * (double)n : 0) + 12.0 * (double)s->surface.n_triangles +
                 800.0 * (s->modes.n_modes + 3.0);
    }
    *memory_bytes += 1 << 20;
    for (int32_t i = 0; info->look && i < info->look->n_images; i++) bytes += (double)info->look->images[i].length + 400;
    for (int32_t i = 0; i < g.look.n_variants; i++) /* triangles again, and what is said of each primitive */
        bytes += 12.0 * (double)b->shapes[g.look.variants[i].shape].surface.n_triangles +
                 (1200.0 + 60.0 * b->shapes[g.look.variants[i].shape].modes.n_modes) * g.look.variants[i].n_primitives;
    modal_glb_look_free(&g.look);
    for (int32_t i = 0; i < b->n_objects; i++)
        bytes += 4.0 * (double)info->n_frames * (b->shapes[b->objects[i].shape].modes.n_modes + 7.0) + 1200.0;
    if (bytes >= 4294967296.0)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "glb: cannot be larger than 4 GiB, this would have %.0f bytes", bytes);
    *disk_bytes = (int64_t)bytes;
    return MODAL_OK;
}

/* ---- the plan ---- */

static void free_scene(glb_scene *g)
{
    for (int32_t i = 0; g->shapes && i < g->basis->n_shapes; i++) {
        modal_free(&g->shapes[i].modes);
        modal_free(&g->shapes[i].low);
        modal_free(&g->shapes[i].spread);
    }
    modal_glb_look_free(&g->look);
    modal_free(&g->image_places);
    modal_free(&g->shapes);
    modal_free(&g->arrays);
    modal_free(&g->object_array);
}

static modal_status add_array(glb_scene *g, glb_array array, modal_error *err)
{
    modal_status status = modal_grow(&g->arrays, &g->capacity, g->n_arrays + 1, sizeof *g->arrays, "arrays", err);
    if (status != MODAL_OK) return status;
    array.offset = g->bytes;
    g->bytes += 4 * (array.type[0] == 'S' ? 1 : array.type[3] - '0') * array.count;
    g->arrays[g->n_arrays++] = array;
    return MODAL_OK;
}

/* The range of every reduced coordinate of a shape, over its objects and the frames. */
static modal_status find_ranges(glb_scene *g, int32_t shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_sequence_scene *in = g->info->scene;
    const modal_trajectory *t = in->trajectory;
    const int32_t r = g->basis->shapes[shape].modes.n_modes;
    const int64_t total = t->mode_offsets[t->n_objects];
    glb_shape *s = &g->shapes[shape];
    MODAL_TRY(modal_alloc_zero(&s->low, r, sizeof *s->low, "ranges", err));
    MODAL_TRY(modal_alloc_zero(&s->spread, r, sizeof *s->spread, "ranges", err));
    MODAL_TRY(modal_alloc(&s->modes, r, sizeof *s->modes, "modes", err));
    for (int32_t o = 0; o < g->basis->n_objects; o++) {
        if (g->basis->objects[o].shape != shape) continue;
        s->used = 1;
        for (int64_t f = 0; f < g->info->n_frames; f++) {
            const double *q = t->q + (in->start + f * in->step) * total + t->mode_offsets[o];
            for (int32_t k = 0; k < r; k++) {
                if (q[k] < s->low[k]) s->low[k] = q[k];
                if (q[k] > s->spread[k]) s->spread[k] = q[k];
            }
        }
    }
    for (int32_t k = 0; k < r; k++) {
        s->spread[k] -= s->low[k];
        if (s->spread[k] > 0) s->modes[s->n_targets++] = k;
    }
done:
    return status;
}

/* Arrays that a look adds: uv of a shape, indices of the primitives but each shape's first. */
static modal_status plan_look(glb_scene *g, int32_t shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    glb_shape *s = &g->shapes[shape];
    int taken = 0;
    s->uv = -1;
    if (!g->look.in) return MODAL_OK;
    if (g->look.splits[shape].uv) {
        s->uv = g->n_arrays;
        MODAL_TRY(add_array(g, (glb_array){.count = vertices_of(g, shape), .type = "VEC2", .buffer_target = 34962}, err));
    }
    for (int32_t i = 0; i < g->look.n_variants; i++) {
        const glb_variant *v = &g->look.variants[i];
        for (int32_t k = 0; v->shape == shape && k < v->n_primitives; k++) {
            glb_primitive *p = &g->look.primitives[v->first_primitive + k];
            p->array = taken ? g->n_arrays : s->first_array;
            if (taken++)
                MODAL_TRY(add_array(g, (glb_array){.count = 3 * p->n_triangles, .type = "SCALAR", .integers = 1, .buffer_target = 34963}, err));
        }
    }
done:
    return status;
}

/* Triangles of the array that a shape begins with. */
static int64_t first_triangles(const glb_scene *g, int32_t shape)
{
    for (int32_t i = 0; g->look.in && i < g->look.n_variants; i++)
        if (g->look.variants[i].shape == shape) return g->look.primitives[g->look.variants[i].first_primitive].n_triangles;
    return g->basis->shapes[shape].surface.n_triangles;
}

static modal_status plan_images(glb_scene *g, modal_error *err)
{
    const modal_sequence_look *in = g->look.in;
    if (!in) return MODAL_OK;
    const modal_status status = modal_alloc(&g->image_places, in->n_images, sizeof *g->image_places, "images", err);
    for (int32_t i = 0; status == MODAL_OK && i < in->n_images; i++) {
        g->image_places[i] = g->bytes;
        g->bytes += (in->images[i].length + 3) / 4 * 4;
    }
    return status;
}

static modal_status plan(glb_scene *g, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *b = g->basis;
    const int64_t n = g->info->n_frames;
    if (g->info->look || g->info->creases)
        MODAL_TRY(modal_glb_look_make(&g->look, g->info->look, g->info->creases, g->info->scene, err));
    MODAL_TRY(modal_alloc_zero(&g->shapes, b->n_shapes, sizeof *g->shapes, "shapes", err));
    MODAL_TRY(modal_alloc(&g->object_array, b->n_objects, sizeof *g->object_array, "objects", err));
    for (int32_t i = 0; i < b->n_shapes; i++) {
        glb_shape *s = &g->shapes[i];
        MODAL_TRY(find_ranges(g, i, err));
        if (!s->used) continue;
        s->first_array = g->n_arrays;
        MODAL_TRY(add_array(g, (glb_array){.count = 3 * first_triangles(g, i), .type = "SCALAR",
                                           .integers = 1, .buffer_target = 34963}, err));
        for (int32_t k = 0; k <= s->n_targets; k++)
            MODAL_TRY(add_array(g, (glb_array){.count = vertices_of(g, i), .type = "VEC3",
                                               .buffer_target = 34962, .ranges = 1}, err));
        const int32_t n_normals = g->info->target_normals > 1 ? 1 + s->n_targets : g->info->target_normals;
        for (int32_t k = 0; k < n_normals; k++)
            MODAL_TRY(add_array(g, (glb_array){.count = vertices_of(g, i), .type = "VEC3",
                                               .buffer_target = 34962}, err));
        MODAL_TRY(plan_look(g, i, err));
    }
    g->times = g->n_arrays;
    int moves = g->info->scene->trajectory->poses != NULL;
    for (int32_t i = 0; i < b->n_shapes; i++) moves |= g->shapes[i].n_targets > 0;
    if (moves) MODAL_TRY(add_array(g, (glb_array){.count = n, .type = "SCALAR", .ranges = 1}, err));
    for (int32_t i = 0; i < b->n_objects; i++) {
        for (int k = 3; k < 12; k += 4)
            if (!(fabs(b->objects[i].rest_pose[k]) <= FLT_MAX))
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "glb: object %d: its rest frame does not fit float32, %g", i,
                           b->objects[i].rest_pose[k]);
        const int32_t targets = g->shapes[b->objects[i].shape].n_targets;
        g->object_array[i] = g->n_arrays;
        if (targets > 0) MODAL_TRY(add_array(g, (glb_array){.count = n * targets, .type = "SCALAR"}, err));
        if (!g->info->scene->trajectory->poses) continue;
        MODAL_TRY(add_array(g, (glb_array){.count = n, .type = "VEC3"}, err));
        MODAL_TRY(add_array(g, (glb_array){.count = n, .type = "VEC4"}, err));
    }
    MODAL_TRY(plan_images(g, err));
done:
    return status;
}

/* ---- the binary chunk ---- */

static modal_status put(glb_writer *w, int64_t array, const void *values, int64_t bytes, modal_error *err)
{
    return modal_file_out_write_at(&w->out, w->start + w->scene.arrays[array].offset, values, bytes, err);
}

/* What the floats of an array are, for messages: "shape 2, vertex 7: mode 3", "object 0, frame 4: translation". */
typedef struct glb_what {
    const char *owner;
    int32_t owner_number;
    const char *what;
    int32_t number; /* -1: none */
    const char *row;
    int64_t first, step; /* row i is named first + i step */
} glb_what;

/* Floats of `width` a row, none of which may be NaN or infinite. */
static modal_status put_floats(glb_writer *w, int64_t array, const float *values, int64_t rows, int width,
                               glb_what is, modal_error *err)
{
    const int64_t n = rows * width, place = modal_first_nonfinite(values, n);
    char number[16] = "";
    if (place == n) return put(w, array, values, 4 * n, err);
    if (is.number >= 0) snprintf(number, sizeof number, " %d", is.number);
    return modal_error_set(err, MODAL_ERROR_INPUT,
                           "glb: %s %d, %s %" PRId64 ": %s%s does not fit float32, %g", is.owner, is.owner_number,
                           is.row, is.first + place / width * is.step, is.what, number,
                           isnan(values[place]) ? NAN : (double)values[place]);
}

static modal_status put_vectors(glb_writer *w, int64_t array, const float *values, glb_what is, modal_error *err)
{
    glb_array *a = &w->scene.arrays[array];
    for (int k = 0; k < 3; k++) {
        a->least[k] = INFINITY;
        a->most[k] = -INFINITY;
    }
    for (int64_t i = 0; i < a->count; i++)
        for (int k = 0; k < 3; k++) {
            const float x = values[3 * i + k];
            if (x < a->least[k]) a->least[k] = x;
            if (x > a->most[k]) a->most[k] = x;
        }
    return put_floats(w, array, values, a->count, 3, is, err);
}

/* The triangles of each primitive of a shape. */
static modal_status write_primitives(glb_writer *w, int32_t shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    const glb_look *look = &w->scene.look;
    uint32_t *indices = NULL;
    MODAL_TRY(modal_alloc(&indices, w->scene.basis->shapes[shape].surface.n_triangles, 12, "triangles", err));
    for (int32_t i = 0; i < look->n_variants; i++)
        for (int32_t k = 0; look->variants[i].shape == shape && k < look->variants[i].n_primitives; k++) {
            const glb_primitive *p = &look->primitives[look->variants[i].first_primitive + k];
            modal_glb_look_indices(look, i, k, indices);
            MODAL_TRY(put(w, p->array, indices, 12 * p->n_triangles, err));
        }
    if (look->splits[shape].uv) MODAL_TRY(put(w, w->scene.shapes[shape].uv, look->splits[shape].uv, 8 * look->splits[shape].n_split, err));
done:
    modal_free(&indices);
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
    if (w->scene.look.splits) return put(w, w->scene.shapes[shape].first_array, w->scene.look.splits[shape].corners, 12 * s->surface.n_triangles, err);
    return put(w, w->scene.shapes[shape].first_array, corners, 12 * s->surface.n_triangles, err);
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
    const int64_t stride = 3 * vertices_of(&w->scene, part->shape);
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
    MODAL_TRY(modal_alloc(&m->floats, 3 * vertices_of(&w->scene, shape), sizeof *m->floats, "normals", err));
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
    return put_floats(w, modal_glb_normals_array(g) + array, m->floats, vertices_of(&w->scene, shape), 3,
                      (glb_what){"shape", shape, target ? "normal of mode" : "normal", mode, "vertex", 0, 1}, err);
}

static modal_status write_positions(glb_writer *w, int32_t shape, smooth *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_shape *s = &w->scene.basis->shapes[shape];
    const glb_shape *g = &w->scene.shapes[shape];
    const modal_matrix_source *source = &w->scene.info->scene->matrix;
    const int64_t at_once = targets_at_once(&s->surface, g->n_targets), range = tiles_at_once(s);
    const int64_t n_tiles = modal_tile_count(s->surface.n_vertices), n = s->surface.n_vertices, n_split = vertices_of(&w->scene, shape);
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
            MODAL_TRY(put_vectors(w, g->first_array + 2 + k, target,
                                  (glb_what){"shape", shape, "mode", g->modes[k], "vertex", 0, 1}, err));
            MODAL_TRY(write_normals(w, shape, m, 1 + k, NULL, target, err));
        }
        first = last;
    } while (first < g->n_targets);
    for (int64_t i = 0; i < 3 * n; i++) targets[i] = (float)base[i];
    if (split) modal_glb_split_rows(split, targets);
    MODAL_TRY(put_vectors(w, g->first_array + 1, targets, (glb_what){"shape", shape, "position", -1, "vertex", 0, 1}, err));
done:
    modal_free(&base);
    modal_free(&tiles);
    modal_free(&targets);
    return status;
}

static modal_status write_shape(glb_writer *w, int32_t shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    smooth m = {0};
    uint32_t *corners = NULL;
    MODAL_TRY(modal_alloc(&corners, w->scene.basis->shapes[shape].surface.n_triangles, 12, "triangles", err));
    MODAL_TRY(write_triangles(w, shape, corners, err));
    MODAL_TRY(make_smooth(w, shape, corners, &m, err));
    MODAL_TRY(write_positions(w, shape, &m, err));
done:
    free_smooth(&m);
    modal_free(&corners);
    return status;
}

static modal_status write_times(glb_writer *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    glb_scene *g = &w->scene;
    const modal_sequence_info *info = g->info;
    float *times = NULL;
    MODAL_TRY(modal_alloc(&times, info->n_frames, sizeof *times, "times", err));
    for (int64_t f = 0; f < info->n_frames; f++) {
        times[f] = (float)((info->times[f] + g->time_shift) * (info->slow_motion > 0 ? info->slow_motion : 1));
        if (!isfinite(times[f]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "glb: frame %" PRId64 ": its time does not fit float32, %g",
                       info->scene->start + f * info->scene->step, info->times[f]);
        if (f > 0 && !(times[f] > times[f - 1]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT,
                       "glb: frame %" PRId64 ": float32 cannot tell its time from the one before, %.17g", f,
                       info->times[f]);
    }
    g->arrays[g->times].least[0] = times[0];
    g->arrays[g->times].most[0] = times[info->n_frames - 1];
    MODAL_TRY(put(w, g->times, times, 4 * info->n_frames, err));
done:
    modal_free(&times);
    return status;
}

static modal_status write_weights(glb_writer *w, int32_t object, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_sequence_scene *in = w->scene.info->scene;
    const modal_trajectory *t = in->trajectory;
    const glb_shape *g = &w->scene.shapes[w->scene.basis->objects[object].shape];
    const int64_t n = w->scene.info->n_frames, total = t->mode_offsets[t->n_objects];
    float *weights = NULL;
    MODAL_TRY(modal_alloc(&weights, n * g->n_targets, sizeof *weights, "weights", err));
    for (int64_t f = 0; f < n; f++) {
        const double *q = t->q + (in->start + f * in->step) * total + t->mode_offsets[object];
        for (int32_t k = 0; k < g->n_targets; k++)
            weights[f * g->n_targets + k] =
                (float)((q[g->modes[k]] - g->low[g->modes[k]]) / g->spread[g->modes[k]]);
    }
    MODAL_TRY(put_floats(w, w->scene.object_array[object], weights, n, g->n_targets,
                         (glb_what){"object", object, "weight", -1, "frame", in->start, in->step}, err));
done:
    modal_free(&weights);
    return status;
}

static modal_status write_rigid(glb_writer *w, int32_t object, int64_t array, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_sequence_scene *in = w->scene.info->scene;
    const int64_t n = w->scene.info->n_frames, n_objects = w->scene.basis->n_objects;
    double q[4], before[4];
    float *places = NULL, *turns = NULL;
    MODAL_TRY(modal_alloc(&places, n, 12, "translations", err));
    MODAL_TRY(modal_alloc(&turns, n, 16, "rotations", err));
    for (int64_t f = 0; f < n; f++) {
        const double *pose = in->trajectory->poses + ((in->start + f * in->step) * n_objects + object) * 12;
        modal_glb_quaternion(pose, f > 0 ? before : NULL, q);
        memcpy(before, q, sizeof q);
        for (int k = 0; k < 3; k++) places[3 * f + k] = (float)pose[4 * k + 3];
        for (int k = 0; k < 4; k++) turns[4 * f + k] = (float)q[k];
    }
    MODAL_TRY(put_floats(w, array, places, n, 3, (glb_what){"object", object, "translation", -1, "frame", in->start, in->step}, err));
    MODAL_TRY(put_floats(w, array + 1, turns, n, 4, (glb_what){"object", object, "rotation", -1, "frame", in->start, in->step}, err));
done:
    modal_free(&turns);
    modal_free(&places);
    return status;
}

static modal_status write_binary(glb_writer *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *b = w->scene.basis;
    for (int32_t i = 0; i < b->n_shapes; i++) {
        if (!w->scene.shapes[i].used) continue;
        MODAL_TRY(write_shape(w, i, err));
    }
    if (w->scene.times < w->scene.n_arrays) MODAL_TRY(write_times(w, err));
    for (int32_t i = 0; i < b->n_objects; i++) {
        const int weights = w->scene.shapes[b->objects[i].shape].n_targets > 0;
        if (weights) MODAL_TRY(write_weights(w, i, err));
        if (w->scene.info->scene->trajectory->poses)
            MODAL_TRY(write_rigid(w, i, w->scene.object_array[i] + weights, err));
    }
    for (int32_t i = 0; w->scene.look.in && i < w->scene.look.in->n_images; i++) {
        static const char zeros[4] = {0};
        const modal_sequence_image *image = &w->scene.look.in->images[i];
        const int64_t place = w->start + w->scene.image_places[i];
        MODAL_TRY(modal_file_out_write_at(&w->out, place, image->bytes, image->length, err));
        MODAL_TRY(modal_file_out_write_at(&w->out, place + image->length, zeros, (4 - image->length % 4) % 4, err));
    }
done:
    return status;
}

/* ---- the file ---- */

/* Room for the JSON chunk: its length when every number that is not known yet is as long as one can
 * be. */
static modal_status reserve(glb_writer *w, int64_t *room, modal_error *err)
{
    glb_scene *g = &w->scene;
    for (int64_t i = 0; i < g->n_arrays; i++)
        for (int k = 0; k < 3; k++) g->arrays[i].least[k] = g->arrays[i].most[k] = -1.17549435e-38f;
    char *text = modal_glb_json(g);
    if (!text) return modal_error_set(err, MODAL_ERROR_MEMORY, "%s: out of memory", w->out.path);
    *room = ((int64_t)strlen(text) + 3) / 4 * 4;
    free(text);
    return MODAL_OK;
}

static modal_status write_json(glb_writer *w, int64_t room, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t total = w->start + w->scene.bytes;
    const uint32_t head[5] = {0x46546c67, 2, (uint32_t)total, (uint32_t)room, 0x4e4f534a};
    const uint32_t binary[2] = {(uint32_t)w->scene.bytes, 0x004e4942};
    char *padded = NULL, *text = modal_glb_json(&w->scene);
    if (!text) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "%s: out of memory", w->out.path);
    const size_t length = strlen(text);
    if ((int64_t)length > room || total > UINT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: cannot be larger than 4 GiB", w->out.path);
    MODAL_TRY(modal_alloc(&padded, room, 1, "description", err));
    memset(padded, ' ', (size_t)room);
    memcpy(padded, text, length);
    MODAL_TRY(modal_file_out_write_at(&w->out, 0, head, sizeof head, err));
    MODAL_TRY(modal_file_out_write_at(&w->out, sizeof head, padded, room, err));
    MODAL_TRY(modal_file_out_write_at(&w->out, w->start - 8, binary, sizeof binary, err));
done:
    modal_free(&padded);
    free(text);
    return status;
}

static modal_status begin(void **writer, const modal_sequence_target *target,
                          const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t room = 0;
    glb_writer w = {.out = {.file = -1},
                    .scene = {.info = info, .basis = info->scene->basis,
                              .time_shift = info->times[0] < 0 ? -info->times[0] : 0}};
    *writer = NULL;
    MODAL_TRY(plan(&w.scene, err));
    MODAL_TRY(modal_file_out_open(&w.out, target->files[0], err));
    MODAL_TRY(reserve(&w, &room, err));
    w.start = 20 + room + 8;
    MODAL_TRY(write_binary(&w, err));
    MODAL_TRY(write_json(&w, room, err));
    MODAL_TRY(modal_file_out_close(&w.out, err));
done:
    free_scene(&w.scene);
    modal_file_out_free(&w.out);
    return status;
}

static modal_status add(void *writer, const modal_frames *frames, modal_error *err)
{
    (void)writer, (void)frames, (void)err;
    return MODAL_OK;
}

static modal_status end(void **writer, const modal_sequence_target *target,
                        const modal_sequence_info *info, modal_error *err)
{
    (void)writer, (void)target, (void)info, (void)err;
    return MODAL_OK;
}

static void drop(void **writer) { *writer = NULL; }

const modal_sequence_format modal_sequence_glb = {
    .name = "glb", .files = {"sequence.glb"}, .kinds = {"glb"}, .needs_scene = 1,
    .holds_surface = 1, .carries = modal_sequence_is_points, .size = size, .begin = begin, .add = add, .end = end,
    .abort = drop};
