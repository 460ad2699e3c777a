/* SPDX-License-Identifier: Apache-2.0 */
/* What `modalbench octree` looks up: a texture of random values around a surface, points on its triangles, and the
 * reference's values at them. */
#ifndef MODAL_TESTS_OCTREE_SCENE_H
#define MODAL_TESTS_OCTREE_SCENE_H

#include "lib/model/volume_mesh.h"
#include "lib/octree/grid.h"

typedef enum octree_order {
    OCTREE_TEXEL,    /* rows of a lattice in each triangle, as an atlas would ask */
    OCTREE_TRIANGLE, /* random in each triangle, triangle after triangle */
    OCTREE_RANDOM,   /* those, shuffled */
    OCTREE_ORDERS
} octree_order;
extern const char *const octree_order_names[OCTREE_ORDERS];

typedef struct octree_scene {
    modal_octree octree;
    modal_octree_tables tables;
    int64_t n_points;
    float *points[OCTREE_ORDERS];      /* [n_points, 3] in cells, spread evenly over the area */
    uint32_t *expected[OCTREE_ORDERS]; /* [n_points] bits of a float, or rgba8 */
} octree_scene;

/* A torus of 2 width^2 triangles. The caller frees the surface. */
modal_status octree_scene_torus(modal_surface_mesh *surface, int64_t width, modal_error *err);

/* Points of the scene's tree on its surface. */
modal_status octree_scene_points(octree_scene *scene, const modal_surface_mesh *surface, int64_t n_points, modal_error *err);

/* Gives the samples random values of the kind, floats in [-1, 1) or rgba8, makes the tables, and asks the reference. A point without a cell is an
 * error. */
modal_status octree_scene_values(octree_scene *scene, modal_octree_channels channels, modal_error *err);

void octree_scene_free(octree_scene *scene);

#endif
