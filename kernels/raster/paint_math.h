/* SPDX-License-Identifier: Apache-2.0 */
/* Images on triangles, by operations whose order is fixed (raster_math.h).
 * Weights of a triangle's corners at a point of the picture: M. Olano, T. Greer, "Triangle Scan Conversion using 2D Homogeneous
 * Coordinates", 1997. Levels: L. Williams, "Pyramidal Parametrics", 1983: the level where a pixel's longer side is a texel long, between two
 * levels linear. What has an alpha is averaged weighted by it, so that no colour comes from where nothing is. */
#ifndef MODAL_KERNELS_PAINT_MATH_H
#define MODAL_KERNELS_PAINT_MATH_H

#include "kernels/raster/raster_math.h"

/* log2 of a normal number: e + 2 / ln 2 (s + s^3 / 3 + ...), s = (m - 1) / (m + 1), m from sqrt(1/2) to sqrt(2). */
RASTER_INLINE float paint_log2(float x)
{
    const uint32_t bits = modal_float_bits(x);
    const int32_t e = (int32_t)(bits - 0x3f3504f3u) >> 23;
    const float m = modal_float_of(bits - ((uint32_t)e << 23)), s = (m - 1.0f) / (m + 1.0f), q = s * s;
    const float series = 1.0f + q * (0.333333333f + q * (0.2f + q * (0.142857143f + q * 0.111111111f)));
    return (float)e + 2.88539008f * (s * series);
}

RASTER_INLINE float paint_limit(float x, float low, float high) { return x > low ? (x < high ? x : high) : low; }

/* Where the ray through a point of the picture meets a triangle: right in perspective, and for triangles that are partly behind the eye. */
typedef struct paint_weights {
    float of[3]; /* sum 1, none negative: what rounding to 1/256 pixel and slivers bring outside goes to the border */
    float raw[3], sum; /* as they come */
    float across[3], down[3], w[3];
} paint_weights;

RASTER_INLINE paint_weights paint_weights_at(const raster_clip corners[3], float x, float y)
{
    paint_weights r;
    for (int i = 0; i < 3; i++) {
        r.across[i] = corners[i].x - x * corners[i].w;
        r.down[i] = corners[i].y - y * corners[i].w;
        r.w[i] = corners[i].w;
    }
    r.raw[0] = r.across[1] * r.down[2] - r.across[2] * r.down[1];
    r.raw[1] = r.across[2] * r.down[0] - r.across[0] * r.down[2];
    r.raw[2] = r.across[0] * r.down[1] - r.across[1] * r.down[0];
    r.sum = (r.raw[0] + r.raw[1]) + r.raw[2];
    const float inverse = 1.0f / r.sum;
    r.of[0] = paint_limit(r.raw[0] * inverse, 0.0f, 1.0f);
    r.of[1] = paint_limit(r.raw[1] * inverse, 0.0f, 1.0f - r.of[0]);
    r.of[2] = (1.0f - r.of[0]) - r.of[1];
    return r;
}

/* How the raw weights change from pixel to pixel to the right and down. */
typedef struct paint_steps {
    float right[3], down[3], inverse, right_sum, down_sum; /* inverse: 1 over the weights' sum */
} paint_steps;

RASTER_INLINE paint_steps paint_steps_of(const paint_weights *r)
{
    paint_steps s;
    for (int i = 0; i < 3; i++) {
        const int a = (i + 1) % 3, b = (i + 2) % 3;
        s.right[i] = r->w[b] * r->down[a] - r->w[a] * r->down[b];
        s.down[i] = r->w[a] * r->across[b] - r->w[b] * r->across[a];
    }
    s.inverse = 1.0f / r->sum;
    s.right_sum = (s.right[0] + s.right[1]) + s.right[2];
    s.down_sum = (s.down[0] + s.down[1]) + s.down[2];
    return s;
}

/* n numbers that the corners have, at the point, and how they change from pixel to pixel. */
RASTER_INLINE void paint_change(const paint_weights *r, const paint_steps *s, const float *const corners[3], int n, float at[], float to_right[],
                                float to_down[])
{
    for (int k = 0; k < n; k++) {
        const float a = corners[0][k], b = corners[1][k], c = corners[2][k];
        at[k] = (r->of[0] * a + r->of[1] * b) + r->of[2] * c;
        to_right[k] = (((s->right[0] * a + s->right[1] * b) + s->right[2] * c) - at[k] * s->right_sum) * s->inverse;
        to_down[k] = (((s->down[0] * a + s->down[1] * b) + s->down[2] * c) - at[k] * s->down_sum) * s->inverse;
    }
}

/* A place in an image, and how it changes from pixel to pixel to the right and down. */
typedef struct paint_place {
    float u, v, u_right, v_right, u_down, v_down;
} paint_place;

/* uv: of the corners. */
RASTER_INLINE paint_place paint_place_of(const paint_weights *r, const float *const uv[3])
{
    paint_place p;
    float at[2], to_right[2], to_down[2];
    const paint_steps steps = paint_steps_of(r);
    paint_change(r, &steps, uv, 2, at, to_right, to_down);
    p.u = at[0], p.v = at[1];
    p.u_right = to_right[0], p.v_right = to_right[1];
    p.u_down = to_down[0], p.v_down = to_down[1];
    return p;
}

