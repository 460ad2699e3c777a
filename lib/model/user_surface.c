/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/user_surface.h"

#include <string.h>

#include "lib/base/memory.h"

modal_status modal_user_surface(const modal_surface *s, modal_surface_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    *mesh = (modal_surface_mesh){0};
    MODAL_TRY(modal_alloc(&mesh->positions, 3 * s->n_vertices, sizeof *mesh->positions, "surface", err));
    MODAL_TRY(modal_alloc(&mesh->triangles, 3 * s->n_triangles, sizeof *mesh->triangles, "surface", err));
    mesh->n_vertices = s->n_vertices;
    mesh->n_triangles = s->n_triangles;
    for (int64_t v = 0; v < s->n_vertices; v++)
        memcpy(mesh->positions + 3 * (int64_t)s->user_vertex[v], s->rest_positions + 3 * v, 3 * sizeof *s->rest_positions);
    for (int64_t t = 0; t < s->n_triangles; t++)
        for (int k = 0; k < 3; k++) mesh->triangles[3 * (int64_t)s->user_triangle[t] + k] = s->user_vertex[s->triangles[3 * t + k]];
    if (!s->uv) goto done;
    MODAL_TRY(modal_alloc(&mesh->uv, 2 * s->n_uv, sizeof *mesh->uv, "uv", err));
    MODAL_TRY(modal_alloc(&mesh->triangle_uv, 3 * s->n_triangles, sizeof *mesh->triangle_uv, "uv", err));
    mesh->n_uv = s->n_uv;
    memcpy(mesh->uv, s->uv, 2 * (size_t)s->n_uv * sizeof *s->uv);
    for (int64_t t = 0; t < s->n_triangles; t++)
        memcpy(mesh->triangle_uv + 3 * (int64_t)s->user_triangle[t], s->triangle_uv + 3 * t, 3 * sizeof *s->triangle_uv);
done:
    if (status != MODAL_OK) modal_surface_mesh_free(mesh);
    return status;
}
