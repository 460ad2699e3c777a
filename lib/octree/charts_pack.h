/* SPDX-License-Identifier: Apache-2.0 */
/* Charts side by side in the unit square. */
#ifndef MODAL_OCTREE_CHARTS_PACK_H
#define MODAL_OCTREE_CHARTS_PACK_H

#include <stdint.h>

#include "lib/base/status.h"

typedef struct modal_chart_shape {
    int64_t first_uv, n_uv; /* its rows of uv */
    int64_t first, n;       /* its triangles: members[first] ... */
    double size[2];         /* of its box, which begins at 0, m */
} modal_chart_shape;

/* Scales all charts alike, turns each by a multiple of 90 degrees, and moves them into the square, `gap` apart and half of it from the
 * square's border: uv [n, 2] in m become multiples of 1 / MODAL_CHART_STEPS in [0, 1]. triangle_uv [.., 3] of the members.
 * A raster of cells says where charts are (what a triangle grown by half the gap touches); the largest charts first, each where its upper end
 * is lowest; the scale is the largest of some at which all fit in one of several orders, from the shorter sides of their boxes to the longer ones
 * (of more than 500 charts in one). Errors: MODAL_ERROR_INPUT: more charts than fit; MODAL_ERROR_MEMORY. */
modal_status modal_charts_pack(const modal_chart_shape *shapes, int64_t n_shapes, const int32_t *members, const int32_t *triangle_uv, double gap, double *uv,
                               modal_error *err);

#endif
