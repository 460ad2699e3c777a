/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/render/scene.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"

#define SHADOW_ALPHA 0.5 /* what is blended with no more than this throws no shadow */

/* Counts, and room for all of them. */
static modal_status make_room(modal_render_scene *s, const modal_basis *basis, const modal_look *look, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_surface *surface = &basis->shapes[basis->objects[i].shape].surface;
        s->n_points += surface->n_vertices;
        s->n_triangles += surface->n_triangles;
        if (s->n_points > INT32_MAX - 4 || s->n_triangles > INT32_MAX - 2)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "object %d: more points or triangles than 31 bits number, %" PRId64 " and %" PRId64, i,
                       s->n_points, s->n_triangles);
    }
    s->n_triangles += 2 * s->has_ground;
    s->n_objects = basis->n_objects, s->n_materials = look->n_materials;
    MODAL_TRY(modal_alloc(&s->triangles, s->n_triangles, 3 * sizeof *s->triangles, "triangles", err));
    MODAL_TRY(modal_alloc(&s->flags, s->n_triangles, sizeof *s->flags, "triangles", err));
    MODAL_TRY(modal_alloc(&s->triangle_materials, s->n_triangles, sizeof *s->triangle_materials, "triangles", err));
    MODAL_TRY(modal_alloc(&s->object_triangles, (int64_t)s->n_objects + 1, sizeof *s->object_triangles, "objects", err));
    MODAL_TRY(modal_alloc(&s->tints, s->n_objects, 3 * sizeof *s->tints, "objects", err));
    MODAL_TRY(modal_alloc(&s->materials, s->n_materials, MODAL_SHADE_MATERIAL * sizeof *s->materials, "materials", err));
done:
    return status;
}

static void set_materials(modal_render_scene *s, const modal_look *look)
{
    for (int32_t i = 0; i < look->n_materials; i++) {
        const modal_look_material *m = &look->materials[i];
        float *to = s->materials + MODAL_SHADE_MATERIAL * (int64_t)i;
        for (int k = 0; k < 3; k++)
            to[k] = (float)m->ambient[k], to[4 + k] = (float)m->diffuse[k], to[8 + k] = (float)m->specular[k];
        to[3] = to[7] = (float)m->opacity;
        to[11] = (float)m->shininess;
        to[12] = (float)m->cutoff, to[13] = (float)m->alpha, to[14] = (float)m->two_sided, to[15] = (float)m->wrap;
    }
}

static int is_closed(const modal_surface *s)
{
    int64_t open = 0;
    if (!s->boundary) return 0;
    for (int64_t v = 0; v < s->n_vertices; v++) open += s->boundary[v];
    return open == 0;
}

static modal_status add_object(modal_render_scene *s, const modal_basis *basis, const modal_look *look, int32_t object, int closed,
                               int64_t first_point, int64_t *at, modal_error *err)
{
    modal_status status = MODAL_OK;
    double tint[3];
    const modal_surface *surface = &basis->shapes[basis->objects[object].shape].surface;
    MODAL_TRY(modal_look_resolve(look, basis, object, s->triangle_materials + *at, tint, err));
    for (int k = 0; k < 3; k++) s->tints[3 * (int64_t)object + k] = (float)tint[k];
    s->object_triangles[object] = (int32_t)*at;
    for (int64_t t = 0; t < surface->n_triangles; t++, (*at)++) {
        const modal_look_material *m = &look->materials[s->triangle_materials[*at]];
        const int clear = m->alpha == MODAL_ALPHA_BLEND && m->opacity <= SHADOW_ALPHA;
        for (int k = 0; k < 3; k++) s->triangles[3 * *at + k] = (int32_t)(first_point + surface->triangles[3 * t + k]);
        s->flags[*at] = (uint8_t)((m->two_sided ? 0 : MODAL_RASTER_ONE_SIDED | (closed ? MODAL_RASTER_CLOSED : 0)) | (clear ? MODAL_RASTER_NO_SHADOW : 0));
    }
done:
    return status;
}

