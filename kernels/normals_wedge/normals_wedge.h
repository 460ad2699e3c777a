/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic normals of a surface with creases: one a wedge (lib/model/creases.h), a vertex with those of its corners that share a normal:
 *
 *   N[c][w] = sum over corners (a, b) of w of (x_a - x_v) x (x_b - x_v),   normal = N / |N|,   v the vertex of w
 *
 * Wedges below n_vertices are the vertices; wedge w from there on is at vertex source[w - n_vertices]. All else, the error bound, what a sum of zero
 * gives, overflow and determinism, is as in kernels/normals_dynamic; without further wedges the bytes are those. The reference sums in
 * double and rounds once.
 * Sizes: any, 0 included, n_wedges >= n_vertices. Alignment: corners to 8 bytes, the rest as their types. Aliasing: normals overlaps nothing.
 * The ring is for CUDA, as there: rows of tiles of wedges. */
#ifndef MODAL_KERNELS_NORMALS_WEDGE_H
#define MODAL_KERNELS_NORMALS_WEDGE_H

#include <stdint.h>

#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

struct modal_normals_wedge_task {
    int64_t n_vertices, n_columns, n_wedges;
    const int32_t *source;         /* [n_wedges - n_vertices] */
    const int64_t *corner_offsets; /* [n_wedges + 1] */
    const int32_t *corners;        /* [corner_offsets[n_wedges], 2] vertices a, b */
    const float *positions;        /* [n_columns, n_vertices, 3] */
    float *normals;                /* [n_columns, n_wedges, 3], written */
    const int64_t *ring_offsets;   /* [ceil(n_wedges / 32) + 1] rows of the ring before a tile */
    const int32_t *ring;           /* [ring_offsets[last], 32], or NULL */
};

/* The tables of modal_normals_corners and modal_normals_ring, made of wedges as if they were vertices, become those of the
 * operation: each of `n` numbers w, or ~w, becomes its vertex, or ~ of it. In place. */
void modal_normals_wedge_vertices(int64_t n_vertices, const int32_t *source, int64_t n, int32_t *numbers);

#ifdef __cplusplus
}
#endif
#endif
