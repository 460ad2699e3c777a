/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/shape/shape_surface.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/mesh/boundary.h"
#include "lib/mesh/order.h"
#include "lib/mesh/tables.h"

/* Orders the surface and builds its tables, into a shape that has nothing but zeros. */
static modal_status arrange(const modal_surface_mesh *surface, modal_surface *built, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_tables tables = {0};
    int64_t n = surface->n_vertices, n_triangles = surface->n_triangles;
    if (n_triangles == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "surface: no triangles");
    /* In the user's order first, only to refuse what is wrong by the user's index. */
    MODAL_TRY(modal_surface_tables_build(n, n_triangles, surface->triangles, &tables, err));
    modal_surface_tables_free(&tables);

    built->n_vertices = n;
    built->n_triangles = n_triangles;
    MODAL_TRY(modal_alloc(&built->rest_positions, 3 * n, sizeof(double), "rest positions", err));
    MODAL_TRY(modal_alloc(&built->triangles, 3 * n_triangles, sizeof(int32_t), "triangles", err));
    MODAL_TRY(modal_alloc(&built->user_vertex, n, sizeof(int32_t), "user vertices", err));
    MODAL_TRY(modal_alloc(&built->user_triangle, n_triangles, sizeof(int32_t), "user triangles",
                          err));
    if (surface->uv && surface->triangle_uv) {
        built->n_uv = surface->n_uv;
        MODAL_TRY(modal_alloc(&built->uv, 2 * surface->n_uv, sizeof(double), "uv", err));
        MODAL_TRY(modal_alloc(&built->triangle_uv, 3 * n_triangles, sizeof(int32_t), "triangle uv",
                              err));
        memcpy(built->uv, surface->uv, 2 * (size_t)surface->n_uv * sizeof(double));
    }
    MODAL_TRY(modal_order_vertices(n, surface->positions, n_triangles, surface->triangles,
                                   built->user_vertex, err));
    MODAL_TRY(modal_order_triangles(n, built->user_vertex, n_triangles, surface->triangles,
                                    built->user_triangle, err));
    MODAL_TRY(modal_order_apply(surface, built->user_vertex, built->user_triangle,
                                built->rest_positions, built->triangles, built->triangle_uv, err));
    MODAL_TRY(modal_surface_tables_build(n, n_triangles, built->triangles, &tables, err));
    built->face_offsets = tables.face_offsets;
    built->faces = tables.faces;
    built->boundary = tables.boundary;
    tables.face_offsets = NULL, tables.faces = NULL, tables.boundary = NULL;
done:
    modal_surface_tables_free(&tables);
    return status;
}

/* The names of materials of the user's triangles, in stored order. */
static modal_status keep_names(const modal_surface_mesh *surface, const int32_t *user_triangle, modal_shape_look *look,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t bytes = 0;
    if (!surface->triangle_material) return MODAL_OK;
    for (int32_t i = 0; i < surface->n_materials; i++) bytes += (int64_t)strlen(surface->material_names[i]) + 1;
    MODAL_TRY(modal_alloc(&look->triangle_material, surface->n_triangles, sizeof(int32_t), "materials", err));
    MODAL_TRY(modal_alloc(&look->material_names, bytes, 1, "names of materials", err));
    for (int32_t i = 0; i < surface->n_materials; i++) {
        const size_t length = strlen(surface->material_names[i]);
        memcpy(look->material_names + look->names_bytes, surface->material_names[i], length);
        look->material_names[look->names_bytes + (int64_t)length] = '\n';
        look->names_bytes += (int64_t)length + 1;
    }
    for (int64_t t = 0; t < surface->n_triangles; t++)
        look->triangle_material[t] = surface->triangle_material[user_triangle[t]];
done:
    return status;
}