static void add_ground(modal_render_scene *s, const modal_look *look, const modal_render_ground *g, int64_t at)
{
    static const int corners[6] = {0, 1, 2, 0, 2, 3};
    double across[3], along[3], length = 0.0, shift = g->height;
    const int least = fabs(g->up[0]) < fabs(g->up[1]) ? (fabs(g->up[0]) < fabs(g->up[2]) ? 0 : 2) : (fabs(g->up[1]) < fabs(g->up[2]) ? 1 : 2);
    for (int k = 0; k < 3; k++) shift -= g->up[k] * g->centre[k];
    for (int k = 0; k < 3; k++) across[k] = (k == least) - g->up[least] * g->up[k];
    for (int k = 0; k < 3; k++) length += across[k] * across[k];
    for (int k = 0; k < 3; k++) across[k] /= sqrt(length);
    for (int k = 0; k < 3; k++) along[k] = g->up[(k + 1) % 3] * across[(k + 2) % 3] - g->up[(k + 2) % 3] * across[(k + 1) % 3];
    for (int i = 0; i < 4; i++) /* seen from above against the clock: up = across x along */
        for (int k = 0; k < 3; k++) {
            const double a = i == 1 || i == 2 ? 0.5 : -0.5, b = i >= 2 ? 0.5 : -0.5;
            s->ground[3 * i + k] = (float)(g->centre[k] + shift * g->up[k] + g->size * (a * across[k] + b * along[k]));
            s->ground_normals[3 * i + k] = (float)g->up[k];
        }
    for (int i = 0; i < 6; i++) s->triangles[3 * at + i] = (int32_t)s->n_points + corners[i];
    for (int i = 0; i < 2; i++) {
        s->triangle_materials[at + i] = look->ground_material;
        s->flags[at + i] = look->materials[look->ground_material].two_sided ? 0 : MODAL_RASTER_ONE_SIDED;
    }
}

static modal_status set_lights(modal_render_scene *s, const modal_look *look, modal_error *err)
{
    s->n_lights = look->n_lights;
    for (int32_t i = 0; i < look->n_lights; i++) {
        const modal_look_light *l = &look->lights[i];
        s->lights[i].map = l->shadow ? s->n_maps++ : -1;
        for (int k = 0; k < 3; k++) s->lights[i].direction[k] = -(float)l->direction[k], s->lights[i].colour[k] = (float)l->colour[k];
    }
    for (int k = 0; k < 3; k++) s->ambient[k] = (float)look->ambient[k], s->background[k] = (float)look->background[k];
    if (s->n_maps > MODAL_RENDER_MAPS)
        return modal_error_set(err, MODAL_ERROR_INPUT, "lights: more than %d with shadows, %d", MODAL_RENDER_MAPS, s->n_maps);
    return MODAL_OK;
}

modal_status modal_render_scene_new(modal_render_scene *scene, const modal_basis *basis, const modal_look *look,
                                    const modal_render_ground *ground, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t first_point = 0, at = 0;
    uint8_t *closed = NULL;
    *scene = (modal_render_scene){.has_ground = ground != NULL};
    MODAL_TRY(make_room(scene, basis, look, err));
    MODAL_TRY(set_lights(scene, look, err));
    MODAL_TRY(modal_alloc(&closed, basis->n_shapes, 1, "shapes", err));
    for (int32_t i = 0; i < basis->n_shapes; i++) closed[i] = (uint8_t)is_closed(&basis->shapes[i].surface);
    set_materials(scene, look);
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const int32_t shape = basis->objects[i].shape;
        MODAL_TRY(add_object(scene, basis, look, i, closed[shape], first_point, &at, err));
        first_point += basis->shapes[shape].surface.n_vertices;
    }
    scene->object_triangles[scene->n_objects] = (int32_t)at;
    if (ground) add_ground(scene, look, ground, at);
done:
    modal_free(&closed);
    if (status != MODAL_OK) modal_render_scene_free(scene);
    return status;
}

void modal_render_scene_free(modal_render_scene *s)
{
    modal_free(&s->triangles);
    modal_free(&s->flags);
    modal_free(&s->triangle_materials);
    modal_free(&s->object_triangles);
    modal_free(&s->tints);
    modal_free(&s->materials);
    *s = (modal_render_scene){0};
}

int64_t modal_render_scene_bytes(const modal_render_scene *s)
{
    return 17 * s->n_triangles + 16 * (int64_t)(s->n_objects + 1) + MODAL_SHADE_MATERIAL * 4 * (int64_t)s->n_materials;
}
