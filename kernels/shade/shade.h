/* SPDX-License-Identifier: Apache-2.0 */
/* Deferred shading: colours and buffers of a picture, of the triangles that its samples see (kernels/raster/raster.h).
 *
 * A pixel's samples that see one triangle are shaded once, in their middle. There the triangle's weights are those of the ray through it, so that
 * they are right in perspective and for triangles that are partly behind the eye. Phong's model (B. T. Phong, "Illumination for
 * Computer Generated Pictures", 1975), n and v unit vectors of the normal and to the eye, l to the light:
 *
 *   C = C_a + sum over the lights of s (max(n.l, 0) C_d + [n.l > 0] max(r.v, 0)^k C_s),   r = 2 (n.l) n - l.
 *
 * s is the share of a light that arrives: of variance shadow maps var / (var + (mu - t)^2) where the receiver's depth t is below the
 * mean mu, with var = max(E(d^2) - mu^2, MODAL_SHADE_VARIANCE), less `bleeding`: max((s - b) / (1 - b), 0); of hard ones 0 or 1: a texel
 * throws a shadow where it is nearer than the receiver's plane can be over three quarters of a texel. What is outside of a map, or less
 * than shadow_border texels inside, is lit; t is at least 0, the depth where nothing is. A pixel is the mean of its samples in linear
 * light; in `picture` a sample counts at most 1 in each colour.
 *
 * An image is multiplied to C_a and C_d, its alpha to the opacity. An image of normals turns n: by r and g along the tangents of growing u
 * and v of the triangle as it is deformed, b along n; 128 is 0 and 255 is 1, so that a flat one changes nothing (J. F. Blinn, "Simulation of
 * Wrinkled Surfaces", 1978; the tangents of the triangle's corners instead of those of vertices).
 *
 * A solid, an octree texture, is looked up at the sample's point at rest, with the pixel's longer side there as footprint (solid_math.h). Its colours and
 * alpha are those of an image. Its normals are at rest, too, in the coordinates of the object: they are turned with the frame of the interpolated normal
 * and the triangle's first edge. Where there is no cell, nothing changes. Of a material that has an image beside the solid (an atlas of it), the
 * image is taken where the pixel's longer side is longer than a texel, or where there is no cell (S. Lefebvre, S. Hornus, F. Neyret, Octree Textures on the
 * GPU, 2005, 37.2.3 and 37.2.4).
 *
 * Layers are what is seen through, of each sample the nearest first (kernels/layers): from A = 1 on, C += A a c and A *= 1 - a of one after the
 * other, and A times what is behind all of them last (T. Porter, T. Duff, "Compositing Digital Images", 1984). The samples of a pixel that see a
 * triangle through or not are shaded once for it, in their middle.
 *
 * Arithmetic: shade_math.h has every operation; all back ends give the same bytes. Aliasing: outputs overlap nothing. */
#ifndef MODAL_KERNELS_SHADE_H
#define MODAL_KERNELS_SHADE_H

#include "kernels/raster/raster.h"

#define MODAL_SHADE_VARIANCE 2e-6f /* of depths from 0 to 1 */

typedef enum modal_shadow_kind { MODAL_SHADOW_NONE, MODAL_SHADOW_HARD, MODAL_SHADOW_VSM } modal_shadow_kind;

/* What a look-up took its numbers from. */
typedef enum modal_shade_source {
    MODAL_SHADE_IMAGE,   /* of a material without a solid */
    MODAL_SHADE_SOLID,
    MODAL_SHADE_ATLAS,   /* the image that a material has beside its solid */
    MODAL_SHADE_OUTSIDE, /* of the solid, where it has no cell: the material is as without */
    MODAL_SHADE_SOURCES
} modal_shade_source;

typedef struct modal_shade_light {
    float direction[3]; /* to the light, unit */
    float colour[3];
    int32_t map; /* of its shadows, -1: none */
} modal_shade_light;

struct modal_shade_task {
    modal_raster_mesh mesh;
    const float *normals;            /* [n_points, 3], of any length; with triangle_normals [any, 3] */
    const int32_t *triangle_normals; /* [n_triangles, 3] which of the normals a corner has; NULL: that of its point */
    const float *more_normals;       /* [n_more, 3] */
    modal_paint paint;
    int32_t n_objects;
    const int32_t *object_triangles; /* [n_objects + 1] the first triangle of each; those from the last on are no object's */
    const float *tints;              /* [n_objects, 3] times ambient and diffuse */
    const modal_raster_view *view; /* in perspective */
    int32_t width, height, samples;
    int32_t first_row, end_row; /* rows to be shaded; 0 and 0: all */
    int32_t first_column, end_column; /* of one row; 0 and 0: all */
    const uint64_t *keys;  /* [height, width, samples] */
    const int32_t *layers; /* [(end_row - first_row) width samples + 1] where the fragments of each sample begin; NULL: there are none */
    const uint64_t *fragments; /* their keys */
    const int64_t *n_needed;   /* fragments (kernels/layers), in the back end's memory; NULL: they fit. More than layer_capacity: nothing is written */
    int64_t layer_capacity;
    void *layer_scratch; /* with layers, on a GPU: [modal_shade_layer_bytes], aligned to 16 bytes; else NULL */
    int32_t n_lights;
    const modal_shade_light *lights; /* [n_lights] in the back end's memory */
    float ambient[3], background[3];
    modal_shadow_kind shadows;
    int32_t shadow_size;
    const modal_raster_view *shadow_views; /* [maps] */
    const float *maps; /* hard: [maps, size, size] depths; vsm: [maps, size, size, 2] moments */
    int32_t shadow_border;
    float bleeding; /* b */
    /* of the frame before, for `motion` */
    const float *points_before; /* [n_points, 3] m */
    const modal_raster_view *view_before;
    /* outputs, each [height, width, ...] or NULL; at the pixel's first sample, but for the colours. 0 where nothing is. Layers count for colours only. */
    uint8_t *picture;  /* [4] r g b in sRGB, 255 */
    uint16_t *deep;    /* [4] the same in 16 bits, 65535 */
    float *colour;     /* [3] in linear light, not limited */
    int32_t *triangle; /* -1: none */
    int32_t *object;   /* -1: none */
    float *depth;      /* m along the view */
    float *normal;     /* [3] unit, to who looks where a material is two-sided */
    float *position;   /* [3] m */
    uint64_t *sources; /* [MODAL_SHADE_SOURCES] where there are solids: samples are added whose colours or normals were looked up; both count. Or NULL */
    float *motion;     /* [2] pixels, x and y: from where the place was seen in the frame before, 0 where it was before the near plane or behind it */
};

static inline int64_t modal_shade_layer_bytes(int64_t n_fragments) { return 256 + 20 * n_fragments; }

#endif
