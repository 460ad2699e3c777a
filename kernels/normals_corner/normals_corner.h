/* SPDX-License-Identifier: Apache-2.0 */
/* Vertex normals that are exact on spheres (N. Max, Weights for computing vertex normals from facet normals, 1999):
 * every corner (a, b) of a vertex v adds the cross product of its edges, divided by their squared lengths:
 *
 *   N[c][v] = sum over corners (a, b) of v of  (e x f) / (|e|^2 |f|^2),   e = x_a - x_v, f = x_b - x_v,
 *   normal = N / |N|
 *
 * Curvature needs these: with area weights it is off by 10 to 15 % on a sphere of irregular triangles.
 * A corner whose edges have no length or are parallel adds nothing; a sum of exactly zero gives the zero vector.
 * Corners come from the ring of kernels/normals_dynamic (modal_normals_ring), in its order.
 * Sizes: any, 0 included. Units: x in m; normals are plain numbers.
 * Alignment: as the types. Aliasing: normals overlaps nothing.
 * Range: lengths of edges times `scale` from 1e-8 to 1e8. Outside of it a corner may be lost or make a NaN.
 * Error, e = FLT_EPSILON / 2, m corners: each component of N is off by at most
 *   g(m + 12) 2 sqrt(2) B,   B = sum over corners of 1 / (|e| |f|),   g(k) = k e / (1 - k e),
 * and per component |normal - exact| <= 2 sqrt(3) 2 sqrt(2) g(m + 12) B / |N| + 6 e. Where the bound reaches 1 the
 * direction is undefined; it is still a unit vector or zero. The reference sums in double and rounds once.
 * Determinism: the same bytes for any number of columns and threads, and in every instruction set; no atomics. */
#ifndef MODAL_KERNELS_NORMALS_CORNER_H
#define MODAL_KERNELS_NORMALS_CORNER_H

#include <stdint.h>

#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

struct modal_normals_corner_task {
    int64_t n_vertices, n_columns;
    const int64_t *ring_offsets; /* [ceil(n_vertices / 32) + 1] rows of the ring before a tile */
    const int32_t *ring;         /* [ring_offsets[last], 32] */
    const float *positions;      /* [n_columns, n_vertices, 3] */
    float scale;                 /* a power of two, about 1 / length of an edge; 1 does for edges near 1 m */
    float *normals;              /* [n_columns, n_vertices, 3], written */
    float *records;              /* NULL, or [n_columns, n_vertices, 8], written: position, 0, normal, 0; 32-byte aligned */
};

/* Fills the records, where there are any, from normals that are there: for back ends in main memory. */
void modal_normals_corner_records(const modal_normals_corner_task *task);

/* One column in double precision throughout: positions and normals [n_vertices, 3]. What the reference rounds. */
void modal_normals_corner_exact(int64_t n_vertices, const int64_t *ring_offsets, const int32_t *ring,
                                const double *positions, double *normals);

#ifdef __cplusplus
}
#endif
#endif
