/* SPDX-License-Identifier: Apache-2.0 */
/* One step of the diffusion of curvature tensors (S. Rusinkiewicz, Estimating curvatures and their derivatives on
 * triangle meshes, 2004, section 5: noise is smoothed in the tensors, not in the surface):
 *
 *   S'_v = sum_j w_j R_jv S_j / sum_j w_j,   w_j = A_j (1 - |x_j - x_v|^2 / r^2)^2 where |x_j - x_v| < r, n_j . n_v > 0,
 *
 * over the vertex itself and its neighbours of the table; R_jv is the least rotation of n_j to n_v. A step of radius r
 * spreads by r / sqrt(8) along every direction (standard deviation), m steps by sqrt(m) times that, and are soon as good
 * as a Gaussian. The table is of kernels/curvature_fit (modal_neighbour_rings), with two rings where r is at most twice an edge.
 * A vertex with area zero, or whose normal is the zero vector, takes part with weight zero; without any weight the
 * tensor is zero.
 * Sizes: any, 0 included. Alignment: as the types. Aliasing: outputs overlap nothing. output.areas is not written.
 * Range: areas from 1e-20 to 1e20 m^2, r from 1e-9 to 1e9 m.
 * Error: |component - exact| <= 64 e max |S_j|, e = FLT_EPSILON / 2, where no neighbour lies at r or at a right angle
 * to rounding.
 * Determinism: the same bytes for any number of columns and threads; no atomics. */
#ifndef MODAL_KERNELS_TENSOR_SMOOTH_H
#define MODAL_KERNELS_TENSOR_SMOOTH_H

#include "kernels/curvature_tensor/curvature_output.h"
#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

struct modal_tensor_smooth_task {
    int64_t n_vertices, n_columns;
    const int64_t *neighbour_offsets; /* [ceil(n_vertices / 32) + 1] rows before a tile */
    const int32_t *neighbours;        /* [neighbour_offsets[last], 32], filled up with ~(the vertex itself) */
    const float *positions, *normals; /* [n_columns, n_vertices, 3] */
    const float *areas;               /* [n_columns, n_vertices], in m^2 */
    const float *tensors;             /* [n_columns, n_vertices, 3] a b c */
    float radius;                     /* r, above 0, in m */
    modal_curvature_output output;
};

/* One column in double precision; smoothed [n_vertices, 3] is not tensors. */
void modal_tensor_smooth_exact(const modal_curvature_exact *column, const double *areas, const double *tensors,
                               double radius, double *smoothed);

#ifdef __cplusplus
}
#endif
#endif
