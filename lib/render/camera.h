/* SPDX-License-Identifier: Apache-2.0 */
/* Cameras of a look as views of a picture. */
#ifndef MODAL_RENDER_CAMERA_H
#define MODAL_RENDER_CAMERA_H

#include "kernels/raster/raster.h"
#include "lib/model/look.h"
#include "lib/model/matrix_source.h"
#include "lib/model/trajectory.h"

/* Where the objects are over a trajectory: a box an object, in the axes of a view. */
typedef struct modal_render_bounds {
    double right[3], up[3], ahead[3]; /* orthonormal */
    int32_t n;
    double (*boxes)[6]; /* [n] least and most along right, up and ahead, m; least > most: the object has no vertices */
} modal_render_bounds;

/* Orthonormal axes: `ahead` along direction, up as near to `up` as it can be. Neither is 0, nor are they along one line. */
void modal_render_axes(const double direction[3], const double up[3], double right[3], double to_up[3], double ahead[3]);

/* The boxes over all frames. A vertex is taken to move from its rest position by at most sum_k |q_k| max |U_k|, so boxes
 * hold their objects with room to spare. source: modal matrices, read NULL: the basis has them. MODAL_ERROR_MEMORY and the source's. */
modal_status modal_render_bounds_new(modal_render_bounds *bounds, const double direction[3], const double up[3], const modal_basis *basis,
                                     const modal_matrix_source *source, const modal_trajectory *trajectory, modal_error *err);
/* Widens an object's box by points [n, 3]: of frames that follow from no modes. */
void modal_render_bounds_add(modal_render_bounds *bounds, int32_t object, int64_t n, const float *points);
void modal_render_bounds_free(modal_render_bounds *bounds);
/* The diagonal of the box around all, m; 1 where there is nothing. */
double modal_render_bounds_size(const modal_render_bounds *bounds);

/* The view at time t, of width x height pixels. bounds: in the camera's own axes for one that is fitted; gives the size of the scene, by
 * which the near plane is placed. */
modal_raster_view modal_render_view(const modal_look_camera *camera, double t, const modal_render_bounds *bounds, int32_t width,
                                    int32_t height);

/* The same, turned around the camera's `up` by a share of a whole turn: around its target, or, of one that is fitted, around the middle of the
 * objects, which it sees whole from all sides. */
modal_raster_view modal_render_turned_view(const modal_look_camera *camera, double t, double share, const modal_render_bounds *bounds, int32_t width,
                                           int32_t height);

#endif
