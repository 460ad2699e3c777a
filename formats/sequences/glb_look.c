/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/glb_look.h"

#include <string.h>

#include "formats/sequences/sequence_paint.h"
#include "lib/base/memory.h"

/* ---- seams ---- */

/* While vertices are split. */
typedef struct seams {
    glb_split *split;
    const double *uv;  /* of the basis */
    int32_t *next;     /* [capacity] the other one after this, 0: none */
    int32_t *index_of; /* [capacity] their uv; -1: of no corner yet */
    int32_t *wedge_of; /* [capacity] their wedge */
    int64_t capacity;
} seams;

static modal_status grow_seams(seams *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = m->split->n;
    int64_t more = m->capacity, sources = m->capacity - n, indices = m->capacity, wedges = m->capacity;
    MODAL_TRY(modal_grow(&m->next, &more, m->capacity + 1, sizeof *m->next, "seams", err));
    MODAL_TRY(modal_grow(&m->split->source, &sources, more - n, sizeof *m->split->source, "seams", err));
    MODAL_TRY(modal_grow(&m->index_of, &indices, more, sizeof *m->index_of, "seams", err));
    MODAL_TRY(modal_grow(&m->wedge_of, &wedges, more, sizeof *m->wedge_of, "seams", err));
    m->capacity = more;
done:
    return status;
}

/* The number of the vertex v with uv `index` (0 where there are none) and this wedge (0 where there are none); a new one where there is none. */
static modal_status find_vertex(seams *m, int32_t v, int32_t index, int32_t wedge, uint32_t *number, modal_error *err)
{
    modal_status status = MODAL_OK;
    glb_split *split = m->split;
    if (m->index_of[v] < 0) m->index_of[v] = index, m->wedge_of[v] = wedge;
    int64_t at = v;
    for (;; at = m->next[at]) {
        const int32_t own = m->index_of[at];
        if (m->wedge_of[at] == wedge &&
            (own == index || memcmp(m->uv + 2 * (int64_t)own, m->uv + 2 * (int64_t)index, 2 * sizeof *m->uv) == 0)) {
            *number = (uint32_t)at;
            return MODAL_OK;
        }
        if (!m->next[at]) break;
    }
    if (split->n_split >= INT32_MAX) MODAL_FAIL(err, MODAL_ERROR_INPUT, "glb: more than %d vertices with seams and creases", INT32_MAX);
    if (split->n_split == m->capacity) MODAL_TRY(grow_seams(m, err));
    m->next[at] = (int32_t)split->n_split;
    m->next[split->n_split] = 0;
    split->source[split->n_split - split->n] = v;
    m->index_of[split->n_split] = index;
    m->wedge_of[split->n_split] = wedge;
    *number = (uint32_t)split->n_split++;
done:
    return status;
}

static modal_status make_uv(const seams *m, modal_error *err)
{
    glb_split *split = m->split;
    const modal_status status = modal_alloc_zero(&split->uv, 2 * split->n_split, sizeof(float), "uv", err);
    for (int64_t i = 0; status == MODAL_OK && i < split->n_split; i++) {
        const int32_t index = m->index_of[i];
        if (index < 0) continue; /* of no triangle */
        split->uv[2 * i] = (float)m->uv[2 * (int64_t)index];
        split->uv[2 * i + 1] = (float)(1 - m->uv[2 * (int64_t)index + 1]);
    }
    return status;
}

/* creases: of the shape, or NULL. */
static modal_status make_split(glb_split *split, const modal_surface *s, int stored, int with_uv, const modal_creases *creases, modal_error *err)
{
    modal_status status = MODAL_OK;
    seams m = {.split = split, .uv = s->uv, .capacity = s->n_vertices};
    const int splits = with_uv || creases;
    split->n = split->n_split = s->n_vertices;
    MODAL_TRY(modal_alloc(&split->corners, 3 * s->n_triangles, sizeof *split->corners, "triangles", err));
    if (splits) {
        MODAL_TRY(modal_alloc(&m.index_of, s->n_vertices, sizeof *m.index_of, "seams", err));
        MODAL_TRY(modal_alloc_zero(&m.wedge_of, s->n_vertices, sizeof *m.wedge_of, "seams", err));
        MODAL_TRY(modal_alloc_zero(&m.next, s->n_vertices, sizeof *m.next, "seams", err));
        for (int64_t v = 0; v < s->n_vertices; v++) m.index_of[v] = -1;
    }
    for (int64_t t = 0; t < s->n_triangles; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t v = s->triangles[3 * t + k], place = stored ? v : s->user_vertex[v];
            const int32_t own = creases ? creases->corners[3 * t + k] : 0, wedge = creases && own < creases->n_vertices ? place : own;
            uint32_t *to = &split->corners[3 * (stored ? t : s->user_triangle[t]) + k];
            *to = (uint32_t)place;
            if (splits) MODAL_TRY(find_vertex(&m, place, with_uv ? s->triangle_uv[3 * t + k] : 0, wedge, to, err));
        }
    if (with_uv) MODAL_TRY(make_uv(&m, err));
    if (creases) {
        for (int64_t v = 0; v < split->n; v++)
            if (m.index_of[v] < 0) m.wedge_of[v] = (int32_t)v; /* of no triangle */
        split->wedge = m.wedge_of;
        m.wedge_of = NULL;
    }
done:
    modal_free(&m.next);
    modal_free(&m.index_of);
    modal_free(&m.wedge_of);
    return status;
}

