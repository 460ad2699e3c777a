/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/given_basis.h"

#include <string.h>

#include "lib/base/memory.h"
#include "lib/mesh/tables.h"

static modal_status number_points(int64_t n_nodes, int64_t n_triangles, const int32_t *triangles, int all, int32_t **point_of, int32_t **node_of,
                                  int64_t *n_points, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc(point_of, n_nodes, sizeof **point_of, "points", err));
    for (int64_t i = 0; i < n_nodes; i++) (*point_of)[i] = all ? 0 : -1;
    for (int64_t i = 0; i < 3 * n_triangles; i++) (*point_of)[triangles[i]] = 0;
    *n_points = 0;
    for (int64_t i = 0; i < n_nodes; i++)
        if ((*point_of)[i] == 0) (*point_of)[i] = (int32_t)(*n_points)++;
    MODAL_TRY(modal_alloc(node_of, *n_points, sizeof **node_of, "points", err));
    for (int64_t i = 0; i < n_nodes; i++)
        if ((*point_of)[i] >= 0) (*node_of)[(*point_of)[i]] = (int32_t)i;
done:
    return status;
}

modal_status tool_given_basis(int64_t n_nodes, const double *nodes, int64_t n_triangles, const int32_t *triangles, int all, modal_basis *b,
                              int32_t **node_of, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_tables tables = {0};
    int32_t *point_of = NULL;
    MODAL_TRY(modal_alloc_zero(&b->shapes, 1, sizeof *b->shapes, "shape", err));
    MODAL_TRY(modal_alloc_zero(&b->objects, 1, sizeof *b->objects, "object", err));
    b->n_shapes = b->n_objects = 1;
    b->objects[0].parent = -1;
    for (int k = 0; k < 3; k++) b->objects[0].rest_pose[5 * k] = 1;
    modal_surface *to = &b->shapes[0].surface;
    MODAL_TRY(number_points(n_nodes, n_triangles, triangles, all, &point_of, node_of, &to->n_vertices, err));
    to->n_triangles = n_triangles;
    MODAL_TRY(modal_alloc(&to->rest_positions, 3 * to->n_vertices, sizeof(double), "points", err));
    MODAL_TRY(modal_alloc(&to->user_vertex, to->n_vertices, sizeof(int32_t), "points", err));
    MODAL_TRY(modal_alloc(&to->triangles, 3 * to->n_triangles, sizeof(int32_t), "triangles", err));
    MODAL_TRY(modal_alloc(&to->user_triangle, to->n_triangles, sizeof(int32_t), "triangles", err));
    for (int64_t p = 0; p < to->n_vertices; p++) {
        memcpy(to->rest_positions + 3 * p, nodes + 3 * (int64_t)(*node_of)[p], 3 * sizeof(double));
        to->user_vertex[p] = (int32_t)p;
    }
    for (int64_t k = 0; k < to->n_triangles; k++) to->user_triangle[k] = (int32_t)k;
    for (int64_t k = 0; k < 3 * to->n_triangles; k++) to->triangles[k] = point_of[triangles[k]];
    MODAL_TRY(modal_surface_tables_build(to->n_vertices, to->n_triangles, to->triangles, &tables, err));
    to->face_offsets = tables.face_offsets;
    to->faces = tables.faces;
    to->boundary = tables.boundary;
    tables.face_offsets = NULL;
    tables.faces = NULL;
    tables.boundary = NULL;
done:
    modal_surface_tables_free(&tables);
    modal_free(&point_of);
    return status;
}
