/* SPDX-License-Identifier: Apache-2.0 */
/* Texture coordinates of the surface around which an octree texture is, and what of the surface each texel of an image by them shows. */
#ifndef MODAL_MODEL_OCTREE_ATLAS_H
#define MODAL_MODEL_OCTREE_ATLAS_H

#include <stdint.h>

typedef struct modal_octree_atlas {
    int64_t n_uv;         /* 0: there is no atlas */
    double *uv;           /* [n_uv, 2] u and v go from 0 to 1 over the image, v upwards */
    int32_t *triangle_uv; /* [n_triangles of the octree, 3] indices of uv */
    int32_t width, height;
    uint8_t *image; /* [height, width, 4] as the PNG has it, the upper row first; or NULL */
    int64_t n_rows; /* texels that show the surface */
    int32_t *texels;    /* [n_rows] y width + x, y downwards; ascending */
    int32_t *samples;   /* [n_rows] sample that begins the cell of the point that the texel shows */
    int32_t *triangles; /* [n_rows] on which the point is */
    float *places;      /* [n_rows, 3] where it is in the cell, 0 to 1 */
} modal_octree_atlas;

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_octree_atlas_free(modal_octree_atlas *atlas);

#endif
