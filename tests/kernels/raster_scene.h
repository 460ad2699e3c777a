/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes and views for the tests of pictures. */
#ifndef MODAL_TESTS_RASTER_SCENE_H
#define MODAL_TESTS_RASTER_SCENE_H

#include "kernels/raster/raster.h"
#include "tests/kernels/harness.h"

/* In main memory. */
typedef struct raster_scene {
    int64_t n_points, n_more, n_triangles, most_points, most_triangles;
    float *points, *normals;           /* [n_points, 3] */
    float more[12], more_normals[12];  /* the ground's */
    int32_t *triangles;
    uint8_t *flags;
} raster_scene;

raster_scene raster_scene_new(int64_t most_points, int64_t most_triangles);
void raster_scene_free(raster_scene *scene);
int32_t raster_scene_point(raster_scene *scene, double x, double y, double z);
void raster_scene_triangle(raster_scene *scene, int32_t a, int32_t b, int32_t c);
/* A torus around the z axis, radii 1 and 0.4, of n x n quads, with its normals. */
raster_scene raster_scene_torus(int n);
/* A square of that half side at z, of two triangles, in `more`. */
void raster_scene_ground(raster_scene *scene, double half, double z);

/* Its arrays in the back end's memory. */
modal_raster_mesh raster_scene_mesh(harness *h, const raster_scene *scene);
/* The same in main memory. */
modal_raster_mesh raster_scene_here(const raster_scene *scene);

/* Pixels as they are: x, y, depth are the point's. */
modal_raster_view raster_scene_flat(void);
/* From eye to target, z up, `fov` from the lower to the upper edge. */
modal_raster_view raster_scene_view(const double eye[3], const double target[3], double fov, int width, int height, double near_w);

#endif
