/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_KERNELS_SHADE_MATH_H
#define MODAL_KERNELS_SHADE_MATH_H

#include "kernels/raster/raster_math.h"
#include "kernels/shade/shade.h"

/* log2 of a normal number: e + 2 / ln 2 (s + s^3 / 3 + ...), s = (m - 1) / (m + 1), m from sqrt(1/2) to sqrt(2). */
RASTER_INLINE float shade_log2(float x)
{
    const uint32_t bits = raster_bits(x);
    const int32_t e = (int32_t)(bits - 0x3f3504f3u) >> 23;
    const float m = raster_float(bits - ((uint32_t)e << 23)), s = (m - 1.0f) / (m + 1.0f), q = s * s;
    const float series = 1.0f + q * (0.333333333f + q * (0.2f + q * (0.142857143f + q * 0.111111111f)));
    return (float)e + 2.88539008f * (s * series);
}

/* 2^y, y from -126 to 0: 2^n e^g, |g| <= ln 2 / 2. */
RASTER_INLINE float shade_exp2(float y)
{
    const int32_t n = (int32_t)(y - 0.5f);
    const float g = (y - (float)n) * 0.693147181f;
    const float power = 1.0f + g * (1.0f + g * (0.5f + g * (0.166666667f + g * (0.0416666667f + g * (0.00833333333f + g * 0.00138888889f)))));
    return power * raster_float((uint32_t)(n + 127) << 23);
}

/* x^k for x from 0 to 1 and k >= 0: relative error below 1e-6 (1 + |k log2 x| / 4), 0 below 2^-126. Libraries round theirs apart. */
RASTER_INLINE float shade_power(float x, float k)
{
    if (k == 0.0f) return 1.0f;
    const float y = x > FLT_MIN ? k * shade_log2(x) : -127.0f;
    return y > -126.0f ? shade_exp2(y < 0.0f ? y : 0.0f) : 0.0f;
}

/* Linear light from 0 to 1 in 8 bits (IEC 61966-2-1). */
RASTER_INLINE int32_t shade_code(float c)
{
    const float curved = 1.055f * shade_exp2(0.416666667f * shade_log2(c + 1e-12f)) - 0.055f; /* no branches: vectors are made of this */
    return (int32_t)((c <= 0.0031308f ? 12.92f * c : curved) * 255.0f + 0.5f);
}

RASTER_INLINE uint8_t shade_srgb(float c) { return (uint8_t)shade_code(c); }

RASTER_INLINE float shade_dot(const float a[3], const float b[3]) { return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]; }

RASTER_INLINE void shade_unit(float a[3])
{
    const float squared = shade_dot(a, a), scale = squared > 0.0f ? 1.0f / sqrtf(squared) : 0.0f;
    for (int k = 0; k < 3; k++) a[k] *= scale;
}

RASTER_INLINE float shade_limit(float x, float low, float high) { return x > low ? (x < high ? x : high) : low; }

/* A triangle at a point of the picture. */
typedef struct shade_surface {
    float position[3], normal[3]; /* the normal to who looks where the material is two-sided */
} shade_surface;