/* These and, of their corners, the numbers of normals. */
static modal_status keep_look(const modal_surface_mesh *surface, const int32_t *user_triangle, modal_shape_look *look,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(keep_names(surface, user_triangle, look, err));
    if (!surface->triangle_normal) goto done;
    MODAL_TRY(modal_alloc(&look->triangle_normal, surface->n_triangles, 3 * sizeof(int32_t), "normals", err));
    for (int64_t t = 0; t < surface->n_triangles; t++)
        memcpy(look->triangle_normal + 3 * t, surface->triangle_normal + 3 * (int64_t)user_triangle[t], 3 * sizeof(int32_t));
done:
    return status;
}

/* Moves everything of the surface from `built` to the shape; `built` takes what the shape had. */
static void exchange_surface(modal_shape *shape, modal_shape *built)
{
    const modal_surface surface = shape->surface;
    const modal_embedding embedding = shape->embedding;
    const modal_shape_look look = shape->look;
    float *const matrix = shape->modes.modal_matrix;
    shape->surface = built->surface;
    shape->embedding = built->embedding;
    shape->look = built->look;
    shape->modes.modal_matrix = built->modes.modal_matrix;
    built->surface = surface;
    built->embedding = embedding;
    built->look = look;
    built->modes.modal_matrix = matrix;
}

modal_status modal_shape_surface_boundary(const modal_volume_mesh *volume, modal_shape *shape,
                                          modal_error *err)
{
    return modal_shape_surface_boundary_by(modal_find_faces, volume, shape, err);
}

modal_status modal_shape_surface_boundary_by(modal_face_finder *find, const modal_volume_mesh *volume, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh surface = {0};
    modal_shape built = {.embedding.kind = MODAL_SURFACE_BOUNDARY};
    int32_t *vertex_nodes = NULL;
    MODAL_TRY(modal_volume_mesh_boundary_by(find, volume, &surface, &vertex_nodes, err));
    MODAL_TRY(arrange(&surface, &built.surface, err));
    MODAL_TRY(modal_alloc(&built.embedding.nodes, built.surface.n_vertices, sizeof(int32_t), "embedding", err));
    for (int64_t v = 0; v < built.surface.n_vertices; v++) built.embedding.nodes[v] = vertex_nodes[built.surface.user_vertex[v]];
    exchange_surface(shape, &built);
done:
    modal_shape_free(&built);
    modal_surface_mesh_free(&surface);
    modal_free(&vertex_nodes);
    return status;
}

