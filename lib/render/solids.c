/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/render/solids.h"

#include <math.h>

#include "lib/base/memory.h"

/* Of all vertices: what coordinates at rest begin at, so that float32 keeps its digits far from the origin. */
static void lowest_corner(const modal_surface *s, double low[3])
{
    for (int k = 0; k < 3; k++) low[k] = s->n_vertices > 0 ? s->rest_positions[k] : 0;
    for (int64_t i = 3; i < 3 * s->n_vertices; i++) low[i % 3] = fmin(low[i % 3], s->rest_positions[i]);
}

/* Area-weighted, as the deformer's, of points or of wedges: what lies in a frame at rest lies in it when nothing is deformed. */
static modal_status make_normals(modal_render_scene *scene, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_creases *creases = &scene->wedges.creases;
    const int32_t *rows = creases->corners ? creases->corners : scene->triangles;
    const int64_t n = creases->corners ? creases->n_wedges : scene->n_points;
    double *sums = NULL;
    MODAL_TRY(modal_alloc_zero(&sums, 3 * n, sizeof *sums, "normals", err));
    MODAL_TRY(modal_alloc(&scene->rest_normals, 3 * n, sizeof *scene->rest_normals, "normals", err));
    scene->n_rest_normals = n;
    for (int64_t t = 0; t < scene->object_triangles[scene->n_objects]; t++) {
        const float *x[3];
        double a[3], b[3];
        for (int j = 0; j < 3; j++) x[j] = scene->rest + 3 * (int64_t)scene->triangles[3 * t + j];
        for (int k = 0; k < 3; k++) a[k] = (double)x[1][k] - (double)x[0][k], b[k] = (double)x[2][k] - (double)x[0][k];
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                sums[3 * (int64_t)rows[3 * t + j] + k] += a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
    for (int64_t i = 0; i < n; i++) {
        const double *v = sums + 3 * i, length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (int k = 0; k < 3; k++) scene->rest_normals[3 * i + k] = length > 0 ? (float)(v[k] / length) : 0;
    }
done:
    modal_free(&sums);
    return status;
}

/* The ground does not move: where it is, it is at rest, seen from its first corner. */
static modal_status place_ground(modal_render_scene *scene, int32_t material, modal_error *err)
{
    enum { PLACES = 256 };
    modal_status status = MODAL_OK;
    double *places = NULL;
    float *values = NULL;
    int64_t n_outside = 0;
    const float *g = scene->ground;
    for (int role = 0; role < 2; role++) {
        const int32_t number = scene->images.solids_of_material[material][role];
        if (number < 0) continue;
        const modal_octree_pyramid *pyramid = scene->images.solids[number].pyramid;
        const modal_octree_tables *tables = &pyramid->finest;
        modal_paint_solid *solid = &scene->solids[number];
        const char *name = scene->images.solids[number].name;
        if (solid->scale > 0.0f) MODAL_FAIL(err, MODAL_ERROR_INPUT, "the ground: %s is on a shape; the ground needs a texture of its own", name);
        MODAL_TRY(modal_alloc(&places, 3 * PLACES * PLACES, sizeof *places, "ground", err));
        MODAL_TRY(modal_alloc(&values, 3 * PLACES * PLACES, sizeof *values, "ground", err));
        for (int64_t i = 0; i < PLACES * PLACES; i++)
            for (int k = 0; k < 3; k++) {
                const double across = (double)g[3 + k] - (double)g[k], along = (double)g[9 + k] - (double)g[k];
                places[3 * i + k] = (double)g[k] + ((double)(i % PLACES) + 0.5) / PLACES * across + ((double)(i / PLACES) + 0.5) / PLACES * along;
            }
        MODAL_TRY(modal_octree_sample(tables, MODAL_OCTREE_NEAREST, places, PLACES * PLACES, values, NULL, &n_outside, err));
        if (n_outside == PLACES * PLACES)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "the ground: %s has no value there; build it around a surface in the ground's plane", name);
        *solid = (modal_paint_solid){.grid = tables->grid, .n_mips = pyramid->n_mips, .mips = pyramid->mips, .scale = (float)tables->scale};
        for (int k = 0; k < 3; k++) solid->shift[k] = (float)((double)g[k] - tables->origin[k]);
        modal_free(&places);
        modal_free(&values);
    }
    for (int i = 0; i < 12; i++) scene->rest[3 * scene->n_points + i] = g[i] - g[i % 3];
done:
    modal_free(&places);
    modal_free(&values);
    return status;
}

modal_status modal_render_solids_make(modal_render_scene *scene, const modal_basis *basis, int32_t ground_material, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_render_images *images = &scene->images;
    int turns = 0;
    int64_t first = 0;
    if (images->n_solids == 0) return MODAL_OK;
    for (int32_t i = 0; i < scene->n_materials; i++) turns |= images->solids_of_material[i][1] >= 0;
    MODAL_TRY(modal_alloc_zero(&scene->solids, images->n_solids, sizeof *scene->solids, "textures", err));
    MODAL_TRY(modal_alloc_zero(&scene->rest, 3 * (scene->n_points + 4), sizeof *scene->rest, "points at rest", err));
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const int32_t shape = basis->objects[i].shape;
        const modal_surface *s = &basis->shapes[shape].surface;
        double low[3];
        lowest_corner(s, low);
        for (int64_t k = 0; k < 3 * s->n_vertices; k++) scene->rest[3 * first + k] = (float)(s->rest_positions[k] - low[k % 3]);
        for (int32_t n = 0; n < images->n_solids; n++) {
            const modal_octree_pyramid *pyramid = images->solids[n].pyramid;
            const modal_octree_tables *tables = &pyramid->finest;
            if (!images->solids[n].wears[shape]) continue; /* those that wear one have the same surface */
            scene->solids[n] = (modal_paint_solid){.grid = tables->grid, .n_mips = pyramid->n_mips, .mips = pyramid->mips, .scale = (float)tables->scale};
            for (int k = 0; k < 3; k++) scene->solids[n].shift[k] = (float)(low[k] - tables->origin[k]);
        }
        first += s->n_vertices;
    }
    if (ground_material >= 0) MODAL_TRY(place_ground(scene, ground_material, err));
    if (turns) MODAL_TRY(make_normals(scene, err));
done:
    return status;
}

/* The solid `number` is one of the material's. */
static modal_status check_one(const modal_render_scene *scene, const modal_look_material *m, int32_t number, int32_t shape, modal_error *err)
{
    if (number < 0) return MODAL_OK;
    const modal_render_solid *solid = &scene->images.solids[number];
    if (solid->wears[shape]) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_INPUT, "material %s: %s was built around another surface than that of shape %d", m->name, solid->name, shape);
}

modal_status modal_render_solids_check(const modal_render_scene *scene, const modal_look_material *m, int32_t number, int32_t shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_render_images *images = &scene->images;
    if (images->n_solids == 0) return MODAL_OK;
    for (int role = 0; role < 2; role++) MODAL_TRY(check_one(scene, m, images->solids_of_material[number][role], shape, err));
    MODAL_TRY(check_one(scene, m, images->charts_of_material[number], shape, err));
done:
    return status;
}
