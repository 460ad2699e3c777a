/* SPDX-License-Identifier: Apache-2.0 */
/* Curvature by a fitted height function (F. Cazals and M. Pouget, Estimating differential quantities using polynomial
 * fitting of osculating jets, 2005): in the frame (p, q, n) of a vertex's normal, over the vertex and its neighbours of
 * the table, the polynomial z = f(x, y) of degree 2 (6 unknowns) or 4 (15) with the least weighted sum of squares. A
 * point's weight is 1 / (d^2 / m + 1/5)^2, with its distance d from the vertex and the mean m of the neighbours' d^2: that
 * halves to quarters the errors on irregular triangles of the same rings without weights (docs/modalcurv.md). The tensor is
 * that of the polynomial's graph above the vertex. The graph's tangent plane is turned into the vertex's by the least
 * rotation. On irregular triangles it converges, unlike curvature_tensor and curvature_ring.
 * Where the points do not determine a degree (a monomial keeps at most 1e-6 of its squared length beside those before
 * it, in the order 1, x, y, x^2, x y, y^2, x^3, ..) the next lower one is taken; below 2 the tensor is zero.
 * Sizes: any, 0 included. Alignment: as the types. Aliasing: outputs overlap nothing. output.areas is not written.
 * Error: all is computed in double precision and rounded once, on every back end; the normal equations are solved on
 * the cpu and on CUDA, an orthogonal factorisation in the reference. With K the largest absolute component, h the
 * length of edges, e = FLT_EPSILON / 2 and d = 1e-6 for degree 2, 5e-6 for degree 4, all are held to
 * |component - exact| <= d K + 8e / h. What costs digits is neither the unit (L D L^T is the same in every scale of a
 * column) nor the precision of the solve, but points that hardly determine a monomial: the normal equations are off by
 * 1e-16 over the share that it keeps. At 1e-8 the errors of random points reached 3e-5 K, and the degree depended on the
 * rounding; at 1e-6 they are 5e-7 K at most, and positions in float32 do not hold more.
 * Determinism: the same bytes for any number of columns and threads; no atomics. */
#ifndef MODAL_KERNELS_CURVATURE_FIT_H
#define MODAL_KERNELS_CURVATURE_FIT_H

#include "kernels/curvature_fit/neighbour_rings.h"
#include "kernels/curvature_tensor/curvature_output.h"
#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Another degree than 2 and 4: MODAL_ERROR_USAGE. */
struct modal_curvature_fit_task {
    int64_t n_vertices, n_columns;
    const int64_t *neighbour_offsets; /* [ceil(n_vertices / 32) + 1], of modal_neighbour_rings */
    const int32_t *neighbours;        /* [neighbour_offsets[last], 32] */
    const float *positions, *normals; /* [n_columns, n_vertices, 3] */
    int degree;                       /* 2 or 4 */
    modal_curvature_output output;
    float *degrees; /* [n_columns, n_vertices] that were reached, 0 without a normal, or NULL */
};

/* One column in double precision: tensors [n_vertices, 3] and degrees [n_vertices] are written. Fails without memory. */
modal_status modal_curvature_fit_exact(const modal_curvature_exact *column, int degree, double *tensors,
                                       double *degrees, modal_error *err);

#ifdef __cplusplus
}
#endif
#endif
