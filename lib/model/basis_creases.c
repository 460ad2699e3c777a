/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/base/memory.h"
#include "lib/model/creases.h"

/* Where the vertices of objects, the one after the other, go: in stored order or in the user's. */
static void put_shape(const modal_shape *shape, int stored_order, int64_t first_vertex, int64_t first_triangle, double *places, int32_t *numbers)
{
    const modal_surface *s = &shape->surface;
    for (int64_t v = 0; places && v < s->n_vertices; v++)
        memcpy(places + 3 * (first_vertex + (stored_order ? v : s->user_vertex[v])), s->rest_positions + 3 * v, 3 * sizeof *places);
    for (int64_t t = 0; numbers && shape->look.triangle_normal && t < s->n_triangles; t++)
        memcpy(numbers + 3 * (first_triangle + (stored_order ? t : s->user_triangle[t])), shape->look.triangle_normal + 3 * t, 3 * sizeof *numbers);
}

static modal_status make(modal_creases *creases, const modal_shape *const *shapes, int32_t n, modal_crease_rule rule, int stored_order,
                         const int32_t *triangles, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *places = NULL;
    int32_t *numbers = NULL;
    int64_t n_vertices = 0, n_triangles = 0;
    memset(creases, 0, sizeof *creases);
    for (int32_t i = 0; i < n; i++) n_vertices += shapes[i]->surface.n_vertices, n_triangles += shapes[i]->surface.n_triangles;
    if (rule.by_normals) MODAL_TRY(modal_alloc_zero(&numbers, n_triangles, 3 * sizeof *numbers, "creases", err));
    else MODAL_TRY(modal_alloc(&places, n_vertices, 3 * sizeof *places, "rest", err));
    n_vertices = n_triangles = 0;
    for (int32_t i = 0; i < n; i++) {
        put_shape(shapes[i], stored_order, n_vertices, n_triangles, places, numbers);
        n_vertices += shapes[i]->surface.n_vertices, n_triangles += shapes[i]->surface.n_triangles;
    }
    if (rule.by_normals) MODAL_TRY(modal_creases_of_numbers(creases, n_vertices, n_triangles, triangles, numbers, err));
    else MODAL_TRY(modal_creases_make(creases, n_vertices, n_triangles, triangles, places, rule.degrees, err));
done:
    modal_free(&places);
    modal_free(&numbers);
    return status;
}

modal_status modal_creases_of_shape(modal_creases *creases, const modal_shape *shape, modal_crease_rule rule, modal_error *err)
{
    return make(creases, &shape, 1, rule, 1, shape->surface.triangles, err);
}

modal_status modal_creases_of_objects(modal_creases *creases, const modal_basis *basis, modal_crease_rule rule, int stored_order,
                                      const int32_t *triangles, modal_error *err)
{
    const modal_shape **shapes = NULL;
    modal_status status = modal_alloc(&shapes, basis->n_objects, sizeof *shapes, "creases", err);
    for (int32_t i = 0; i < basis->n_objects && status == MODAL_OK; i++) shapes[i] = &basis->shapes[basis->objects[i].shape];
    if (status == MODAL_OK) status = make(creases, shapes, basis->n_objects, rule, stored_order, triangles, err);
    modal_free(&shapes);
    return status;
}
