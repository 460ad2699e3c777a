/* SPDX-License-Identifier: Apache-2.0 */
/* Curvature tensors of vertices from their triangles (S. Rusinkiewicz, Estimating curvatures and their derivatives on
 * triangle meshes, 2004), with the principal curvatures and directions.
 *
 * A triangle's tensor is the symmetric S of its plane with the least sum of |S e - dn|^2 over its three edges e, where
 * dn is the difference of the vertices' normals along the edge, projected into the plane. A vertex's tensor is the mean
 * of its triangles', each turned by the least rotation that takes the triangle's normal to the vertex's, weighted with
 * the vertex's share of the triangle's area: Voronoi regions, and for an obtuse triangle, with the obtuse corner i,
 *   A_j = -A l_k^2 / (4 e_i . e_k),  A_k = -A l_j^2 / (4 e_i . e_j),  A_i = A - A_j - A_k.
 * At a boundary: the same with the triangles that are there. A triangle contributes nothing, neither here nor in
 * curvature_ring and curvature_derivative, where its doubled area is at most 1e-6 of half the sum of its squared edges,
 * or where 1 + (its normal) . (the vertex's normal) <= 1e-6 (it lies upside down: no rotation is the least).
 * On irregular triangles the result does not converge to the surface's curvature (it stays a few per cent off):
 * curvature_fit does.
 * Sizes: any, 0 included. Alignment: as the types. Outputs: curvature_output.h; those that are NULL are not written.
 * Range: lengths of edges times `scale` from 1e-5 to 1e5.
 * Error, e = FLT_EPSILON / 2, for normals as given: |component - exact| <= 16 e (K + 1 / h) / (q^2 (1 + c)) and the
 * output's rounding, with the largest K = |dn| / |e| of an edge, least height h, quality q = doubled area over half the
 * sum of squared edges (at most 1 in the formula), and cosine c with the vertex's normal, of the vertex's triangles.
 * Normals that are rounded to float32 add about 3e-8 / h. The reference works in double and rounds once.
 * Determinism: the same bytes for any number of columns and threads; no atomics. */
#ifndef MODAL_KERNELS_CURVATURE_TENSOR_H
#define MODAL_KERNELS_CURVATURE_TENSOR_H

#include <stdint.h>

#include "kernels/curvature_tensor/curvature_output.h"
#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What curvature_tensor, curvature_ring and curvature_derivative read. */
typedef struct modal_curvature_surface {
    int64_t n_vertices, n_columns;
    const int64_t *ring_offsets; /* [ceil(n_vertices / 32) + 1] */
    const int32_t *ring;         /* [ring_offsets[last], 32], kernels/normals_dynamic */
    const float *positions;      /* [n_columns, n_vertices, 3] */
    const float *normals;        /* [n_columns, n_vertices, 3], unit or zero; of normals_corner */
    float scale;                 /* a power of two, about 1 / length of an edge */
    const float *records;        /* NULL, or of normals_corner: read instead of both by curvature_tensor on CUDA, where a
                                    vertex's neighbours lie anywhere in memory: one sector of 32 bytes each */
} modal_curvature_surface;

struct modal_curvature_tensor_task {
    modal_curvature_surface surface;
    modal_curvature_output output;
};

/* One column in double precision throughout: positions and normals [n_vertices, 3], tensors [n_vertices, 3] and areas
 * [n_vertices] are written. */
void modal_curvature_tensor_exact(int64_t n_vertices, const int64_t *ring_offsets, const int32_t *ring,
                                  const double *positions, const double *normals, double *tensors, double *areas);

/* For the references of curvature_tensor and curvature_derivative: the triangle (v, a, b), v with normal n. Returns
 * 0 where it contributes nothing; else its unit normal, and the share of v of its area. */
int modal_curvature_triangle_exact(const double v[3], const double a[3], const double b[3], const double n[3],
                                   double face_normal[3], double *share);

#ifdef __cplusplus
}
#endif
#endif
