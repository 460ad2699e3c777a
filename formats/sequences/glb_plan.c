/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a GLB and how large it gets: its arrays, their places, the ranges of q. */
#include <float.h>
#include <math.h>

#include "formats/sequences/glb_normals.h"
#include "formats/sequences/glb_writer.h"
#include "lib/base/memory.h"

static const int64_t TARGET_BYTES = INT64_C(64) << 20; /* of the targets that are made at a time */
static const int64_t RANGE_BYTES = INT64_C(4) << 20;   /* of U that are read at a time */

/* How many targets are made at a time, and tiles read. */
int64_t modal_glb_targets_at_once(const modal_surface *s, int64_t n_targets)
{
    int64_t n = TARGET_BYTES / (12 * s->n_vertices + 1);
    if (n > n_targets) n = n_targets;
    return n > 1 ? n : 1;
}

int64_t modal_glb_tiles_at_once(const modal_shape *s)
{
    int64_t n = RANGE_BYTES / (s->modes.n_modes * 3 * MODAL_TILE * 4 + 1), tiles = modal_tile_count(s->surface.n_vertices);
    if (n > tiles) n = tiles;
    return n > 1 ? n : 1;
}

/* Vertices of a shape in the file; with a look seams make more of them. */
int64_t modal_glb_vertices(const glb_scene *g, int32_t shape)
{
    return g->look.splits ? g->look.splits[shape].n_split : g->basis->shapes[shape].surface.n_vertices;
}

modal_status modal_glb_size(const modal_sequence_info *info, int64_t *disk_bytes, int64_t *memory_bytes,
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
        const int64_t n = modal_glb_vertices(&g, i), crease_bytes = MODAL_GLB_NORMALS_BYTES + 48;
        const int64_t memory = 36 * n + 12 * s->surface.n_triangles + (normals ? (MODAL_GLB_NORMALS_BYTES + 24 + 12) * n : 0) +
                               (info->texture ? 16 * n : 0) + (info->look ? 20 * n + 28 * s->surface.n_triangles : 0) +
                               (info->creases ? 16 * n + 24 * s->surface.n_triangles + crease_bytes * info->creases[i].n_wedges : 0) +
                               12 * n * modal_glb_targets_at_once(&s->surface, s->modes.n_modes) +
                               modal_glb_tiles_at_once(s) * s->modes.n_modes * 3 * MODAL_TILE * 4;
        if (memory > *memory_bytes) *memory_bytes = memory;
        bytes += 12.0 * (double)n * (s->modes.n_modes + 1.0) * (normals > 1 ? 2 : 1) + 12.0 * (double)n * (normals == 1) +
                 (info->look ? 8.0 * (double)n : 0) + (info->texture ? 16.0 * (double)n : 0) + 12.0 * (double)s->surface.n_triangles +
                 800.0 * (s->modes.n_modes + 3.0);
    }
    *memory_bytes += 1 << 20;
    for (int32_t i = 0; info->look && i < info->look->n_images; i++) bytes += (double)info->look->images[i].length + 400;
    for (int32_t i = 0; i < g.look.shown.n_variants; i++) { /* triangles again, and what is said of each primitive */
        const modal_shape *s = &b->shapes[g.look.shown.variants[i].shape];
        bytes += 12.0 * (double)s->surface.n_triangles + (1200.0 + 60.0 * s->modes.n_modes) * g.look.meshes[i].n_primitives;
    }
    modal_glb_look_free(&g.look);
    for (int32_t i = 0; i < b->n_objects; i++)
        bytes += 4.0 * (double)info->n_frames * (b->shapes[b->objects[i].shape].modes.n_modes + 7.0) + 1200.0;
    if (bytes >= 4294967296.0)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "glb: cannot be larger than 4 GiB, this would have %.0f bytes", bytes);
    *disk_bytes = (int64_t)bytes;
    return MODAL_OK;
}

void modal_glb_scene_free(glb_scene *g)
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
        MODAL_TRY(add_array(g, (glb_array){.count = modal_glb_vertices(g, shape), .type = "VEC2", .buffer_target = 34962}, err));
    }
    for (int32_t i = 0; i < g->look.shown.n_variants; i++) {
        const glb_mesh *mesh = &g->look.meshes[i];
        for (int32_t k = 0; g->look.shown.variants[i].shape == shape && k < mesh->n_primitives; k++) {
            glb_primitive *p = &g->look.primitives[mesh->first_primitive + k];
            p->array = taken ? g->n_arrays : s->first_array;
            if (taken++)
                MODAL_TRY(add_array(g, (glb_array){.count = 3 * p->n_triangles, .type = "SCALAR", .integers = 1, .buffer_target = 34963}, err));
        }
    }
done:
    return status;
}

static modal_status plan_colour(glb_scene *g, int32_t shape, modal_error *err)
{
    glb_shape *s = &g->shapes[shape];
    s->colour = -1;
    s->first_point = 0;
    if (!g->info->texture || !g->info->texture->colours) return MODAL_OK;
    for (int32_t i = 0; g->basis->objects[i].shape != shape; i++) s->first_point += g->basis->shapes[g->basis->objects[i].shape].surface.n_vertices;
    s->colour = g->n_arrays;
    return add_array(g, (glb_array){.count = modal_glb_vertices(g, shape), .type = "VEC4", .buffer_target = 34962}, err);
}

/* Triangles of the array that a shape begins with. */
static int64_t first_triangles(const glb_scene *g, int32_t shape)
{
    for (int32_t i = 0; g->look.in && i < g->look.shown.n_variants; i++)
        if (g->look.shown.variants[i].shape == shape) return g->look.primitives[g->look.meshes[i].first_primitive].n_triangles;
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

modal_status modal_glb_plan(glb_scene *g, modal_error *err)
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
            MODAL_TRY(add_array(g, (glb_array){.count = modal_glb_vertices(g, i), .type = "VEC3",
                                               .buffer_target = 34962, .ranges = 1}, err));
        const int32_t n_normals = g->info->target_normals > 1 ? 1 + s->n_targets : g->info->target_normals;
        for (int32_t k = 0; k < n_normals; k++)
            MODAL_TRY(add_array(g, (glb_array){.count = modal_glb_vertices(g, i), .type = "VEC3",
                                               .buffer_target = 34962}, err));
        MODAL_TRY(plan_look(g, i, err));
        MODAL_TRY(plan_colour(g, i, err));
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