/* (x, y) in pixels. */
RASTER_INLINE shade_surface shade_surface_at(const modal_shade_task *task, const modal_raster_view *view, uint32_t t, float x, float y)
{
    const modal_raster_mesh *mesh = &task->mesh;
    const float *points[3], *normals[3];
    float across[3], down[3], weights[3];
    shade_surface at;
    for (int i = 0; i < 3; i++) {
        const int32_t corner = mesh->triangles[3 * (int64_t)t + i];
        points[i] = raster_point_of(mesh, corner);
        normals[i] = corner < mesh->n_points ? task->normals + 3 * (int64_t)corner : task->more_normals + 3 * (corner - mesh->n_points);
        const raster_clip c = raster_view_point(view, points[i]);
        across[i] = c.x - x * c.w;
        down[i] = c.y - y * c.w;
    }
    weights[0] = across[1] * down[2] - across[2] * down[1];
    weights[1] = across[2] * down[0] - across[0] * down[2];
    weights[2] = across[0] * down[1] - across[1] * down[0];
    const float sum = (weights[0] + weights[1]) + weights[2], inverse = 1.0f / sum;
    /* what rounding to 1/256 pixel and slivers bring outside goes to the border */
    weights[0] = shade_limit(weights[0] * inverse, 0.0f, 1.0f);
    weights[1] = shade_limit(weights[1] * inverse, 0.0f, 1.0f - weights[0]);
    weights[2] = (1.0f - weights[0]) - weights[1];
    const float *material = task->materials + MODAL_SHADE_MATERIAL * (int64_t)task->triangle_materials[t];
    const float side = material[14] != 0.0f && sum > 0.0f ? -1.0f : 1.0f;
    for (int k = 0; k < 3; k++) {
        at.position[k] = (weights[0] * points[0][k] + weights[1] * points[1][k]) + weights[2] * points[2][k];
        at.normal[k] = side * ((weights[0] * normals[0][k] + weights[1] * normals[1][k]) + weights[2] * normals[2][k]);
    }
    shade_unit(at.normal);
    return at;
}

/* The share of a light that arrives; towards: n.l. */
RASTER_INLINE float shade_lit(const modal_shade_task *task, int32_t map, const float position[3], float towards)
{
    const int32_t n = task->shadow_size;
    const modal_raster_view *view = &task->shadow_views[map];
    const raster_clip c = raster_view_point(view, position);
    const float first = (float)task->shadow_border, last = (float)(n - task->shadow_border);
    const float depth = c.depth > 0.0f ? c.depth : 0.0f; /* past the map's end: as far as where nothing is */
    if (!(c.x >= first && c.x < last && c.y >= first && c.y < last)) return 1.0f;
    if (task->shadows == MODAL_SHADOW_HARD) {
        /* depth a texel of a plane at 45 degrees, times the slope of this one */
        const float texel = sqrtf(shade_dot(view->depth, view->depth) / shade_dot(view->x, view->x));
        const float squared = 1.0f - towards * towards, slope = sqrtf(squared > 0.0f ? squared : 0.0f) / (towards > 0.05f ? towards : 0.05f);
        return task->maps[((int64_t)map * n + (int32_t)c.y) * n + (int32_t)c.x] > depth + texel * (0.75f * slope + 0.05f) ? 0.0f : 1.0f;
    }
    const float x = shade_limit(c.x - 0.5f, 0.0f, (float)(n - 1)), y = shade_limit(c.y - 0.5f, 0.0f, (float)(n - 1));
    const int32_t left = (int32_t)x, top = (int32_t)y, right = raster_min(left + 1, n - 1), bottom = raster_min(top + 1, n - 1);
    const float u = x - (float)left, v = y - (float)top;
    const float *upper = task->maps + 2 * ((int64_t)map * n + top) * n, *lower = task->maps + 2 * ((int64_t)map * n + bottom) * n;
    float moments[2];
    for (int k = 0; k < 2; k++) {
        const float above = upper[2 * left + k] * (1.0f - u) + upper[2 * right + k] * u;
        const float below = lower[2 * left + k] * (1.0f - u) + lower[2 * right + k] * u;
        moments[k] = above * (1.0f - v) + below * v;
    }
    const float spread = moments[1] - moments[0] * moments[0], variance = spread > MODAL_SHADE_VARIANCE ? spread : MODAL_SHADE_VARIANCE;
    const float nearer = moments[0] - depth;
    const float lit = nearer > 0.0f ? variance / (variance + nearer * nearer) : 1.0f;
    return shade_limit((lit - task->bleeding) / (1.0f - task->bleeding), 0.0f, 1.0f);
}

/* The object of a triangle, -1: none. */
RASTER_INLINE int32_t shade_object(const modal_shade_task *task, uint32_t t)
{
    int32_t low = 0, high = task->n_objects; /* first[low] <= t < first[high] */
    if (high == 0 || t >= (uint32_t)task->object_triangles[high]) return -1;
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (t >= (uint32_t)task->object_triangles[middle])
            low = middle;
        else
            high = middle;
    }
    return low;
}

