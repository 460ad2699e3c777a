/* SPDX-License-Identifier: Apache-2.0 */
/* The metric of a deformed surface against its rest: how triangles stretch, and the mean at the vertices.
 * A triangle's deformation maps its rest plane linearly to its deformed one, x' = F X (F is 3 x 2): area_ratio = sqrt det
 * F^T F, stretch_max >= stretch_min are F's singular values, stretch_direction is the deformed direction of the largest. A
 * vertex has the means of its triangles, weighted with their areas at rest; its direction is the main axis of the sum of
 * (stretch_max - stretch_min) d d^T, up to sign, and zero where no direction stands out (1e-6). Triangles without area at
 * rest count nothing; a vertex of none has zeros. Computed in float64. */
#ifndef MODAL_CURVATURE_STRETCH_H
#define MODAL_CURVATURE_STRETCH_H

#include <stdint.h>

#include "lib/base/status.h"

/* Each [n_vertices], the last one [n_vertices, 3], or NULL. */
typedef struct modal_stretch_output {
    float *area_ratio, *stretch_max, *stretch_min, *direction;
} modal_stretch_output;

/* triangles [n_triangles, 3] of vertices in range; rest [n_vertices, 3]. */
typedef struct modal_stretch_rest {
    int64_t n_vertices, n_triangles;
    const int32_t *triangles;
    const float *rest;
} modal_stretch_rest;

/* positions [n_vertices, 3]. Thread-safe. MODAL_ERROR_MEMORY. */
modal_status modal_stretch_compute(const modal_stretch_rest *of, const float *positions, const modal_stretch_output *out,
                                   modal_error *err);

/* Some frames, each in one of n_threads threads: positions and outputs [n_frames, ..]. */
modal_status modal_stretch_frames(int64_t n_frames, int n_threads, const modal_stretch_rest *of, const float *positions,
                                  const modal_stretch_output *out, modal_error *err);

/* Of one triangle [3][3] in float64: area_ratio, stretch_max, stretch_min and the unit direction in values[6], and the
 * area at rest; 0 without one, then values are zeros. */
double modal_stretch_triangle(const double rest[3][3], const double positions[3][3], double values[6]);

#endif
