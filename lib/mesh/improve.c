/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/improve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/mesh/boundary.h"
#include "lib/mesh/improve_groups.h"
#include "lib/mesh/surface_check.h"

enum { MOST_ROUNDS = 30 };

/* Of the box's diagonal: what coordinates of single precision leave of a plane. */
static const double rounding = 1e-7;

/* Of the distance that is allowed, what is checked at points while the mesh changes: between these it may be more. */
static const double share = 0.6;

typedef struct bad {
    double quality;
    int32_t element;
} bad;

static int compare_bad(const void *a, const void *b)
{
    const bad *x = a, *y = b;
    if (x->quality != y->quality) return x->quality < y->quality ? -1 : 1;
    return (x->element > y->element) - (x->element < y->element);
}

static void store_free(improve_store *s)
{
    modal_free(&s->x);
    modal_free(&s->head);
    modal_free(&s->n_boundary);
    modal_free(&s->fixed);
    modal_free(&s->tetrahedra);
    modal_free(&s->free_tetrahedra);
    modal_free(&s->faces);
    modal_free(&s->samples);
    modal_free(&s->next_sample);
    modal_triangle_tree_free(&s->tree);
}

/* The boundary as it is now: [n, 3] vertices and the patch of each triangle. The caller frees both. */
static modal_status list_boundary(const improve_store *s, int64_t *n, int32_t **triangles, int32_t **patches, modal_error *err)
{
    modal_status status = MODAL_OK;
    *n = 0;
    *triangles = *patches = NULL;
    for (int64_t i = 0; i < 4 * s->n_tetrahedra; i++) *n += s->tetrahedra[i / 4].v[0] >= 0 && s->tetrahedra[i / 4].mark[i % 4] >= 0;
    MODAL_TRY(modal_alloc(triangles, 3 * *n, sizeof **triangles, "boundary", err));
    MODAL_TRY(modal_alloc(patches, *n, sizeof **patches, "boundary", err));
    int64_t f = 0;
    for (int64_t i = 0; i < 4 * s->n_tetrahedra; i++) {
        const improve_tetrahedron *t = &s->tetrahedra[i / 4];
        if (t->v[0] < 0 || t->mark[i % 4] < 0) continue;
        for (int k = 0; k < 3; k++) (*triangles)[3 * f + k] = t->v[improve_faces[i % 4][k]];
        (*patches)[f++] = s->faces[t->mark[i % 4]].patch;
    }
done:
    return status;
}

static void add_sample(improve_store *s, improve_face *face, const double x[3])
{
    memcpy(s->samples + 3 * s->n_samples, x, 3 * sizeof *x);
    s->next_sample[s->n_samples] = face->first;
    face->first = (int32_t)s->n_samples++;
}

/* Points of the old surface, each held by the face that it lies on: middles of faces and of edges, and vertices, of every patch once at least. */
static modal_status take_samples(improve_store *s, int64_t n_boundary, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *last = NULL;
    if (n_boundary > INT32_MAX / 7) MODAL_FAIL(err, MODAL_ERROR_INPUT, "too many boundary faces to improve, %lld", (long long)n_boundary);
    MODAL_TRY(modal_alloc(&s->samples, 21 * n_boundary, sizeof *s->samples, "boundary", err));
    MODAL_TRY(modal_alloc(&s->next_sample, 7 * n_boundary, sizeof *s->next_sample, "boundary", err));
    MODAL_TRY(modal_alloc(&last, s->n_vertices, sizeof *last, "boundary", err));
    for (int64_t v = 0; v < s->n_vertices; v++) last[v] = -1;
    for (int64_t i = 0; i < 4 * s->n_tetrahedra; i++) {
        const improve_tetrahedron *t = &s->tetrahedra[i / 4];
        double middle[3] = {0};
        if (t->mark[i % 4] < 0) continue;
        improve_face *face = &s->faces[t->mark[i % 4]];
        for (int c = 0; c < 3; c++) {
            const int32_t v = t->v[improve_faces[i % 4][c]], w = t->v[improve_faces[i % 4][(c + 1) % 3]];
            double half[3];
            for (int k = 0; k < 3; k++) {
                half[k] = (improve_at(s, v)[k] + improve_at(s, w)[k]) / 2;
                middle[k] += improve_at(s, v)[k] / 3;
            }
            add_sample(s, face, half);
            if (last[v] != face->patch) add_sample(s, face, improve_at(s, v));
            last[v] = face->patch;
        }
        add_sample(s, face, middle);
    }
done:
    modal_free(&last);
    return status;
}