void modal_glb_split_rows(const glb_split *split, float *rows)
{
    for (int64_t i = split->n; i < split->n_split; i++) memcpy(rows + 3 * i, rows + 3 * (int64_t)split->source[i - split->n], 3 * sizeof *rows);
}

/* ---- materials ---- */

static modal_status find_paint(glb_look *g, int32_t material, const double tint[3], int32_t *paint, modal_error *err)
{
    for (*paint = 0; *paint < g->n_paints; ++*paint)
        if (g->paints[*paint].material == material && memcmp(g->paints[*paint].tint, tint, 3 * sizeof *tint) == 0) return MODAL_OK;
    const modal_status status = modal_grow(&g->paints, &g->paint_capacity, g->n_paints + 1, sizeof *g->paints, "materials", err);
    if (status != MODAL_OK) return status;
    g->paints[g->n_paints].material = material;
    memcpy(g->paints[g->n_paints++].tint, tint, 3 * sizeof *tint);
    return MODAL_OK;
}

/* The primitives of a mesh: the triangles of a variant by material, in the order of the materials. */
static modal_status add_primitives(glb_look *g, int32_t variant, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_look *look = g->in->look;
    const modal_look_variant *v = &g->shown.variants[variant];
    const modal_shape *shape = &g->scene->basis->shapes[v->shape];
    glb_mesh *mesh = &g->meshes[variant];
    int64_t *counts = NULL;
    MODAL_TRY(modal_alloc_zero(&counts, look->n_materials, sizeof *counts, "materials", err));
    mesh->first_primitive = g->n_primitives;
    for (int64_t t = 0; t < shape->surface.n_triangles; t++) {
        MODAL_TRY(modal_sequence_check_uv(&look->materials[v->materials[t]], shape, v->shape, t, "glb", err));
        counts[v->materials[t]]++;
    }
    for (int32_t m = 0; m < look->n_materials; m++) {
        int32_t paint;
        if (counts[m] == 0) continue;
        MODAL_TRY(find_paint(g, m, v->tint, &paint, err));
        MODAL_TRY(modal_grow(&g->primitives, &g->primitive_capacity, g->n_primitives + 1, sizeof *g->primitives, "materials", err));
        g->primitives[g->n_primitives++] = (glb_primitive){paint, counts[m], -1};
        mesh->n_primitives++;
    }
done:
    modal_free(&counts);
    return status;
}

static int shows_image(const glb_look *g, int32_t shape)
{
    for (int32_t i = 0; i < g->shown.n_variants; i++)
        for (int32_t k = 0; g->shown.variants[i].shape == shape && k < g->meshes[i].n_primitives; k++) {
            const modal_look_material *m = &g->in->look->materials[g->paints[g->primitives[g->meshes[i].first_primitive + k].paint].material];
            if (m->image || m->normal_image) return 1;
        }
    return 0;
}

modal_status modal_glb_look_make(glb_look *g, const modal_sequence_look *in, const modal_creases *creases, const modal_sequence_scene *scene,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *b = scene->basis;
    uint8_t *used = NULL;
    *g = (glb_look){.in = in, .scene = scene};
    MODAL_TRY(modal_alloc_zero(&g->splits, b->n_shapes, sizeof *g->splits, "seams", err));
    MODAL_TRY(modal_alloc_zero(&used, b->n_shapes, sizeof *used, "shapes", err));
    if (in) {
        MODAL_TRY(modal_look_variants_make(&g->shown, in->look, b, 1, err));
        MODAL_TRY(modal_alloc_zero(&g->meshes, g->shown.n_variants, sizeof *g->meshes, "materials", err));
        for (int32_t i = 0; i < g->shown.n_variants; i++) MODAL_TRY(add_primitives(g, i, err));
    }
    for (int32_t i = 0; i < b->n_objects; i++) used[b->objects[i].shape] = 1;
    for (int32_t i = 0; i < b->n_shapes; i++)
        if (used[i])
            MODAL_TRY(make_split(&g->splits[i], &b->shapes[i].surface, scene->stored_order, in && shows_image(g, i), creases ? &creases[i] : NULL,
                                 err));
done:
    modal_free(&used);
    return status;
}

void modal_glb_look_free(glb_look *g)
{
    for (int32_t i = 0; g->splits && i < g->scene->basis->n_shapes; i++) {
        modal_free(&g->splits[i].source);
        modal_free(&g->splits[i].corners);
        modal_free(&g->splits[i].uv);
        modal_free(&g->splits[i].wedge);
    }
    modal_look_variants_free(&g->shown);
    modal_free(&g->splits);
    modal_free(&g->meshes);
    modal_free(&g->primitives);
    modal_free(&g->paints);
    memset(g, 0, sizeof *g);
}

void modal_glb_look_indices(const glb_look *g, int32_t variant, int32_t primitive, const int32_t *stored, uint32_t *indices)
{
    const modal_look_variant *v = &g->shown.variants[variant];
    const glb_primitive *p = &g->primitives[g->meshes[variant].first_primitive + primitive];
    const glb_split *split = &g->splits[v->shape];
    const int64_t n = g->scene->basis->shapes[v->shape].surface.n_triangles;
    for (int64_t t = 0; t < n; t++) {
        if (v->materials[stored[t]] != g->paints[p->paint].material) continue;
        memcpy(indices, split->corners + 3 * t, 3 * sizeof *indices);
        indices += 3;
    }
}
