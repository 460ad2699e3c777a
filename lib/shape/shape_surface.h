/* SPDX-License-Identifier: Apache-2.0 */
/* Everything about a shape's surface in one call: order, tables, embedding, modal matrix. */
#ifndef MODAL_SHAPE_SHAPE_SURFACE_H
#define MODAL_SHAPE_SHAPE_SURFACE_H

#include "lib/base/status.h"
#include "lib/mesh/embed.h"
#include "lib/mesh/face_match.h"
#include "lib/model/basis.h"

/* Gives the shape a surface, in stored (locality) order: rest_positions, triangles, user_vertex,
 * user_triangle, uv, triangle_uv, the look, the face and one-ring tables, boundary flags, surface_kind,
 * the embedding, farthest_outside. volume must have passed modal_volume_mesh_check
 * and may be &shape->volume; it is read, never kept. What the shape had of these before is freed,
 * and its modal matrix with it, which belonged to the other surface. On an error the shape is
 * unchanged.
 *
 * _boundary: the solid's own boundary (its user's order: lib/mesh/boundary.h); each vertex has its own node.
 * _boundary_by: the same with faces that `find` finds (lib/mesh/boundary.h).
 * _embedded: a finer surface, copied; summary (may be NULL) counts points in the surface's order.
 * MODAL_ERROR_INPUT as modal_volume_mesh_boundary, modal_surface_tables_build, modal_embed_points
 * say (the last two name vertices and triangles by user index, 0-based), and for no triangles. */
modal_status modal_shape_surface_boundary(const modal_volume_mesh *volume, modal_shape *shape,
                                          modal_error *err);
modal_status modal_shape_surface_boundary_by(modal_face_finder *find, const modal_volume_mesh *volume, modal_shape *shape, modal_error *err);
modal_status modal_shape_surface_embedded(const modal_volume_mesh *volume,
                                          const modal_surface_mesh *surface, modal_shape *shape,
                                          modal_embed_summary *summary, modal_error *err);

/* Computes shape->modal_matrix [modal_tile_count(n_vertices), n_modes, 3, MODAL_TILE] from
 * volume_modes and the embedding: the sum over a vertex's nodes in float64, rounded once; lanes past
 * the last vertex are 0. An earlier matrix is freed. MODAL_ERROR_USAGE: no volume_modes;
 * MODAL_ERROR_INPUT: a value that float32 cannot hold. On an error the matrix is as before.
 * OpenMP, the same bytes for any number of threads. */
modal_status modal_shape_modal_matrix(modal_shape *shape, modal_error *err);

/* Tiles [first_tile, first_tile + n_tiles) of it into `to`, from phi [n_modes, stride, 3] at the nodes, in their order; gathered: at
 * embedding.nodes from that of the first of these vertices on, as many as they have. Errors and threads as above. */
modal_status modal_shape_tiles(const modal_shape *shape, const double *phi, int64_t stride, int gathered, int64_t first_tile, int64_t n_tiles,
                               float *to, modal_error *err);

/* A surface without a solid, and its modal matrix from columns [n_modes, surface->n_vertices, 3] in the
 * surface's order; embedding and volume stay empty, n_modes is set. The shape must have no volume. Errors of
 * the functions above. */
modal_status modal_shape_surface_alone(const modal_surface_mesh *surface, int32_t n_modes,
                                       const double *columns, modal_shape *shape, modal_error *err);

#endif