/* The texture coordinates of a triangle's corners; 0: it has none. */
RASTER_INLINE int paint_corners(const modal_paint *paint, uint32_t t, const float *uv[3])
{
    if (!paint->triangle_uv) return 0;
    const int32_t *corners = paint->triangle_uv + 3 * (int64_t)t;
    for (int i = 0; i < 3; i++) {
        if (corners[i] < 0) return 0;
        uv[i] = paint->uv + 2 * (int64_t)corners[i];
    }
    return 1;
}

RASTER_INLINE float paint_wrapped(float u, int mirrored, int clamped)
{
    if (clamped) return paint_limit(u, 0.0f, 1.0f);
    if (!mirrored) return u - floorf(u);
    const float twice = u - 2.0f * floorf(u * 0.5f);
    return twice > 1.0f ? 2.0f - twice : twice;
}

/* A look-up under way. */
typedef struct paint_sum {
    const modal_paint *paint;
    float u, v; /* from 0 to 1 */
    int repeats, colours, weigh;
    float sum[4], weight; /* so far; weight: of the colours */
} paint_sum;

/* Adds four texels of a level, each times `share`. */
RASTER_INLINE void paint_add_level(paint_sum *s, const modal_paint_level *level, float share)
{
    const float x = s->u * (float)level->width - 0.5f, y = s->v * (float)level->height - 0.5f, left = floorf(x), low = floorf(y);
    const float part_x = x - left, part_y = y - low;
    for (int i = 0; i < 4; i++) {
        int32_t at_x = (int32_t)left + (i & 1), at_y = (int32_t)low + (i >> 1);
        at_x = at_x < 0 ? (s->repeats ? level->width - 1 : 0) : at_x >= level->width ? (s->repeats ? 0 : level->width - 1) : at_x;
        at_y = at_y < 0 ? (s->repeats ? level->height - 1 : 0) : at_y >= level->height ? (s->repeats ? 0 : level->height - 1) : at_y;
        const uint8_t *texel = s->paint->texels + 4 * (level->first + (int64_t)at_y * level->width + at_x);
        const float of = share * ((i & 1 ? part_x : 1.0f - part_x) * (i >> 1 ? part_y : 1.0f - part_y)), alpha = (float)texel[3] * (1.0f / 255.0f);
        const float of_colour = s->weigh ? of * alpha : of;
        for (int k = 0; k < 3; k++) s->sum[k] += of_colour * (s->colours ? s->paint->linear[texel[k]] : (float)texel[k]);
        s->sum[3] += of * alpha;
        s->weight += of_colour;
    }
}

/* The square of a pixel's longer side in texels of the image. */
RASTER_INLINE float paint_texels(const modal_paint *paint, int32_t image, const paint_place *p)
{
    const modal_paint_level *whole = paint->levels + paint->images[image].first_level;
    const float wide = (float)whole->width, high = (float)whole->height;
    const float a = p->u_right * wide, b = p->v_right * high, c = p->u_down * wide, d = p->v_down * high;
    const float right = a * a + b * b, down = c * c + d * d;
    return right > down ? right : down;
}

/* The level of a pixel whose longer side's square is this, of levels up to `last`. What is no number, or too large for one, is far away. */
RASTER_INLINE float paint_level_of(float squared, float last)
{
    return !(squared <= FLT_MAX) ? last : squared > 1.0f ? paint_limit(0.5f * paint_log2(squared), 0.0f, last) : 0.0f;
}

/* An image at a place: linear r g b and alpha from 0 to 1, or (colours 0) numbers from 0 to 255. weigh: by alpha. */
RASTER_INLINE void paint_sample(const modal_paint *paint, int32_t image, int wrap, int colours, int weigh, const paint_place *p, float out[4])
{
    const modal_paint_image *m = &paint->images[image];
    const modal_paint_level *levels = paint->levels + m->first_level;
    const float level = paint_level_of(paint_texels(paint, image, p), (float)(m->n_levels - 1));
    const int32_t fine = (int32_t)level;
    const float coarse = level - (float)fine;
    paint_sum s = {paint, paint_wrapped(p->u, wrap == 1, wrap > 1), paint_wrapped(p->v, wrap == 1, wrap > 1), wrap == 0, colours, weigh,
                   {0.0f, 0.0f, 0.0f, 0.0f}, 0.0f};
    paint_add_level(&s, levels + fine, 1.0f - coarse);
    if (coarse > 0.0f) paint_add_level(&s, levels + fine + 1, coarse);
    const float scale = s.weight > 0.0f ? 1.0f / s.weight : 0.0f;
    for (int k = 0; k < 3; k++) out[k] = s.sum[k] * scale;
    out[3] = s.sum[3];
}

RASTER_INLINE void paint_view_corners(const modal_raster_mesh *mesh, const modal_raster_view *view, uint32_t t, raster_clip corners[3])
{
    for (int i = 0; i < 3; i++) corners[i] = raster_view_point(view, raster_point_of(mesh, mesh->triangles[3 * (int64_t)t + i]));
}

#endif
