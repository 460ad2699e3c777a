/* SPDX-License-Identifier: Apache-2.0 */
/* The neighbours of every vertex within a number of rings, for curvature_fit and tensor_smooth. */
#ifndef MODAL_KERNELS_NEIGHBOUR_RINGS_H
#define MODAL_KERNELS_NEIGHBOUR_RINGS_H

#include <stdint.h>

#include "lib/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A vertex's list ends with this many neighbours: around a vertex of valence 10,000 everyone would have 10,000. */
enum { MODAL_NEIGHBOURS_MAX = 1024 };

/* From the ring of kernels/normals_dynamic: the vertices that n_rings >= 1 edges or fewer reach, without the vertex
 * itself, in the order in which they are reached. For a tile of 32 vertices as many rows of 32 numbers as its longest
 * list needs, the others filled up with ~(the vertex itself): offsets [ceil(n_vertices / 32) + 1] counts rows,
 * neighbours [offsets[last], 32]. Both are allocated here; the caller gives them to modal_free, after a failure, too. */
modal_status modal_neighbour_rings(int64_t n_vertices, const int64_t *ring_offsets, const int32_t *ring, int n_rings,
                                   int64_t **offsets, int32_t **neighbours, modal_error *err);

#ifdef __cplusplus
}
#endif
#endif