/* The elements that are bad, the worst first. */
static modal_status list_bad(const improve_store *s, bad **list, int64_t *capacity, int64_t *n, modal_error *err)
{
    modal_status status = MODAL_OK;
    *n = 0;
    for (int64_t t = 0; t < s->n_tetrahedra; t++) {
        if (s->tetrahedra[t].v[0] < 0) continue;
        const double quality = improve_quality_of(s, s->tetrahedra[t].v);
        if (quality >= s->wanted) continue;
        MODAL_TRY(modal_grow(list, capacity, *n + 1, sizeof **list, "bad elements", err));
        (*list)[(*n)++] = (bad){quality, (int32_t)t};
    }
    if (*n > 1) qsort(*list, (size_t)*n, sizeof **list, compare_bad);
done:
    return status;
}

/* One bad element; 1 where something helped. */
static int mend(improve_store *s, int32_t t, int may_add)
{
    int32_t v[4];
    int done = 0;
    memcpy(v, s->tetrahedra[t].v, sizeof v);
    if (improve_exchange(s, t) || s->failed != MODAL_OK || improve_merge(s, t) || s->failed != MODAL_OK) return 1;
    for (int k = 0; k < 4 && s->failed == MODAL_OK; k++) done |= improve_move(s, v[k]);
    if (!done && may_add && s->failed == MODAL_OK) done = improve_add(s, t);
    return done;
}

static modal_status improve_rounds(improve_store *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    bad *list = NULL;
    int64_t capacity = 0, n;
    const int64_t most_vertices = s->n_vertices + s->n_vertices / 2 + 100;
    MODAL_TRY(list_bad(s, &list, &capacity, &n, err));
    s->told.n_bad_before = n;
    for (int round = 0, idle = 0; round < MOST_ROUNDS && n > 0 && idle < 2; round++) {
        int64_t n_done = 0;
        for (int64_t i = 0; i < n; i++) {
            const improve_tetrahedron *t = &s->tetrahedra[list[i].element];
            if (t->v[0] < 0 || improve_quality_of(s, t->v) >= s->wanted) continue;
            n_done += mend(s, list[i].element, round > 0 && s->n_vertices < most_vertices);
            MODAL_TRY(s->failed);
        }
        idle = n_done > 0 ? 0 : idle + 1;
        s->told.n_rounds = round + 1;
        MODAL_TRY(list_bad(s, &list, &capacity, &n, err));
    }
    s->told.n_bad = n;
done:
    modal_free(&list);
    return status;
}

/* Pairs of triangles of the boundary that cross or overlap; INT64_MAX where it is no boundary. The nodes of `old` in the boxes of such
 * triangles, made larger by `margin`, become still (NULL: not asked). */
static modal_status count_crossings(const modal_volume_mesh *mesh, const modal_volume_mesh *old, double margin, uint8_t *still, int64_t *n,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh surface = {0};
    int32_t *nodes = NULL;
    uint8_t *in_pair = NULL;
    modal_surface_pairs crossing, overlapping;
    modal_error why = {0};
    *n = INT64_MAX;
    status = modal_volume_mesh_boundary(mesh, &surface, &nodes, &why);
    if (status == MODAL_ERROR_INPUT) return MODAL_OK;
    if (status != MODAL_OK) {
        *err = why;
        return status;
    }
    MODAL_TRY(modal_alloc(&in_pair, surface.n_triangles, 1, "crossings", err));
    MODAL_TRY(modal_surface_intersections_where(&surface, &crossing, &overlapping, in_pair, err));
    *n = crossing.count + overlapping.count;
    for (int64_t t = 0; still && t < surface.n_triangles; t++) {
        double low[3], high[3];
        for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
        for (int i = 0; in_pair[t] && i < 9; i++) {
            const double x = surface.positions[3 * (int64_t)surface.triangles[3 * t + i / 3] + i % 3];
            low[i % 3] = fmin(low[i % 3], x - margin);
            high[i % 3] = fmax(high[i % 3], x + margin);
        }
        for (int64_t v = 0; in_pair[t] && v < old->n_nodes; v++) {
            const double *x = old->nodes + 3 * v;
            still[v] |= x[0] >= low[0] && x[0] <= high[0] && x[1] >= low[1] && x[1] <= high[1] && x[2] >= low[2] && x[2] <= high[2];
        }
    }
done:
    modal_surface_mesh_free(&surface);
    modal_free(&nodes);
    modal_free(&in_pair);
    return status;
}

static double diagonal_of(const modal_volume_mesh *mesh)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, square = 0;
    for (int64_t i = 0; i < 3 * mesh->n_nodes; i++) {
        low[i % 3] = fmin(low[i % 3], mesh->nodes[i]);
        high[i % 3] = fmax(high[i % 3], mesh->nodes[i]);
    }
    for (int k = 0; k < 3; k++) square += (high[k] - low[k]) * (high[k] - low[k]);
    return sqrt(square);
}

