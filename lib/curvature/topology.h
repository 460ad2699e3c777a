/* SPDX-License-Identifier: Apache-2.0 */
/* The connectivity of a triangle surface as the operations on curvature read it, and what is odd about it. */
#ifndef MODAL_CURVATURE_TOPOLOGY_H
#define MODAL_CURVATURE_TOPOLOGY_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_curvature_topology {
    int64_t n_vertices, n_triangles; /* as given */
    int64_t *ring_offsets;           /* [ceil(n_vertices / 32) + 1] kernels/normals_dynamic */
    int32_t *ring;                   /* [ring_offsets[last], 32] */
    uint8_t *boundary;               /* [n_vertices] 1 where an edge of the vertex belongs to one triangle */
    int64_t n_unused;                /* vertices of no triangle */
    int64_t n_collapsed;             /* triangles that hold a vertex twice; they are left out */
    int64_t n_edges;
    int64_t n_open_edges;            /* of one triangle */
    int64_t n_shared_edges;          /* of three and more */
    int64_t n_turned_edges;          /* whose two triangles run along them the same way: normals flip there */
    int64_t n_pinched;               /* vertices whose triangles form several fans */
    int64_t n_boundary;              /* vertices with boundary = 1 */
    int64_t largest_valence;         /* triangles of a vertex */
    double scattered;                /* share of neighbours that are 4,096 places and more away: near 1 in a random order */
    int64_t euler;                   /* used vertices - edges + triangles that are not collapsed */
} modal_curvature_topology;

/* triangles [n_triangles, 3]. MODAL_ERROR_INPUT for an index out of range or more than INT32_MAX / 3 triangles;
 * MODAL_ERROR_MEMORY. On an error *topology is zeroed; otherwise modal_curvature_topology_free. */
modal_status modal_curvature_topology_build(int64_t n_vertices, int64_t n_triangles, const int32_t *triangles,
                                            modal_curvature_topology *topology, modal_error *err);

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_curvature_topology_free(modal_curvature_topology *topology);

#endif
