/* SPDX-License-Identifier: Apache-2.0 */
/* Ridges and valleys: where k_max is largest along direction_max, or k_min least along direction_min (Y. Ohtake, A. Belyaev,
 * H.-P. Seidel, Ridge-valley lines on meshes via implicit surface fitting, 2004). On an edge, whose ends' directions are
 * turned to agree, the derivative along the direction changes its sign, and curvature grows from an end inwards; the
 * place is linear in the derivatives. A triangle with two such edges has a piece of a line, one with three has
 * three pieces to their middle. Ridges: k_max > |k_min| at both ends; valleys: -k_min > |k_max|. */
#ifndef MODAL_CURVATURE_LINES_H
#define MODAL_CURVATURE_LINES_H

#include <stdint.h>

#include "lib/base/status.h"

/* What lines are found in. */
typedef struct modal_lines_surface {
    int64_t n_vertices, n_triangles;
    const int32_t *triangles;                           /* [n_triangles, 3], vertices in range */
    const float *positions;                             /* [n_vertices, 3] */
    const float *k_max, *k_min;                         /* [n_vertices] */
    const float *direction_max, *direction_min;         /* [n_vertices, 3] */
    const float *derivative;                            /* [n_vertices, 4], in these directions */
} modal_lines_surface;

/* Line l has the points offsets[l] .. offsets[l + 1] - 1; of a closed one the first comes again as the last. */
typedef struct modal_lines {
    int64_t n_points, n_lines;
    float *points;    /* [n_points, 3] */
    float *curvature; /* [n_points] k_max, or k_min of a valley, 1/m */
    int64_t *offsets; /* [n_lines + 1] */
    float *strength;  /* [n_lines] integral of |curvature| along the line */
    uint8_t *valley;  /* [n_lines] 0: a ridge */
    int64_t point_capacity, curvature_capacity, offset_capacity, strength_capacity, valley_capacity;
} modal_lines;

/* Appends the ridges (valleys = 0) or valleys of at least that strength. *lines was zeroed before the first call; after an
 * error, too, it is for modal_lines_free. MODAL_ERROR_MEMORY. */
modal_status modal_lines_find(const modal_lines_surface *surface, int valleys, double least_strength, modal_lines *lines,
                              modal_error *err);
void modal_lines_free(modal_lines *lines);

#endif