/* Both directions, at points an eighth of the distance apart. */
static modal_status measure_distances(improve_store *s, const double *old, int64_t n_old, const int32_t *old_triangles, double step,
                                      modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_triangle_tree tree = {0};
    int64_t n;
    int32_t *triangles = NULL, *patches = NULL;
    MODAL_TRY(list_boundary(s, &n, &triangles, &patches, err));
    MODAL_TRY(modal_triangle_tree_new(&tree, s->x, n, triangles, patches, err));
    s->told.distances[0] = modal_triangle_tree_farthest(&s->tree, s->x, n, triangles, step);
    s->told.distances[1] = modal_triangle_tree_farthest(&tree, old, n_old, old_triangles, step);
done:
    modal_free(&triangles);
    modal_free(&patches);
    modal_triangle_tree_free(&tree);
    return status;
}

/* With one distance; the mesh is not changed. */
static modal_status improve_once(const modal_volume_mesh *mesh, double distance, double angle, const uint8_t *still, modal_volume_mesh *better,
                                 modal_improvement *told, modal_error *err)
{
    modal_status status = MODAL_OK;
    improve_store s = {0};
    improve_sets regions = {0}, patches = {0};
    int64_t n = 0;
    int32_t *triangles = NULL, *labels = NULL;
    s.wanted = sin(angle);
    s.distance = distance * distance;
    MODAL_TRY(improve_load(mesh, still, &s, &regions, &patches, err));
    MODAL_TRY(list_boundary(&s, &n, &triangles, &labels, err));
    MODAL_TRY(modal_triangle_tree_new(&s.tree, s.x, n, triangles, labels, err));
    MODAL_TRY(take_samples(&s, n, err));
    MODAL_TRY(improve_rounds(&s, err));
    MODAL_TRY(measure_distances(&s, mesh->nodes, n, triangles, distance / 8, err));
    MODAL_TRY(improve_unload(&s, &regions, &patches, mesh, better, err));
    *told = s.told;
done:
    modal_free(&triangles);
    modal_free(&labels);
    improve_sets_free(&regions);
    improve_sets_free(&patches);
    store_free(&s);
    return status;
}

/* Nodes, elements, groups and conditions of the one for those of the other. */
static void take_parts(modal_volume_mesh *mesh, modal_volume_mesh *better)
{
    modal_volume_mesh old = *mesh;
    const modal_volume_mesh b = *better;
    mesh->n_nodes = b.n_nodes, mesh->nodes = b.nodes, mesh->node_tags = b.node_tags;
    mesh->n_elements = b.n_elements, mesh->element_type = b.element_type, mesh->element_offsets = b.element_offsets;
    mesh->element_nodes = b.element_nodes, mesh->element_tags = b.element_tags, mesh->element_material = b.element_material;
    mesh->n_groups = b.n_groups, mesh->groups = b.groups;
    mesh->n_conditions = b.n_conditions, mesh->conditions = b.conditions;
    /* what the better one has not been given stays where it is */
    old.n_materials = 0, old.materials = NULL;
    memset(old.not_taken, 0, sizeof old.not_taken);
    old.notes = (modal_notes){0};
    *better = old;
}

modal_status modal_volume_mesh_improve(modal_volume_mesh *mesh, double distance, double angle, modal_improvement *told,
                                       modal_error *err)
{
    enum { TRIES = 5 };
    modal_status status = MODAL_OK;
    modal_volume_mesh better = {0};
    uint8_t *still = NULL;
    int64_t crossings_before = 0, crossings = 0;
    double kept = share * distance;
    int is_done = 0;
    *told = (modal_improvement){0};
    if (!modal_volume_mesh_is_all(mesh, MODAL_ELEMENT_TET4))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "only linear tetrahedra can be improved");
    if (mesh->element_fibres) MODAL_FAIL(err, MODAL_ERROR_INPUT, "elements with directions of fibres cannot be improved");
    const double least = rounding * diagonal_of(mesh);
    MODAL_TRY(modal_alloc_zero(&still, mesh->n_nodes, 1, "nodes", err));
    MODAL_TRY(count_crossings(mesh, NULL, 0, NULL, &crossings_before, err));
    for (int i = 0; i < TRIES && !is_done; i++) {
        modal_volume_mesh_free(&better);
        if (i == TRIES - 1) kept = 0;
        MODAL_TRY(improve_once(mesh, fmax(kept, least), angle, still, &better, told, err));
        MODAL_TRY(count_crossings(&better, mesh, kept, still, &crossings, err));
        const int is_near = fmax(told->distances[0], told->distances[1]) <= fmax(distance, 2 * least);
        is_done = crossings <= crossings_before && is_near;
        if (!is_near) kept /= 2;
    }
    for (int64_t v = 0; v < mesh->n_nodes; v++) told->n_still += still[v];
    if (is_done)
        take_parts(mesh, &better);
    else /* nothing that was tried is kept */
        *told = (modal_improvement){.n_bad_before = told->n_bad_before, .n_bad = told->n_bad_before};
done:
    modal_free(&still);
    modal_volume_mesh_free(&better);
    return status;
}
