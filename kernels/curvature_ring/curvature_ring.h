/* SPDX-License-Identifier: Apache-2.0 */
/* Curvature tensors straight from the one-ring (M. Costa and S.-T. Wu, Deformação de malhas de arbitrária topologia,
 * 2012): one least-squares problem a vertex instead of one a triangle and a mean. The tensor is the symmetric S with the
 * least sum of |S e - dn|^2 over the three edges e of every triangle of the vertex (an edge that two of them share
 * counts twice), where e and the difference dn of the normals along it are projected into the vertex's tangent plane.
 * Which triangles contribute nothing, sizes, alignment, range, determinism: kernels/curvature_tensor; error: 4 times its
 * bound. A vertex
 * whose edges lie on one line has the zero tensor. output.areas is not written.
 * The system S G + G S = M + M^T = P, G the sum of e e^T and M of dn e^T, has the solution
 *   S = (det G P + adj G P adj G) / (2 tr G det G). */
#ifndef MODAL_KERNELS_CURVATURE_RING_H
#define MODAL_KERNELS_CURVATURE_RING_H

#include "kernels/curvature_tensor/curvature_tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct modal_curvature_ring_task {
    modal_curvature_surface surface;
    modal_curvature_output output;
};

/* One column in double precision: positions, normals and (written) tensors [n_vertices, 3]. */
void modal_curvature_ring_exact(int64_t n_vertices, const int64_t *ring_offsets, const int32_t *ring,
                                const double *positions, const double *normals, double *tensors);

#ifdef __cplusplus
}
#endif
#endif
