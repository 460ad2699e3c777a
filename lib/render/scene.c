/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/render/scene.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/normals_dynamic/normals_dynamic.h"
#include "kernels/normals_wedge/normals_wedge.h"
#include "lib/base/memory.h"
#include "lib/render/solids.h"

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
    if (s->images.n_images > 0) {
        for (int32_t i = 0; i < basis->n_shapes; i++) s->n_uv += basis->shapes[i].surface.uv ? basis->shapes[i].surface.n_uv : 0;
        for (int32_t i = 0; i < s->images.n_solids; i++) s->n_uv += s->images.solids[i].charts ? s->images.solids[i].charts->n_uv : 0;
        s->n_uv += 4 * s->has_ground;
        if (s->n_uv > INT32_MAX) MODAL_FAIL(err, MODAL_ERROR_INPUT, "texture coordinates: more than 31 bits number, %" PRId64, s->n_uv);
        MODAL_TRY(modal_alloc(&s->uv, s->n_uv, 2 * sizeof *s->uv, "texture coordinates", err));
        MODAL_TRY(modal_alloc(&s->triangle_uv, s->n_triangles, 3 * sizeof *s->triangle_uv, "texture coordinates", err));
    }
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

/* Of a triangle of this material, but for what its surface is. */
static unsigned material_flags(const modal_render_scene *s, const modal_look_material *m, int32_t material, double shadow_alpha)
{
    const int has_image = (s->images.n_images > 0 && s->images.of_material[material][0] >= 0) ||
                          (s->images.n_solids > 0 && s->images.solids_of_material[material][0] >= 0);
    unsigned flags = m->two_sided ? 0 : MODAL_RASTER_ONE_SIDED;
    if (m->alpha == MODAL_ALPHA_BLEND) flags |= MODAL_RASTER_BLEND | (m->opacity <= shadow_alpha ? MODAL_RASTER_NO_SHADOW : 0);
    if (m->alpha == MODAL_ALPHA_CUTOUT) flags |= m->opacity < m->cutoff ? MODAL_RASTER_ABSENT : has_image ? MODAL_RASTER_CUTOUT : 0;
    return flags;
}

/* Texture coordinates of a shape's triangle in the scene; -1 where it has none or needs none. */
static modal_status set_uv(modal_render_scene *s, const modal_surface *surface, int64_t first_uv, const modal_look_material *m, int painted, int64_t t,
                           int64_t at, modal_error *err)
{
    int32_t *to = s->triangle_uv + 3 * at;
    for (int k = 0; k < 3; k++) {
        to[k] = surface->uv && painted ? (int32_t)(first_uv + surface->triangle_uv[3 * t + k]) : -1;
        if (to[k] < 0 || m->wrap != MODAL_WRAP_NONE) continue;
        const double *uv = surface->uv + 2 * (int64_t)surface->triangle_uv[3 * t + k];
        if (!(uv[0] >= 0.0 && uv[0] <= 1.0 && uv[1] >= 0.0 && uv[1] <= 1.0))
            return modal_error_set(err, MODAL_ERROR_INPUT, "material %s: refuses texture coordinates outside of [0, 1], but triangle %d has %g %g", m->name,
                                   surface->user_triangle[t], uv[0], uv[1]);
    }
    return MODAL_OK;
}

/* Where an object begins, and in scene->uv its shape's texture coordinates and those of solids' charts. */
typedef struct beginning {
    int64_t point, triangle, uv, charts[MODAL_RENDER_SOLIDS];
} beginning;

static modal_status add_object(modal_render_scene *s, const modal_render_scene_request *r, int32_t object, int closed, const beginning *first, modal_error *err)
{
    modal_status status = MODAL_OK;
    double tint[3];
    int bare = 0;
    const modal_surface *surface = &r->basis->shapes[r->basis->objects[object].shape].surface;
    MODAL_TRY(modal_look_resolve(r->look, r->basis, object, s->triangle_materials + first->triangle, tint, err));
    for (int k = 0; k < 3; k++) s->tints[3 * (int64_t)object + k] = (float)tint[k];
    s->object_triangles[object] = (int32_t)first->triangle;
    for (int64_t t = 0, at = first->triangle; t < surface->n_triangles; t++, at++) {
        const int32_t material = s->triangle_materials[at];
        const modal_look_material *m = &r->look->materials[material];
        const unsigned flags = material_flags(s, m, material, r->shadow_alpha);
        if (t == 0 || material != s->triangle_materials[at - 1])
            MODAL_TRY(modal_render_solids_check(s, m, material, r->basis->objects[object].shape, err));
        const int whole = !(flags & (MODAL_RASTER_CUTOUT | MODAL_RASTER_BLEND | MODAL_RASTER_ABSENT));
        for (int k = 0; k < 3; k++) s->triangles[3 * at + k] = (int32_t)(first->point + surface->triangles[3 * t + k]);
        s->flags[at] = (uint8_t)(flags | (flags & MODAL_RASTER_ONE_SIDED && closed && whole ? MODAL_RASTER_CLOSED : 0));
        s->n_cutouts |= flags & MODAL_RASTER_CUTOUT ? 1 : 0;
        s->n_blended |= flags & MODAL_RASTER_BLEND ? 1 : 0;
        if (!s->triangle_uv) continue;
        const int32_t charts = s->images.charts_of_material ? s->images.charts_of_material[material] : -1;
        for (int k = 0; charts >= 0 && k < 3; k++)
            s->triangle_uv[3 * at + k] =
                (int32_t)(first->charts[charts] + s->images.solids[charts].charts->triangle_uv[3 * (int64_t)surface->user_triangle[t] + k]);
        if (charts >= 0) continue;
        const int painted = s->images.of_material[material][0] >= 0 || s->images.of_material[material][1] >= 0;
        bare |= painted && !surface->uv;
        MODAL_TRY(set_uv(s, surface, first->uv, m, painted, t, at, err));
    }
    s->n_unpainted += bare;
done:
    return status;
}

