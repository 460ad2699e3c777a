/* SPDX-License-Identifier: Apache-2.0 */
/* The view of a light from far away: parallel, as close around the points as a square allows.
 *
 * Axes right, up and along (the way of the light) are given, orthonormal. The points' box in them is found; its middle becomes the view's
 * origin and comes to lie in the middle of the map, whose texels are squares: of max(extent right, extent up) / (size - 2 margin).
 * Depth is 1 where the box is nearest to the light and 1/2 where it is farthest, so that what lies behind it, a ground, has depths of its own as far
 * again. Without points, or where all are one: a box of side 1.
 * Points that are not finite are left out.
 *
 * All back ends give the same bytes (shadow_view_math.h). Sizes: n_points >= 0, size > 2 margin. */
#ifndef MODAL_KERNELS_SHADOW_VIEW_H
#define MODAL_KERNELS_SHADOW_VIEW_H

#include "kernels/raster/raster.h"

enum { MODAL_SHADOW_VIEW_SCRATCH = 6 * 1024 }; /* floats */

struct modal_shadow_view_task {
    int64_t n_points;
    const float *points; /* [n_points, 3] m */
    float right[3], up[3], along[3];
    int32_t size, margin; /* texels of a side; those on each side that stay empty */
    modal_raster_view *view; /* written, in the back end's memory */
    float *scratch;          /* [MODAL_SHADOW_VIEW_SCRATCH] */
};

#endif
