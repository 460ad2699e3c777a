/* SPDX-License-Identifier: Apache-2.0 */
/* Tangents of deformed triangles from texture coordinates, orthogonal to given normals (E. Lengyel,
 * "Computing Tangent Space Basis Vectors for an Arbitrary Mesh", Terathon Software, 2001). A corner
 * (a, b) of vertex v is a triangle (v, a, b) with the texture coordinates of its three corners:
 *
 *   e1 = x_a - x_v,  (s1, t1) = uv_a - uv_v,  e2 = x_b - x_v,  (s2, t2) = uv_b - uv_v
 *   dP/du = g0 e1 + g1 e2,  dP/dv = g2 e1 + g3 e2,   (g0 g1 g2 g3) = (t2 -t1 -s2 s1) / (s1 t2 - s2 t1)
 *   T = sum over corners of dP/du,   B = sum over corners of dP/dv,   P = T - n (n . T)
 *   tangent[c][v] = (P / |P|, w),    w = -1 where (n x T) . B < 0, else 1
 *
 * g does not change in time: modal_tangents_weights makes it once. Texture coordinates are those of
 * corners, so both sides of a seam count where they meet in one vertex.
 * A triangle of degenerate texture coordinates (g = 0), or whose cross product e1 x e2 is exactly zero
 * in the arithmetic at hand, contributes nothing. Where P is exactly zero (no valid triangle, sums
 * that cancel) the tangent is (0, 0, 0, 0).
 * Corners are summed in their order. Sizes: any, 0 included. Units: none.
 * Alignment: corners to 8 bytes, the rest as floats (weights and tangents at 16 bytes are faster).
 * Aliasing: tangents overlaps nothing.
 * Error, e = FLT_EPSILON / 2, g(k) = k e / (1 - k e), m corners, |n| = 1 within 4 e:
 *   |tangent_i - exact| <= 12 g(m + 12) S / |P| + 8 e,  S = sum over corners |g0| |e1| + |g1| |e2|,
 * as long as nothing overflows or underflows. Where the bound reaches 1 the direction is undefined; it
 * is still a unit vector or zero. w is exact where |(n x T) . B| > 12 g(m + 12) S Q, Q being S for
 * g2 and g3. The reference sums in double and rounds once.
 * Overflow: where P, or (n x P / |P|) . B, is not a number in the arithmetic at hand, so is the tangent or w.
 * Determinism: as normals_dynamic.h. */
#ifndef MODAL_KERNELS_TANGENTS_DYNAMIC_H
#define MODAL_KERNELS_TANGENTS_DYNAMIC_H

#include <stdint.h>

#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

struct modal_tangents_dynamic_task {
    int64_t n_vertices, n_columns;
    const int64_t *corner_offsets; /* [n_vertices + 1], as in modal_normals_dynamic_task */
    const int32_t *corners;        /* [corner_offsets[n_vertices], 2] vertices a, b */
    const float *weights;          /* g [corner_offsets[n_vertices], 4] */
    const float *positions;        /* [n_columns, n_vertices, 3] */
    const float *normals;          /* n [n_columns, n_vertices, 3], unit or zero */
    float *tangents;               /* [n_columns, n_vertices, 4], written */
};

/* A surface with texture coordinates, in main memory: corner k of vertex v belongs to the triangle corner_faces[k]
 * (modal_normals_corner_faces), whose texture coordinates are uv[triangle_uv[3 corner_faces[k] + 0 .. 2]]. */
typedef struct modal_tangents_surface {
    int64_t n_vertices, n_triangles, n_uv;
    const int32_t *triangles, *triangle_uv; /* [n_triangles, 3] */
    const double *uv;                       /* [n_uv, 2] */
    const int64_t *corner_offsets;          /* [n_vertices + 1] */
    const int32_t *corner_faces;            /* [corner_offsets[n_vertices]] */
} modal_tangents_surface;

/* Makes the weights [corner_offsets[n_vertices], 4] of the corners, in main memory. Computed in double. Zero where
 * s1 t2 - s2 t1 is zero or the weights do not fit a float. MODAL_ERROR_INPUT for a face that is no triangle of its vertex,
 * or an index out of range. */
modal_status modal_tangents_weights(const modal_tangents_surface *surface, float *weights, modal_error *err);

#ifdef __cplusplus
}
#endif
#endif
