/* SPDX-License-Identifier: Apache-2.0 */
/* The bench's picture by OpenGL: a map of moments, its blur, Phong with samples, then ids, normals and depths without.
 * It is spared sRGB: drivers round theirs apart. */
#ifndef MODAL_TESTS_GL_PICTURES_H
#define MODAL_TESTS_GL_PICTURES_H

#include "kernels/raster/raster.h"
#include "tests/bench/opponents/gl.h"

/* Colours times the light that they answer to. */
typedef struct gl_picture_material {
    float ambient[3], diffuse[3], specular[3], shininess;
} gl_picture_material;

typedef struct gl_picture_scene {
    int64_t n_points, n_triangles, n_ground; /* triangles; the last n_ground have materials[1] */
    const float *points, *normals;           /* [n_points, 3] */
    const int32_t *triangles;                /* [n_triangles, 3] */
    gl_picture_material materials[2];
    float direction[3], colour[3]; /* of the light, to it */
    float background[3], bleeding;
    modal_raster_view camera, light;
    int width, height, samples, shadow_size, shadow_radius, shadow_border;
    float weights[33];
} gl_picture_scene;

typedef struct gl_pictures gl_pictures;
/* All is copied. Deleted by gl_pictures_delete, which accepts NULL. */
modal_status gl_pictures_new(gl_pictures **pictures, const gl_context *gl, const gl_picture_scene *scene, modal_error *err);
gl_pictures *gl_pictures_delete(gl_pictures *pictures);
/* Draws all of it. */
void gl_pictures_draw(void *pictures);
/* The picture in main memory: [height, width, 4] in linear light, the upper row first. */
modal_status gl_pictures_read(const gl_pictures *pictures, uint8_t *picture, modal_error *err);

#endif