RASTER_INLINE void shade_colour(const modal_shade_task *task, const modal_raster_view *view, uint32_t t, int32_t object,
                                const shade_surface *at, float colour[3])
{
    const float *material = task->materials + MODAL_SHADE_MATERIAL * (int64_t)task->triangle_materials[t];
    float to_eye[3], diffuse[3];
    for (int k = 0; k < 3; k++) {
        const float tint = object >= 0 ? task->tints[3 * (int64_t)object + k] : 1.0f;
        to_eye[k] = view->origin[k] - at->position[k];
        colour[k] = task->ambient[k] * (material[k] * tint);
        diffuse[k] = material[4 + k] * tint;
    }
    shade_unit(to_eye);
    for (int32_t i = 0; i < task->n_lights; i++) {
        const modal_shade_light *light = &task->lights[i];
        const float towards = shade_dot(at->normal, light->direction);
        if (!(towards > 0.0f)) continue;
        const float lit = light->map >= 0 && task->shadows != MODAL_SHADOW_NONE ? shade_lit(task, light->map, at->position, towards) : 1.0f;
        const float mirrored = 2.0f * towards * shade_dot(at->normal, to_eye) - shade_dot(light->direction, to_eye);
        const float highlight = shade_power(shade_limit(mirrored, 0.0f, 1.0f), material[11]);
        for (int k = 0; k < 3; k++) colour[k] += lit * light->colour[k] * (towards * diffuse[k] + highlight * material[8 + k]);
    }
}

/* What a pixel adds to colours: the sums of its samples' colours, as they are and limited to 1. Writes the other outputs. */
RASTER_INLINE void shade_pixel(const modal_shade_task *task, const modal_raster_view *view, int64_t pixel, int samples, float limited[3],
                               float full[3])
{
    const uint64_t *keys = task->keys + pixel * samples;
    const float x = (float)(pixel % task->width), y = (float)(pixel / task->width);
    shade_surface first;
    int32_t first_object = -1;
    for (int k = 0; k < 3; k++) limited[k] = full[k] = first.position[k] = first.normal[k] = 0.0f;
    for (int i = 0; i < samples; i++) {
        const uint32_t t = (uint32_t)keys[i];
        int32_t count = 0, sum_x = 0, sum_y = 0;
        int seen = 0;
        for (int j = 0; j < samples; j++) {
            const int same = (uint32_t)keys[j] == t;
            seen |= same && j < i;
            count += same;
            sum_x += same ? raster_sample_x(samples, j) : 0;
            sum_y += same ? raster_sample_y(samples, j) : 0;
        }
        if (seen) continue;
        float colour[3];
        if (t == MODAL_RASTER_NONE) {
            for (int k = 0; k < 3; k++) colour[k] = task->background[k];
        } else {
            const float scale = 1.0f / (float)(256 * count);
            const shade_surface at = shade_surface_at(task, view, t, x + (float)sum_x * scale, y + (float)sum_y * scale);
            const int32_t object = shade_object(task, t);
            shade_colour(task, view, t, object, &at, colour);
            if (i == 0) first = at, first_object = object;
        }
        for (int k = 0; k < 3; k++) {
            full[k] += (float)count * colour[k];
            limited[k] += (float)count * shade_limit(colour[k], 0.0f, 1.0f);
        }
    }
    const float share = 1.0f / (float)samples;
    for (int k = 0; k < 3; k++) full[k] *= share, limited[k] *= share;
    const int there = keys[0] != MODAL_RASTER_EMPTY;
    if (task->triangle) task->triangle[pixel] = there ? (int32_t)(uint32_t)keys[0] : -1;
    if (task->object) task->object[pixel] = first_object;
    if (task->depth) task->depth[pixel] = there ? 1.0f / raster_key_depth(keys[0]) : 0.0f;
    for (int k = 0; k < 3; k++) {
        if (task->normal) task->normal[3 * pixel + k] = first.normal[k];
        if (task->position) task->position[3 * pixel + k] = first.position[k];
        if (task->colour) task->colour[3 * pixel + k] = full[k];
    }
}

#endif
