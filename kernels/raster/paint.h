/* SPDX-License-Identifier: Apache-2.0 */
/* What is painted on triangles: materials, images with their levels, textures around surfaces. */
#ifndef MODAL_KERNELS_RASTER_PAINT_H
#define MODAL_KERNELS_RASTER_PAINT_H

#include <stdint.h>

#include "kernels/octree_lookup/octree_lookup.h"

/* Floats of a material, as /materials/values of formats/textures.md. Those that operations ask for by themselves: */
enum { MODAL_SHADE_MATERIAL = 16, MODAL_PAINT_CUTOFF = 12, MODAL_PAINT_ALPHA = 13, MODAL_PAINT_TWO_SIDED = 14, MODAL_PAINT_WRAP = 15 };

typedef struct modal_paint_level {
    int64_t first; /* texel */
    int32_t width, height;
} modal_paint_level;

typedef struct modal_paint_image {
    int32_t first_level, n_levels;
} modal_paint_image;

/* An octree texture: a value in coordinates at rest, colours of rgba8 or normals of float3. */
typedef struct modal_paint_solid {
    modal_octree_grid grid;
    int32_t n_mips;
    const modal_octree_mip *mips; /* [n_mips] octaves ascend from 1 on */
    float shift[3], scale;        /* (rest + shift) scale is in cells */
} modal_paint_solid;

/* In the back end's memory. Row 0 of a level is the lowest, v points up (formats/textures.md). */
typedef struct modal_paint {
    const float *materials;            /* [any, MODAL_SHADE_MATERIAL] */
    const int32_t *triangle_materials; /* [n_triangles] */
    const int32_t *material_images;    /* [any, 2] image of the colours (sRGB) and of the normals; -1: none */
    const modal_paint_image *images;
    const modal_paint_level *levels; /* of each image from the largest to 1 x 1 */
    const uint8_t *texels;           /* [any, 4] r g b a */
    const float *linear;             /* [256] linear light of an sRGB value */
    const float *uv;                 /* [any, 2] */
    const int32_t *triangle_uv;      /* [n_triangles, 3], -1: the triangle has none; NULL: nothing has an image */
    const modal_paint_solid *solids; /* NULL: none */
    const int32_t *material_solids;  /* [any, 2] as material_images; NULL without solids. Of both, the image is taken where its texels are
                                        smaller than a pixel, or where the solid has no value */
    const float *rest;               /* [n_points + n_more, 3] m, of the points at rest; NULL without solids */
    const float *rest_normals;       /* [as normals are, 3] of any length, at rest; NULL without solids of normals */
} modal_paint;

#endif