static void add_ground(modal_render_scene *s, const modal_look *look, const modal_render_ground *g, int64_t at)
{
    static const int corners[6] = {0, 1, 2, 0, 2, 3};
    double across[3], along[3], length = 0.0, shift = g->height;
    const int least = fabs(g->up[0]) <= fabs(g->up[1]) ? (fabs(g->up[0]) <= fabs(g->up[2]) ? 0 : 2) : (fabs(g->up[1]) <= fabs(g->up[2]) ? 1 : 2);
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
    for (int i = 0; s->triangle_uv && i < 4; i++) { /* counted from the point of the plane nearest to the origin: as large scenes are, uv of any size */
        const double a = i == 1 || i == 2 ? 0.5 : -0.5, b = i >= 2 ? 0.5 : -0.5;
        double u = g->size * a, v = g->size * b;
        for (int k = 0; k < 3; k++) u += across[k] * g->centre[k], v += along[k] * g->centre[k];
        s->uv[2 * (s->n_uv - 4 + i)] = (float)(u / g->tile), s->uv[2 * (s->n_uv - 4 + i) + 1] = (float)(v / g->tile);
    }
    for (int i = 0; i < 6; i++) s->triangles[3 * at + i] = (int32_t)s->n_points + corners[i];
    for (int i = 0; i < 2; i++) {
        s->triangle_materials[at + i] = look->ground_material;
        s->flags[at + i] = look->materials[look->ground_material].two_sided ? 0 : MODAL_RASTER_ONE_SIDED; /* opaque, whatever its image says */
        for (int k = 0; s->triangle_uv && k < 3; k++) s->triangle_uv[3 * (at + i) + k] = (int32_t)(s->n_uv - 4) + corners[3 * i + k];
    }
}