modal_status modal_shape_surface_embedded(const modal_volume_mesh *volume,
                                          const modal_surface_mesh *surface, modal_shape *shape,
                                          modal_embed_summary *summary, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_shape built = {.embedding.kind = MODAL_SURFACE_EMBEDDED};
    modal_point_embedding embedding;
    modal_embed_summary found;
    for (int64_t i = 0; i < 3 * surface->n_vertices; i++)
        if (!isfinite(surface->positions[i]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "vertex %lld: coordinate %c is not finite",
                       (long long)(i / 3), "xyz"[i % 3]);
    MODAL_TRY(arrange(surface, &built.surface, err));
    MODAL_TRY(keep_look(surface, built.surface.user_triangle, &built.look, err));
    MODAL_TRY(modal_embed_points(volume, built.surface.n_vertices, built.surface.rest_positions, &embedding, &found, err));
    built.embedding.offsets = embedding.offsets;
    built.embedding.nodes = embedding.nodes;
    built.embedding.weights = embedding.weights;
    modal_free(&embedding.elements);
    built.embedding.farthest_outside = found.farthest_outside;
    if (found.farthest_point >= 0) found.farthest_point = built.surface.user_vertex[found.farthest_point];
    if (summary) *summary = found;
    exchange_surface(shape, &built);
done:
    modal_shape_free(&built);
    return status;
}

modal_status modal_shape_surface_alone(const modal_surface_mesh *surface, int32_t n_modes,
                                       const double *columns, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_shape built = {.embedding.kind = MODAL_SURFACE_BOUNDARY, .modes.n_modes = n_modes};
    for (int64_t i = 0; i < 3 * surface->n_vertices; i++)
        if (!isfinite(surface->positions[i]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "vertex %lld: coordinate %c is not finite",
                       (long long)(i / 3), "xyz"[i % 3]);
    MODAL_TRY(arrange(surface, &built.surface, err));
    MODAL_TRY(keep_look(surface, built.surface.user_triangle, &built.look, err));
    /* its vertices stand for the nodes of a solid while the matrix is made */
    MODAL_TRY(modal_alloc(&built.embedding.nodes, built.surface.n_vertices, sizeof(int32_t), "embedding", err));
    memcpy(built.embedding.nodes, built.surface.user_vertex, (size_t)built.surface.n_vertices * sizeof(int32_t));
    built.solid.mesh.n_nodes = built.surface.n_vertices;
    built.solid.volume_modes = (double *)(uintptr_t)columns; /* only read */
    status = modal_shape_modal_matrix(&built, err);
    built.solid.volume_modes = NULL;
    if (status != MODAL_OK) goto done;
    modal_free(&built.embedding.nodes);
    exchange_surface(shape, &built);
    shape->modes.n_modes = n_modes;
done:
    modal_shape_free(&built);
    return status;
}

modal_status modal_shape_tiles(const modal_shape *shape, const double *phi, int64_t stride, int gathered, int64_t first_tile, int64_t n_tiles,
                               float *to, modal_error *err)
{
    const int64_t n = shape->surface.n_vertices, n_modes = shape->modes.n_modes, tile_size = n_modes * 3 * MODAL_TILE;
    const int64_t *offsets = shape->embedding.offsets;
    const int64_t begin = first_tile * MODAL_TILE, base = offsets && begin < n ? offsets[begin] : begin;
    int too_large = 0;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static) reduction(| : too_large)
    for (int64_t tile = first_tile; tile < first_tile + n_tiles; tile++)
        for (int64_t mode = 0; mode < n_modes; mode++) {
            float *xyz = to + (tile - first_tile) * tile_size + mode * 3 * MODAL_TILE;
            for (int64_t lane = 0; lane < MODAL_TILE; lane++) {
                int64_t v = tile * MODAL_TILE + lane;
                double sum[3] = {0, 0, 0};
                const int64_t first = v >= n ? 0 : offsets ? offsets[v] : v;
                const int64_t end = v >= n ? 0 : offsets ? offsets[v + 1] : v + 1;
                for (int64_t i = first; i < end; i++) {
                    const double *node = phi + 3 * (mode * stride + (gathered ? i - base : shape->embedding.nodes[i]));
                    const double weight = offsets ? shape->embedding.weights[i] : 1;
                    for (int k = 0; k < 3; k++) sum[k] += weight * node[k];
                }
                for (int k = 0; k < 3; k++) {
                    xyz[k * MODAL_TILE + lane] = (float)sum[k];
                    too_large |= !isfinite(xyz[k * MODAL_TILE + lane]);
                }
            }
        }
    return too_large ? modal_error_set(err, MODAL_ERROR_INPUT, "modal matrix: a value that float32 cannot hold") : MODAL_OK;
}

modal_status modal_shape_modal_matrix(modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *matrix = NULL;
    int64_t n = shape->surface.n_vertices, n_tiles = modal_tile_count(n), n_modes = shape->modes.n_modes;
    int64_t tile_size = 0, size = 0;
    if (!shape->solid.volume_modes && n_modes > 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "modal matrix: no modes of the solid");
    if (!modal_size_multiply(n_modes, 3 * MODAL_TILE, &tile_size) ||
        !modal_size_multiply(n_tiles, tile_size, &size))
        MODAL_FAIL(err, MODAL_ERROR_MEMORY, "modal matrix: %lld vertices x %lld modes: size overflow",
                   (long long)n, (long long)n_modes);
    MODAL_TRY(modal_alloc(&matrix, size, sizeof *matrix, "modal matrix", err));
    MODAL_TRY(modal_shape_tiles(shape, shape->solid.volume_modes, shape->solid.mesh.n_nodes, 0, 0, n_tiles, matrix, err));
    modal_free(&shape->modes.modal_matrix);
    shape->modes.modal_matrix = matrix;
    matrix = NULL;
done:
    modal_free(&matrix);
    return status;
}
