/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which vertices and triangles of a surface are stored, chosen so that 32 consecutive
 * vertices find their neighbours in few cache lines. */
#ifndef MODAL_MESH_ORDER_H
#define MODAL_MESH_ORDER_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

/* The index along a Hilbert curve of 2^21 cells an axis that fills the cube on the longest edge of
 * the points' bounding box. keys has n entries; points that are not finite get some index.
 * Source: J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707, 2004. */
void modal_order_hilbert_keys(int64_t n, const double *positions, uint64_t *keys);

/* Writes user_vertex [n]: the user index of each stored vertex. Vertices are numbered along the
 * Hilbert curve (ties by user index); then patches of 32 grow over the surface, one a tile, each time
 * taking the vertex at the patch's edge with the most neighbours stored already; a new patch starts
 * beside the last one, or at the first vertex along the curve that is left. Deterministic.
 * triangles [n_triangles, 3] are user indices, such as modal_surface_tables_build accepts; otherwise
 * its error, or undefined for an index out of range. MODAL_ERROR_MEMORY. */
modal_status modal_order_vertices(int64_t n, const double *positions, int64_t n_triangles,
                                  const int32_t *triangles, int32_t *user_vertex, modal_error *err);

/* Writes user_triangle [n_triangles]: triangles by their smallest stored vertex, ties by user
 * index. triangles [n_triangles, 3] are user indices; both counts <= INT32_MAX. */
modal_status modal_order_triangles(int64_t n, const int32_t *user_vertex, int64_t n_triangles,
                                   const int32_t *triangles, int32_t *user_triangle,
                                   modal_error *err);

/* Writes a surface in stored order: positions [n_vertices, 3], triangles [n_triangles, 3] (stored
 * indices, each triangle starting at the same corner as before) and, where the surface has it,
 * triangle_uv [n_triangles, 3] (uv itself keeps its order). triangle_uv may be NULL. The outputs
 * must not overlap the surface's own arrays. MODAL_ERROR_MEMORY. */
modal_status modal_order_apply(const modal_surface_mesh *surface, const int32_t *user_vertex,
                               const int32_t *user_triangle, double *positions, int32_t *triangles,
                               int32_t *triangle_uv, modal_error *err);

/* The measure that chose the order: the mean over all tiles of 32 vertices of the number of
 * distinct 128-byte lines that a tile touches when each of its vertices reads the 12-byte positions
 * of its one-ring and its own. ring_offsets, ring: modal_surface_tables. *lines is 0 for n = 0.
 *
 * | surface, vertices           | random | user's | RCM  | Hilbert curve | patches (this) |
 * | --------------------------- | ------ | ------ | ---- | ------------- | -------------- |
 * | yeahright, boundary, 15,211 | 198.5  | 33.2   | 19.8 | 19.0          | 13.4           |
 * | dragon, boundary, 6,902     | 177.9  | 160.6  | 16.6 | 17.4          | 13.4           |
 * | bunny, 4,029                | 160.3  | 152.9  | 17.5 | 16.3          | 13.1           |
 * | simpleBridge.obj, 16,085    | 192.8  | 9.4    | 8.1  | 15.4          | 9.3            |
 * (tests/unit/test_mesh_real.c prints it; simpleBridge is many small parts that touch.)
 */
modal_status modal_order_gather_lines(int64_t n, const int64_t *ring_offsets, const int32_t *ring,
                                      double *lines, modal_error *err);

#endif
