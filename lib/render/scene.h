/* SPDX-License-Identifier: Apache-2.0 */
/* What a renderer draws besides positions and normals: triangles of all objects, materials, lights, ground. Plain arrays in main memory. */
#ifndef MODAL_RENDER_SCENE_H
#define MODAL_RENDER_SCENE_H

#include "kernels/shade/shade.h"
#include "lib/model/basis.h"
#include "lib/model/creases.h"
#include "lib/model/look.h"
#include "lib/model/octree_atlas.h"
#include "lib/octree/mipmaps.h"

/* The most lights, those of them that throw shadows, octree textures. */
enum { MODAL_RENDER_LIGHTS = 64, MODAL_RENDER_MAPS = 4, MODAL_RENDER_SOLIDS = 16 };

/* An octree texture of a look. Borrowed. */
typedef struct modal_render_solid {
    const modal_octree_pyramid *pyramid; /* of colours rgba8, of normals float3 */
    const uint8_t *wears;                /* [n_shapes] not 0: it was built around this shape's surface */
    const char *name;
    const modal_octree_atlas *charts;    /* texture coordinates of its own image (charts_of_material), or NULL */
} modal_render_solid;

/* The images of a look, decoded. Borrowed: as long as the scene's stage is opened. */
typedef struct modal_render_images {
    int32_t n_images, n_levels, n_parts;
    const modal_paint_image *images;       /* [n_images] */
    const modal_paint_level *levels;       /* [n_levels] `first` counts through all parts */
    const uint8_t *const *parts;           /* [n_parts] texels */
    const int64_t *part_texels;            /* [n_parts] */
    const int32_t (*of_material)[2];       /* [materials of the look] images of colours and of normals, -1: none */
    int32_t n_solids;
    const modal_render_solid *solids;      /* [n_solids] */
    const int32_t (*solids_of_material)[2]; /* [materials of the look] as of_material; NULL without solids */
    const int32_t *charts_of_material;      /* [materials of the look] the solid whose charts its images have, -1: those of the surface. NULL without solids */
} modal_render_images;

/* Normals of a surface with hard edges: one a wedge, made of positions on the device (kernels/normals_wedge). */
typedef struct modal_render_wedges {
    modal_creases creases; /* of all objects in stored order; corners NULL: each point has a normal of its own */
    int32_t *corners;      /* [face_offsets[n_wedges], 2] vertices */
    int64_t *ring_offsets; /* or NULL: not for this back end */
    int32_t *ring;
} modal_render_wedges;

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
    modal_render_images images;    /* n_images 0: none */
    int64_t n_uv;
    float *uv;            /* [n_uv, 2] of shapes, one after the other */
    int32_t *triangle_uv; /* [n_triangles, 3], -1: none; NULL without images */
    float *rest;          /* [n_points + 4, 3] m from the lowest corner of each shape, of the ground from its first; NULL without solids */
    int64_t n_rest_normals;
    float *rest_normals;  /* [n_rest_normals, 3] of points, or of wedges where there are some; NULL without solids of normals */
    modal_paint_solid *solids;  /* [images.n_solids] with the pyramids' arrays */
    int32_t n_unpainted;  /* objects with a material that has an image, but no texture coordinates */
    int n_cutouts, n_blended; /* not 0: some triangle is cut out, seen through */
    modal_render_wedges wedges;
    int32_t n_lights, n_maps;
    modal_shade_light lights[MODAL_RENDER_LIGHTS];
    float ambient[3], background[3];
    int has_ground;
    float ground[12], ground_normals[12]; /* [4, 3] */
} modal_render_scene;

/* The ground's place, where the look has one. */
typedef struct modal_render_ground {
    double up[3], centre[3]; /* it goes through centre + (height - centre . up) up */
    double height, size, tile; /* tile: length and width of an image, m; > 0 */
} modal_render_ground;

/* What a scene is made of. */
typedef struct modal_render_scene_request {
    const modal_basis *basis;
    const modal_look *look;
    const modal_render_images *images; /* NULL: images of the look are not drawn */
    const modal_render_ground *ground; /* NULL, or where look->ground_material >= 0 */
    double shadow_alpha;               /* what is blended throws a shadow where its alpha exceeds this */
    modal_crease_rule creases; /* which edges are hard */
} modal_render_scene_request;

/* What the look says of the basis's objects. MODAL_ERROR_INPUT: a triangle without a material, uv outside of [0, 1] where the material refuses
 * them, a solid on another surface than its own, more points or triangles than 31 bits number, more than
 * MODAL_RENDER_MAPS lights with shadows; MODAL_ERROR_MEMORY. The scene needs nothing of the request afterwards but texels and solids. */
modal_status modal_render_scene_new(modal_render_scene *scene, const modal_render_scene_request *request, modal_error *err);
void modal_render_scene_free(modal_render_scene *scene);
int64_t modal_render_scene_bytes(const modal_render_scene *scene);

#endif
