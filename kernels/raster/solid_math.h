/* SPDX-License-Identifier: Apache-2.0 */
/* Textures around surfaces on triangles, by operations whose order is fixed (raster_math.h). The value is the trilinear interpolant of
 * kernels/octree_lookup; colours are interpolated as the numbers that they are, and then brought to linear light. */
#ifndef MODAL_KERNELS_SOLID_MATH_H
#define MODAL_KERNELS_SOLID_MATH_H

#include "kernels/raster/raster_math.h"

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

/* Numbers of a solid at a point at rest: rgba8 0 to 255, float3 as they are and 255. 0, and out as it was: there is no cell. */
RASTER_INLINE int solid_sample(const modal_paint_solid *s, const float rest[3], float out[4])
{
    const float last = (float)((1u << s->grid.bits) - 1);
    const int rgba = s->grid.channels == MODAL_OCTREE_RGBA8;
    uint32_t cell[3];
    float f[3], v[8];
    for (int k = 0; k < 3; k++) {
        const float x = (rest[k] + s->shift[k]) * s->scale;
        if (!(x >= 0.0f && x <= last)) return 0;
        cell[k] = (uint32_t)x;
        f[k] = x - (float)cell[k];
    }
    const uint32_t record = solid_record(&s->grid, cell);
    if (record == UINT32_MAX) return 0;
    const uint32_t *bits = (const uint32_t *)s->grid.records + 8 * (uint64_t)record * (rgba ? 1 : 3);
    for (int c = 0; c < (rgba ? 4 : 3); c++) {
        for (int k = 0; k < 8; k++) v[k] = rgba ? (float)(int32_t)(bits[k] >> 8 * c & 255) : modal_float_of(bits[8 * c + k]);
        out[c] = solid_mix(v, f);
    }
    if (!rgba) out[3] = 255.0f;
    return 1;
}

/* Linear light of an sRGB number from 0 to 255, linear between whole ones. */
RASTER_INLINE float solid_linear(const float linear[256], float number)
{
    const int32_t low = number < 255.0f ? (int32_t)number : 254;
    return linear[low] + (number - (float)low) * (linear[low + 1] - linear[low]);
}

#endif
