/* SPDX-License-Identifier: Apache-2.0 */
/* Where the surface is nearest to each sample. */
#ifndef MODAL_OCTREE_NEAREST_H
#define MODAL_OCTREE_NEAREST_H

#include <math.h>

#include "lib/base/progress.h"
#include "lib/octree/bricks.h"

/* A surface seen from the lattice: (position - origin) scale is in lattice steps. */
typedef struct modal_octree_frame {
    const double *positions;
    double origin[3], scale;
} modal_octree_frame;

static inline void modal_octree_corners(const modal_octree_frame *f, const int32_t triangle[3], double p[9])
{
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) p[3 * j + k] = (f->positions[3 * (int64_t)triangle[j] + k] - f->origin[k]) * f->scale;
}

/* How far cells are grown on all sides, in lattice steps, when triangles that meet them are looked for. */
static inline double modal_octree_margin(const modal_octree *o) { return ldexp(1.0, modal_octree_bits(o) < 9 ? -11 : modal_octree_bits(o) - 20); }

/* The point of the triangle p that is nearest to x: weights of the second and third corner; returns the squared distance. C. Ericson,
 * Real-Time Collision Detection, 2005, section 5.1.5. */
double modal_octree_closest(const double p[9], const double x[3], double weights[2]);

/* Sets octree->triangles and barycentric of all samples: of the nearest triangles, with distances rounded to float32, the one
 * with the lowest number. OpenMP; the same bytes for any number of threads. Errors: MODAL_ERROR_MEMORY, MODAL_ERROR_INTERRUPTED. */
modal_status modal_octree_nearest(const modal_octree_frame *frame, const int32_t *triangles, double margin, const modal_bricks *samples,
                                  const modal_progress *progress, modal_octree *octree, modal_error *err);

#endif
