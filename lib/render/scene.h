/* SPDX-License-Identifier: Apache-2.0 */
/* What a renderer draws besides positions and normals: triangles of all objects, materials, lights, ground. Plain arrays in main memory. */
#ifndef MODAL_RENDER_SCENE_H
#define MODAL_RENDER_SCENE_H

#include "kernels/shade/shade.h"
#include "lib/model/basis.h"
#include "lib/model/look.h"

enum { MODAL_RENDER_LIGHTS = 64, MODAL_RENDER_MAPS = 4 }; /* the most lights, and those of them that throw shadows */

typedef struct modal_render_scene {
    int64_t n_points, n_triangles; /* n_triangles: the ground's two, the last ones, included */
    int32_t n_objects;
    int32_t *triangles;          /* [n_triangles, 3] points of a frame in stored order; n_points to n_points + 3: the ground's */
    uint8_t *flags;              /* [n_triangles] kernels/raster/raster.h */
    int32_t *triangle_materials; /* [n_triangles] */
    int32_t *object_triangles;   /* [n_objects + 1] */
    int32_t n_materials;
    float *materials; /* [n_materials, MODAL_SHADE_MATERIAL] */
    float *tints;     /* [n_objects, 3] */
    int32_t n_lights, n_maps;
    modal_shade_light lights[MODAL_RENDER_LIGHTS];
    float ambient[3], background[3];
    int has_ground;
    float ground[12], ground_normals[12]; /* [4, 3] */
} modal_render_scene;

/* The ground's place, where the look has one. */
typedef struct modal_render_ground {
    double up[3], centre[3]; /* it goes through centre + (height - centre . up) up */
    double height, size;
} modal_render_ground;

/* What the look says of the basis's objects. ground: NULL, or where look->ground_material >= 0. MODAL_ERROR_INPUT: a triangle without a
 * material, more points or triangles than 31 bits number, more than MODAL_RENDER_MAPS lights with shadows; MODAL_ERROR_MEMORY. The scene
 * needs nothing of its arguments afterwards. */
modal_status modal_render_scene_new(modal_render_scene *scene, const modal_basis *basis, const modal_look *look,
                                    const modal_render_ground *ground, modal_error *err);
void modal_render_scene_free(modal_render_scene *scene);
int64_t modal_render_scene_bytes(const modal_render_scene *scene);

#endif
