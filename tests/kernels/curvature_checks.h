/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs that check operations on curvature share. */
#ifndef MODAL_TESTS_CURVATURE_CHECKS_H
#define MODAL_TESTS_CURVATURE_CHECKS_H

#include "kernels/curvature_tensor/curvature_tensor.h"
#include "tests/kernels/normals_mesh.h"

/* A mesh, one column of it in double precision, and the task's arrays. */
typedef struct surface_case {
    mesh m;
    int64_t columns;
    float scale;
    float *x, *normals;   /* [columns, n, 3]; normals are those of normals_corner, rounded */
    double *dx, *dn;      /* [n, 3], of the column last asked for */
    int shift;
    modal_curvature_surface task; /* on the device */
} surface_case;

typedef enum surface_kind { HOSTILE, FLAT, SPHERE } surface_kind;

/* HOSTILE: tests/kernels/normals_mesh.h; FLAT: all triangles degenerate; SPHERE: a unit sphere times `size`, irregular,
 * closed. size: of the positions. */
void surface_new(surface_case *s, harness *h, surface_kind kind, int64_t n, int64_t columns, double size, int shift);
void surface_column(surface_case *s, int64_t column);
void surface_free(surface_case *s);

/* How much rounding can grow at each vertex of the column, [n]: e times the largest, over its triangles, of
 * (largest curvature along an edge + 1 / least height) / (doubled area / half the sum of squares) / (1 + cosine of the
 * normals). INFINITY where a triangle is near one of the two limits that leave it out. */
void surface_bounds(const surface_case *s, double *bounds);

/* All outputs but areas, filled with NaN; out[6] are what harness_new_output gave (scalars k_max, k_min, mean, gauss,
 * direction_max, direction_min), tensors in `tensors`. */
typedef struct curvature_outputs {
    harness_output *tensors, *areas, *k_max, *k_min, *mean, *gauss, *direction_max, *direction_min;
} curvature_outputs;
modal_curvature_output outputs_new(harness *h, curvature_outputs *out, int64_t points, int shift, int with_areas);

/* Compares one column with tensors [n, 3] in double precision, `bounds` [n] absolute. */
void outputs_compare(harness *h, const curvature_outputs *out, int64_t n, int64_t column, const double *normals,
                     const double *tensors, const double *bounds);
/* All cases of curvature_tensor, or of curvature_ring. */
void surface_check(harness *h, int from_ring);

void outputs_same(harness *h, const curvature_outputs *a, const curvature_outputs *b);

#endif