static modal_status check_ground_uv(const modal_render_scene *s, const modal_look *look, modal_error *err)
{
    const modal_look_material *m = &look->materials[look->ground_material];
    const int32_t *images = s->triangle_uv ? s->images.of_material[look->ground_material] : NULL;
    for (int i = 0; images && (images[0] >= 0 || images[1] >= 0) && m->wrap == MODAL_WRAP_NONE && i < 8; i++) {
        const double uv = (double)s->uv[2 * (s->n_uv - 4) + i];
        if (!(uv >= 0.0 && uv <= 1.0))
            return modal_error_set(err, MODAL_ERROR_INPUT, "material %s: refuses texture coordinates outside of [0, 1], but the ground has %g", m->name, uv);
    }
    return MODAL_OK;
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

/* Wedges of all objects at rest, and their tables. */
static modal_status make_wedges(modal_render_scene *s, const modal_basis *basis, modal_crease_rule rule, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_render_wedges *w = &s->wedges;
    const int64_t n_triangles = s->object_triangles[s->n_objects];
    modal_creases *c = &w->creases;
    MODAL_TRY(modal_creases_of_objects(c, basis, rule, 1, s->triangles, err));
    if (c->n_wedges == c->n_vertices) { /* no edge is hard: normals are those of points */
        modal_creases_free(c);
        goto done;
    }
    const int64_t tiles = (c->n_wedges + MODAL_TILE - 1) / MODAL_TILE;
    MODAL_TRY(modal_alloc(&w->corners, c->face_offsets[c->n_wedges], 2 * sizeof *w->corners, "corners", err));
    MODAL_TRY(modal_normals_corners(c->n_wedges, n_triangles, c->corners, c->face_offsets, c->faces, w->corners, err));
    MODAL_TRY(modal_alloc(&w->ring_offsets, tiles + 1, sizeof *w->ring_offsets, "corners", err));
    modal_normals_ring_offsets(c->n_wedges, c->face_offsets, w->corners, w->ring_offsets);
    MODAL_TRY(modal_alloc(&w->ring, MODAL_TILE * w->ring_offsets[tiles], sizeof *w->ring, "corners", err));
    modal_normals_ring(c->n_wedges, c->face_offsets, w->corners, w->ring_offsets, w->ring);
    modal_normals_wedge_vertices(s->n_points, c->source, 2 * c->face_offsets[c->n_wedges], w->corners);
    modal_normals_wedge_vertices(s->n_points, c->source, MODAL_TILE * w->ring_offsets[tiles], w->ring);
done:
    return status;
}

/* Objects one after the other. */
static modal_status add_objects(modal_render_scene *scene, const modal_render_scene_request *r, int64_t *n_triangles, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *closed = NULL;
    int64_t *first_uv = NULL, n_uv = 0;
    beginning first = {0};
    MODAL_TRY(modal_alloc(&closed, r->basis->n_shapes, 1, "shapes", err));
    MODAL_TRY(modal_alloc(&first_uv, r->basis->n_shapes, sizeof *first_uv, "shapes", err));
    for (int32_t i = 0; i < r->basis->n_shapes; i++) {
        const modal_surface *s = &r->basis->shapes[i].surface;
        closed[i] = (uint8_t)is_closed(s);
        first_uv[i] = n_uv;
        if (!scene->uv || !s->uv) continue;
        for (int64_t k = 0; k < 2 * s->n_uv; k++) scene->uv[2 * n_uv + k] = (float)s->uv[k];
        n_uv += s->n_uv;
    }
    for (int32_t i = 0; scene->uv && i < scene->images.n_solids; i++) {
        const modal_octree_atlas *charts = scene->images.solids[i].charts;
        first.charts[i] = n_uv;
        for (int64_t k = 0; charts && k < 2 * charts->n_uv; k++) scene->uv[2 * n_uv + k] = (float)charts->uv[k];
        n_uv += charts ? charts->n_uv : 0;
    }
    for (int32_t i = 0; i < r->basis->n_objects; i++) {
        const int32_t shape = r->basis->objects[i].shape;
        first.uv = first_uv[shape];
        MODAL_TRY(add_object(scene, r, i, closed[shape], &first, err));
        first.point += r->basis->shapes[shape].surface.n_vertices;
        first.triangle += r->basis->shapes[shape].surface.n_triangles;
    }
    *n_triangles = first.triangle;
    scene->object_triangles[scene->n_objects] = (int32_t)first.triangle;
done:
    modal_free(&closed);
    modal_free(&first_uv);
    return status;
}

modal_status modal_render_scene_new(modal_render_scene *scene, const modal_render_scene_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n_triangles = 0;
    *scene = (modal_render_scene){.has_ground = r->ground != NULL};
    if (r->images) scene->images = *r->images;
    MODAL_TRY(make_room(scene, r->basis, r->look, err));
    MODAL_TRY(set_lights(scene, r->look, err));
    set_materials(scene, r->look);
    MODAL_TRY(add_objects(scene, r, &n_triangles, err));
    if (r->ground) {
        add_ground(scene, r->look, r->ground, n_triangles);
        MODAL_TRY(check_ground_uv(scene, r->look, err));
    }
    if (r->creases.degrees >= 0.0) MODAL_TRY(make_wedges(scene, r->basis, r->creases, err));
    MODAL_TRY(modal_render_solids_make(scene, r->basis, r->ground ? r->look->ground_material : -1, err));
done:
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
    modal_free(&s->uv);
    modal_free(&s->triangle_uv);
    modal_free(&s->rest);
    modal_free(&s->rest_normals);
    modal_free(&s->solids);
    modal_creases_free(&s->wedges.creases);
    modal_free(&s->wedges.corners);
    modal_free(&s->wedges.ring_offsets);
    modal_free(&s->wedges.ring);
    *s = (modal_render_scene){0};
}

int64_t modal_render_scene_bytes(const modal_render_scene *s)
{
    const modal_creases *c = &s->wedges.creases;
    int64_t bytes = 17 * s->n_triangles + 16 * (int64_t)(s->n_objects + 1) + MODAL_SHADE_MATERIAL * 4 * (int64_t)s->n_materials;
    bytes += 8 * s->n_uv + (s->triangle_uv ? 12 * s->n_triangles : 0) + 16 * (int64_t)s->images.n_levels + 8 * (int64_t)(s->images.n_images + s->n_materials);
    for (int32_t i = 0; i < s->images.n_parts; i++) bytes += 4 * s->images.part_texels[i];
    for (int32_t i = 0; i < s->images.n_solids; i++) bytes += modal_octree_pyramid_bytes(s->images.solids[i].pyramid) + (int64_t)sizeof *s->solids;
    bytes += (s->rest ? 12 : 0) * (s->n_points + 4) + 12 * s->n_rest_normals + (s->images.n_solids ? 8 * (int64_t)s->n_materials : 0);
    if (!c->corners) return bytes;
    bytes += 12 * c->n_triangles + 12 * c->n_wedges + 12 * c->face_offsets[c->n_wedges];
    return bytes + 4 * MODAL_TILE * s->wedges.ring_offsets[(c->n_wedges + MODAL_TILE - 1) / MODAL_TILE] + c->n_wedges / 4;
}
