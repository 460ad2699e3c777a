/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/memory.h"
#include "lib/deform/deform.h"

modal_status modal_deform_topology(const modal_basis *basis, int stored_order, int64_t *points,
                                   int64_t *n_triangles, int64_t **triangles, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *out = NULL, n_points = 0, count = 0;
    for (int32_t i = 0; i < basis->n_objects; i++)
        if (!modal_size_add(count, basis->shapes[basis->objects[i].shape].surface.n_triangles, &count) ||
            !modal_size_add(n_points, basis->shapes[basis->objects[i].shape].surface.n_vertices,
                            &n_points))
            MODAL_FAIL(err, MODAL_ERROR_MEMORY, "topology: the number of triangles does not fit "
                                                "64 bits");
    MODAL_TRY(modal_alloc(&out, count, 3 * sizeof *out, "triangles of the scene", err));
    int64_t first_point = 0, first_triangle = 0;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_shape *s = &basis->shapes[basis->objects[i].shape];
        for (int64_t t = 0; t < s->surface.n_triangles; t++) {
            const int64_t place = first_triangle + (stored_order ? t : s->surface.user_triangle[t]);
            for (int k = 0; k < 3; k++) {
                const int32_t v = s->surface.triangles[3 * t + k];
                out[3 * place + k] = first_point + (stored_order ? v : s->surface.user_vertex[v]);
            }
        }
        first_point += s->surface.n_vertices;
        first_triangle += s->surface.n_triangles;
    }
    *points = n_points;
    *n_triangles = count;
    *triangles = out;
    out = NULL;
done:
    if (status != MODAL_OK) {
        *points = *n_triangles = 0;
        *triangles = NULL;
    }
    modal_free(&out);
    return status;
}
