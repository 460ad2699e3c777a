/* SPDX-License-Identifier: Apache-2.0 */
/* Area-weighted vertex normals of deformed triangles, in one stage (Wang and Barbic 2020, section 4.2: every
 * vertex sums the cross products of its faces, twice their areas in length, and normalises):
 *
 *   N[c][v] = sum over corners (a, b) of v of (x_a - x_v) x (x_b - x_v),   normal = N / |N|
 *
 * A corner (a, b) stands for a triangle (v, a, b), turned so that v comes first. Corners of a vertex
 * are summed in their order in the table. A sum of exactly zero (no faces, degenerate ones, or ones
 * that cancel) gives the zero vector. One stage, because with vertices in an order of locality it
 * was faster than storing face normals first.
 * Sizes: any, 0 included. Units: x in m, normals are plain numbers.
 * Alignment: corners to 8 bytes, the rest as their types. Aliasing: normals overlaps nothing.
 * The ring holds the same corners in the same order with half the numbers, and gives the same bytes.
 * It is for CUDA: a back end that has no use for it goes by the corners, which are always needed.
 * Error, e = FLT_EPSILON / 2: an edge is rounded once, a component of a cross product is the
 * difference of two products, m corners are summed: each component of N is off by at most
 *   g(m + 6) sqrt(2) B,   B = sum over corners of |x_a - x_v| |x_b - x_v|,   g(k) = k e / (1 - k e);
 * division by |N| at most doubles the relative error and adds 6 e, so per component
 *   |normal - exact| <= 2 sqrt(3) sqrt(2) g(m + 6) B / |N| + 6 e,
 * as long as the edges' products neither overflow nor underflow (edges from 1e-18 to 1e18). Where
 * the bound reaches 1 the direction is undefined; it is still a unit vector or zero. The reference
 * sums in double and rounds once.
 * Overflow: where a product of two edges' components, or a sum of such, is above FLT_MAX (edges from about
 * 1e19 m on), some component of the normal is NaN, on every back end: no back end rescales edges, which would
 * cost every vertex a pass over its corners. Within rounding of FLT_MAX back ends may differ in this.
 * Determinism: the same bytes for any number of columns and threads; no atomics. */
#ifndef MODAL_KERNELS_NORMALS_DYNAMIC_H
#define MODAL_KERNELS_NORMALS_DYNAMIC_H

#include <stdint.h>

#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

struct modal_normals_dynamic_task {
    int64_t n_vertices, n_columns;
    const int64_t *corner_offsets; /* [n_vertices + 1], CSR: the faces-of-vertex offsets */
    const int32_t *corners;        /* [corner_offsets[n_vertices], 2] vertices a, b */
    const float *positions;        /* [n_columns, n_vertices, 3] */
    float *normals;                /* [n_columns, n_vertices, 3], written */
    const int64_t *ring_offsets;   /* [ceil(n_vertices / 32) + 1] rows of the ring before a tile */
    const int32_t *ring;           /* [ring_offsets[last], 32], or NULL, see modal_normals_ring */
};

/* Makes the table of corners from the faces of each vertex (in main memory). A vertex's corners are
 * put in the order of its fans, (a, b) before (b, c), so that neighbours in the table share an edge;
 * vertices of more than 64 corners keep the order of their faces. A triangle that holds its vertex
 * twice contributes the corner of the first place; its cross product is zero anyway.
 *   face_offsets [n_vertices + 1], faces [face_offsets[n_vertices]], triangles [n_triangles, 3],
 *   corners [face_offsets[n_vertices], 2], written.
 * MODAL_ERROR_INPUT for a face that is no triangle of its vertex, or an index out of range. */
modal_status modal_normals_corners(int64_t n_vertices, int64_t n_triangles,
                                   const int32_t *triangles, const int64_t *face_offsets,
                                   const int32_t *faces, int32_t *corners, modal_error *err);

/* The same; also writes the triangle of each corner to corner_faces [face_offsets[n_vertices]]. */
modal_status modal_normals_corner_faces(int64_t n_vertices, int64_t n_triangles,
                                        const int32_t *triangles, const int64_t *face_offsets,
                                        const int32_t *faces, int32_t *corners,
                                        int32_t *corner_faces, modal_error *err);

/* The ring: for a tile of 32 vertices as many rows of 32 numbers as its longest vertex needs. Lane by
 * lane they are the corners as walks over neighbours: two neighbours in a row are a corner, except
 * that ~i (negative) begins a new walk at i. A closed or open fan of m corners needs m + 1 numbers,
 * any other set of corners at most 2 m. Shorter vertices are filled up with ~(the vertex itself).
 * First the offsets, ring_offsets [ceil(n_vertices / 32) + 1], then the ring,
 * [ring_offsets[ceil(n_vertices / 32)], 32]. Cannot fail. */
void modal_normals_ring_offsets(int64_t n_vertices, const int64_t *corner_offsets,
                                const int32_t *corners, int64_t *ring_offsets);
void modal_normals_ring(int64_t n_vertices, const int64_t *corner_offsets, const int32_t *corners,
                        const int64_t *ring_offsets, int32_t *ring);

/* The corners of vertex source[i] become those of place i, for a ring in the places' order (kernels/normals_placed):
 * the numbers in them stay those of vertices. source is a permutation; the outputs have the sizes of the inputs. */
void modal_normals_order_corners(int64_t n_vertices, const int32_t *source, const int64_t *corner_offsets,
                                 const int32_t *corners, int64_t *place_offsets, int32_t *place_corners);

#ifdef __cplusplus
}
#endif
#endif
