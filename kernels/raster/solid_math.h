/* SPDX-License-Identifier: Apache-2.0 */
/* Textures around surfaces on triangles, by operations whose order is fixed (raster_math.h). The value is that of kernels/octree_lookup for a footprint as
 * large as the pixel's longer side, at least a cell. Colours of the finest samples are interpolated as the numbers that they are and then brought to linear
 * light; those of mip levels, and those between two levels, in linear light: so means stay what they are. */
#ifndef MODAL_KERNELS_SOLID_MATH_H
#define MODAL_KERNELS_SOLID_MATH_H

#include "kernels/raster/paint_math.h"

RASTER_INLINE uint32_t solid_count(uint64_t bits)
{
#ifdef __CUDA_ARCH__
    return (uint32_t)__popcll((unsigned long long)bits);
#else
    return (uint32_t)__builtin_popcountll(bits);
#endif
}

RASTER_INLINE int solid_place(uint32_t x, uint32_t y, uint32_t z, int shift)
{
    const uint32_t a = x >> shift & 3, b = y >> shift & 3, c = z >> shift & 3;
    return (int)((a & 1) | (b & 1) << 1 | (c & 1) << 2 | (a & 2) << 2 | (b & 2) << 3 | (c & 2) << 4);
}

/* The record of a cell, UINT32_MAX: the surface does not meet it. */
RASTER_INLINE uint32_t solid_record(const modal_octree_grid *g, const uint32_t c[3])
{
    const int down = 2 * g->n_levels;
    uint32_t at = g->top[((((uint64_t)(c[2] >> down) << g->top_bits) + (c[1] >> down)) << g->top_bits) + (c[0] >> down)];
    for (int level = g->n_levels - 1; level >= 0 && at != UINT32_MAX; level--) {
        const modal_octree_mask m = g->masks[at];
        const uint64_t bit = (uint64_t)1 << solid_place(c[0], c[1], c[2], 2 * level);
        at = m.there & bit ? m.first + solid_count(m.there & (bit - 1)) : UINT32_MAX;
    }
    return at;
}

RASTER_INLINE float solid_mix(const float v[8], const float f[3])
{
    float a[4];
    for (int k = 0; k < 4; k++) a[k] = v[k] + f[2] * (v[k + 4] - v[k]);
    const float b = a[0] + f[1] * (a[2] - a[0]), c = a[1] + f[1] * (a[3] - a[1]);
    return b + f[0] * (c - b);
}

/* Linear light of an sRGB number from 0 to 255, linear between whole ones. */
RASTER_INLINE float solid_linear(const float linear[256], float number)
{
    const int32_t low = number < 255.0f ? (int32_t)number : 254;
    return linear[low] + (number - (float)low) * (linear[low + 1] - linear[low]);
}

/* Which numbers of a look-up are wanted. */
enum { SOLID_COLOURS, SOLID_ALPHA, SOLID_NUMBERS }; /* r g b in linear light and alpha from 0 to 1; [3] that alone; [0] to [2] as they are */

/* Interpolated in one octave, 0 the finest; 0, and out as it was: there is no cell. */
RASTER_INLINE int solid_octave(const modal_octree_grid *g, int octave, const float cells[3], int wanted, const float *linear, float out[4])
{
    const float side = (float)(1u << g->bits), scale = 1.0f / (float)(1u << octave), half = octave ? 0.5f : 0.0f;
    uint32_t cell[3];
    float f[3], v[8];
    for (int k = 0; k < 3; k++) {
        const float x = (cells[k] + half) * scale + half;
        if (!(x >= 0.0f && x < side)) return 0;
        cell[k] = (uint32_t)x;
        f[k] = x - (float)cell[k];
    }
    const uint32_t record = solid_record(g, cell);
    if (record == UINT32_MAX) return 0;
    const uint32_t *bits = (const uint32_t *)g->records + 8 * (uint64_t)record * (wanted == SOLID_NUMBERS ? 3 : 1);
    for (int c = 0; wanted == SOLID_NUMBERS && c < 3; c++) {
        for (int k = 0; k < 8; k++) v[k] = modal_float_of(bits[8 * c + k]);
        out[c] = solid_mix(v, f);
    }
    for (int c = 0; wanted == SOLID_COLOURS && c < 3; c++) {
        for (int k = 0; k < 8; k++) {
            const int32_t number = (int32_t)(bits[k] >> 8 * c & 255);
            v[k] = octave ? linear[number] : (float)number;
        }
        out[c] = octave ? solid_mix(v, f) : solid_linear(linear, solid_mix(v, f));
    }
    if (wanted == SOLID_NUMBERS) return 1;
    for (int k = 0; k < 8; k++) v[k] = (float)(int32_t)(bits[k] >> 24);
    out[3] = solid_mix(v, f) * (1.0f / 255.0f);
    return 1;
}

/* A point at rest, m, and the square of a pixel's longer side there, m^2. */
typedef struct solid_point {
    float at[3], squared;
} solid_point;

/* Of a triangle at a point of the picture. corners: of the triangle, numbers of points. */
RASTER_INLINE solid_point solid_point_of(const modal_paint *paint, const int32_t corners[3], const paint_weights *weights)
{
    solid_point p;
    const float *rest[3];
    float to_right[3], to_down[3];
    const paint_steps steps = paint_steps_of(weights);
    for (int i = 0; i < 3; i++) rest[i] = paint->rest + 3 * (int64_t)corners[i];
    paint_change(weights, &steps, rest, 3, p.at, to_right, to_down);
    const float right = (to_right[0] * to_right[0] + to_right[1] * to_right[1]) + to_right[2] * to_right[2];
    const float down = (to_down[0] * to_down[0] + to_down[1] * to_down[1]) + to_down[2] * to_down[2];
    p.squared = right > down ? right : down;
    return p;
}

/* A solid at a point at rest, between the two levels around the footprint. 0, and out as it was: there is no cell. */
RASTER_INLINE int solid_sample(const modal_paint_solid *s, const solid_point *p, int wanted, const float *linear, float out[4])
{
    const int first = wanted == SOLID_ALPHA ? 3 : 0, end = wanted == SOLID_NUMBERS ? 3 : 4;
    float cells[3], coarse[4];
    for (int k = 0; k < 3; k++) cells[k] = (p->at[k] + s->shift[k]) * s->scale;
    const float level = s->n_mips > 0 ? paint_level_of(p->squared * (s->scale * s->scale), (float)s->mips[s->n_mips - 1].octave) : 0.0f;
    int above = 0; /* the first mip whose octave is above the level */
    while (above < s->n_mips && level >= (float)s->mips[above].octave) above++;
    const int low = above ? s->mips[above - 1].octave : 0;
    if (!solid_octave(above ? &s->mips[above - 1].grid : &s->grid, low, cells, wanted, linear, out)) return 0;
    if (above == s->n_mips || !(level > (float)low)) return 1;
    const modal_octree_mip *next = &s->mips[above];
    if (!solid_octave(&next->grid, next->octave, cells, wanted, linear, coarse)) return 1; /* a point at the border, to rounding */
    const float part = (level - (float)low) / (float)(next->octave - low);
    for (int k = first; k < end; k++) out[k] += part * (coarse[k] - out[k]);
    return 1;
}

#endif
