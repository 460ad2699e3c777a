/* SPDX-License-Identifier: Apache-2.0 */
/* What the operations on curvature share: the frame of a vertex, and what they give.
 *
 * The tensor of a vertex is the symmetric matrix (a b; b c) of the shape operator, dn = S dx, in the frame (p, q, n)
 * of its normal n = (x, y, z) (T. Duff et al., Building an orthonormal basis, revisited, 2017):
 *   s = copysign(1, z), t = -1 / (s + z), p = (1 + s x^2 t, s x y t, -s x), q = (x y t, s + y^2 t, -y).
 * Signs: with outward normals a convex closed surface has positive curvatures; the unit sphere has 1.
 *   k_max >= k_min are its eigenvalues, by value; mean = (a + c) / 2; gauss = a c - b^2;
 *   direction_max is a unit eigenvector of k_max in space, up to sign, direction_min = n x direction_max.
 * Where k_max = k_min directions are any orthonormal pair of the tangent plane. A vertex whose normal is the zero
 * vector has zeros everywhere. */
#ifndef MODAL_KERNELS_CURVATURE_OUTPUT_H
#define MODAL_KERNELS_CURVATURE_OUTPUT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each NULL, or an array that is written. They overlap nothing. */
typedef struct modal_curvature_output {
    float *tensors;               /* [n_columns, n_vertices, 3] a b c, in 1/m */
    float *areas;                 /* [n_columns, n_vertices] of the vertex, in m^2; only curvature_tensor writes it */
    float *k_max, *k_min, *mean;  /* [n_columns, n_vertices], in 1/m */
    float *gauss;                 /* [n_columns, n_vertices], in 1/m^2 */
    float *direction_max;         /* [n_columns, n_vertices, 3] */
    float *direction_min;         /* [n_columns, n_vertices, 3] */
} modal_curvature_output;

/* The reference, in double precision throughout. */

/* A column and a table of neighbours: of the ring, or of modal_neighbour_rings. */
typedef struct modal_curvature_exact {
    int64_t n_vertices;
    const int64_t *offsets;            /* [ceil(n_vertices / 32) + 1] rows before a tile */
    const int32_t *neighbours;         /* [offsets[last], 32] */
    const double *positions, *normals; /* [n_vertices, 3] */
} modal_curvature_exact;

/* The frame of a normal (unit, or zero). */
void modal_curvature_frame_exact(const double normal[3], double p[3], double q[3]);

/* k_max, k_min and direction_max [3] of a tensor a b c of that normal. */
void modal_curvature_diagonal_exact(const double normal[3], const double tensor[3], double k[2], double direction[3]);

/* The least rotation R that takes unit normal `from` to unit normal `to`: R p = turn[0] P + turn[1] Q for the frames
 * (p, q) of `from` and (P, Q) of `to`, and R q = -turn[1] P + turn[0] Q. Returns 0 where 1 + from . to <= 1e-6: no
 * rotation is the least. */
int modal_curvature_turn_exact(const double from[3], const double to[3], double turn[2]);

/* A tensor a b c, turned so. in and out may be the same. */
void modal_curvature_turned_exact(const double turn[2], const double in[3], double out[3]);

/* Fills the outputs of one column from tensors [n_vertices, 3], areas [n_vertices] (or NULL) and normals. */
void modal_curvature_give_exact(int64_t n_vertices, int64_t column, const double *normals, const double *tensors,
                                const double *areas, const modal_curvature_output *output);

#ifdef __cplusplus
}
#endif
#endif
