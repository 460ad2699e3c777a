/* SPDX-License-Identifier: Apache-2.0 */
/* Which triangles of a surface share edges. */
#ifndef MODAL_OCTREE_EDGES_H
#define MODAL_OCTREE_EDGES_H

#include <stdint.h>

#include "lib/base/status.h"

/* edges [n_triangles, 3]: a number, from 0, for each pair of places, of the edge from corner k to the next. Vertices at exactly the same place count as
 * one: places [n_vertices], or NULL, is the first of them. MODAL_ERROR_MEMORY. Thread-safe. */
modal_status modal_surface_edges(const double *positions, int64_t n_vertices, const int32_t *triangles, int64_t n_triangles, int32_t *edges, int32_t *places,
                                 modal_error *err);

#endif
