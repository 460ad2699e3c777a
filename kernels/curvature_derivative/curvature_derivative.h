/* SPDX-License-Identifier: Apache-2.0 */
/* The derivative of curvature (S. Rusinkiewicz, Estimating curvatures and their derivatives on triangle meshes, 2004):
 * the symmetric tensor of rank 3 with the components
 *   (111, 112, 122, 222) in (direction_max, direction_min),
 * 111 the derivative of k_max along direction_max, 222 that of k_min along direction_min.
 * On a triangle, whose vertices' tensors are turned into its plane by the least rotations, it is the symmetric D with
 * the least sum of |D e - dS|^2 (Frobenius: the off-diagonal part counts twice) over its three edges e, dS the change
 * of the tensors along them. A vertex has the mean of its triangles', turned and weighted as in curvature_tensor. A
 * triangle contributes nothing where it does not there, nor where 1 + (its normal) . (another vertex's normal) <= 1e-6.
 * Sizes: any, 0 included. Alignment: as the types. Aliasing: derivatives overlaps nothing. A vertex whose normal is the
 * zero vector, or that no triangle contributes to, has zeros. Where k_max = k_min the components' frame is any.
 * Error, for tensors as given: |component - exact| <= e T (K + 1 / h) / (q^2 (1 + c)) with the names of
 * curvature_tensor, of the triangles around the vertex's triangles, and T the largest |a| + 2 |b| + |c| there; and what
 * the rounding of the tensor turns directions.
 * Determinism: the same bytes for any number of columns and threads; no atomics. */
#ifndef MODAL_KERNELS_CURVATURE_DERIVATIVE_H
#define MODAL_KERNELS_CURVATURE_DERIVATIVE_H

#include "kernels/curvature_tensor/curvature_tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct modal_curvature_derivative_task {
    modal_curvature_surface surface;
    const float *tensors; /* [n_columns, n_vertices, 3] a b c, curvature_output.h */
    float *derivatives;   /* [n_columns, n_vertices, 4], in 1/m^2, written */
};

/* One column in double precision: positions, normals and tensors [n_vertices, 3], derivatives [n_vertices, 4]. */
void modal_curvature_derivative_exact(int64_t n_vertices, const int64_t *ring_offsets, const int32_t *ring,
                                      const double *positions, const double *normals, const double *tensors,
                                      double *derivatives);

#ifdef __cplusplus
}
#endif
#endif
