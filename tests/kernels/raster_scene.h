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

enum {
    RASTER_PAINT_MATERIALS = 6, RASTER_PAINT_IMAGES = 3, RASTER_PAINT_LEVELS = 12, RASTER_PAINT_TEXELS = 2048,
    RASTER_SOLID_CELLS = 4096, RASTER_SOLID_MIPS = 2
};

/* Materials of every kind, and images of 16 x 16, 8 x 32 and 32 x 8: colours with an alpha in patches, colours, normals. In main memory.
 * Materials 0: plain; 1: both images, repeated; 2: cut out, mirrored; 3: blended with an image; 4: blended without; 5: cut out without an image. */
typedef struct raster_paint {
    float materials[RASTER_PAINT_MATERIALS][MODAL_SHADE_MATERIAL];
    int32_t material_images[RASTER_PAINT_MATERIALS][2];
    modal_paint_image images[RASTER_PAINT_IMAGES];
    modal_paint_level levels[RASTER_PAINT_LEVELS + 8];
    uint8_t texels[RASTER_PAINT_TEXELS][4];
    float linear[256];
    int64_t n_triangles;
    float *uv; /* [3 n_triangles, 2] */
    int32_t *triangle_uv, *triangle_materials;
    /* of raster_paint_add_solids: */
    int64_t n_points;           /* 0: none */
    modal_paint_solid solids[2]; /* rgba8 colours, float3 normals */
    modal_octree_mip mips[2][RASTER_SOLID_MIPS];
    int32_t material_solids[RASTER_PAINT_MATERIALS][2];
    uint32_t top[64];
    modal_octree_mask masks[129];
    float *records[2]; /* [1 + RASTER_SOLID_MIPS, RASTER_SOLID_CELLS, 8] and [.., 3, 8] */
    float *rest, *rest_normals;
} raster_paint;

/* Random texture coordinates, and materials in turn; flags of the scene are set accordingly, but for those that a back is not seen. */
raster_paint raster_paint_new(harness *h, raster_scene *scene);
/* Materials 0 to 3 get solids of 256^3 cells, some of them absent, with mips of octaves 1 and 3, in the coordinates of the scene; 1 to 3 have
 * images beside them. */
void raster_paint_add_solids(harness *h, const raster_scene *scene, raster_paint *paint);
void raster_paint_free(raster_paint *paint);
modal_paint raster_paint_here(raster_paint *paint);
/* In the back end's memory. */
modal_paint raster_paint_there(harness *h, const raster_paint *paint);

/* Pixels as they are: x, y, depth are the point's. */
modal_raster_view raster_scene_flat(void);
/* From eye to target, z up, `fov` from the lower to the upper edge. */
modal_raster_view raster_scene_view(const double eye[3], const double target[3], double fov, int width, int height, double near_w);

#endif
