/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_KERNELS_SHADE_MATH_H
#define MODAL_KERNELS_SHADE_MATH_H

#include "kernels/raster/solid_math.h"
#include "kernels/shade/shade.h"

/* 2^y, y from -126 to 0: 2^n e^g, |g| <= ln 2 / 2. */
RASTER_INLINE float shade_exp2(float y)
{
    const int32_t n = (int32_t)(y - 0.5f);
    const float g = (y - (float)n) * 0.693147181f;
    const float power = 1.0f + g * (1.0f + g * (0.5f + g * (0.166666667f + g * (0.0416666667f + g * (0.00833333333f + g * 0.00138888889f)))));
    return power * modal_float_of((uint32_t)(n + 127) << 23);
}

/* x^k for x from 0 to 1 and k >= 0: relative error below 1e-6 (1 + |k log2 x| / 4), 0 below 2^-126. Libraries round theirs apart. */
RASTER_INLINE float shade_power(float x, float k)
{
    if (k == 0.0f) return 1.0f;
    const float y = x > FLT_MIN ? k * paint_log2(x) : -127.0f;
    return y > -126.0f ? shade_exp2(y < 0.0f ? y : 0.0f) : 0.0f;
}

/* Linear light from 0 to 1 as sRGB has it (IEC 61966-2-1), above SHADE_DARK; and all of it; and in 8 bits. */
#define SHADE_DARK 0.0031308f
RASTER_INLINE float shade_curved(float c) { return 1.055f * shade_exp2(0.416666667f * paint_log2(c + 1e-12f)) - 0.055f; }

RASTER_INLINE float shade_curve(float c)
{
    const float curved = shade_curved(c);
    return c <= SHADE_DARK ? 12.92f * c : curved;
}

RASTER_INLINE int32_t shade_code(float c) { return (int32_t)(shade_curve(c) * 255.0f + 0.5f); }

/* The same in 16 bits: the curve's error is a tenth of a step. */
RASTER_INLINE uint16_t shade_deep(float c)
{
    const int32_t code = (int32_t)(shade_curve(c) * 65535.0f + 0.5f);
    return (uint16_t)(code < 65535 ? code : 65535);
}

RASTER_INLINE uint8_t shade_srgb(float c) { return (uint8_t)shade_code(c); }

RASTER_INLINE float shade_dot(const float a[3], const float b[3]) { return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]; }

RASTER_INLINE void shade_unit(float a[3])
{
    const float squared = shade_dot(a, a), scale = squared > 0.0f ? 1.0f / sqrtf(squared) : 0.0f;
    for (int k = 0; k < 3; k++) a[k] *= scale;
}

/* What a task has: constants where functions are called, so that what is plain is compiled without the rest. */
enum { SHADE_IMAGES = 1, SHADE_LAYERS = 2, SHADE_SOLIDS = 4, SHADE_READY = 8 /* colours of layers, below */ };

RASTER_INLINE int shade_has(const modal_shade_task *task)
{
    return (task->paint.triangle_uv && task->paint.material_images ? SHADE_IMAGES : 0) | (task->layers ? SHADE_LAYERS : 0) |
           (task->paint.solids ? SHADE_SOLIDS : 0);
}

/* The layers are there: more of them than fit are not listed, and nothing is shaded then. */
RASTER_INLINE int shade_is_listed(const modal_shade_task *task) { return !task->n_needed || *task->n_needed <= task->layer_capacity; }

/* A triangle at a point of the picture. */
typedef struct shade_surface {
    float position[3], normal[3]; /* the normal to who looks where the material is two-sided */
    float image[4];               /* r g b a of its image; ones */
    int32_t sources[2];           /* modal_shade_source of its colours and normals, -1: none */
} shade_surface;

/* Turns a unit normal by an image. p: the triangle's corners. */
RASTER_INLINE void shade_bump(const modal_paint *paint, int32_t image, int wrap, const paint_place *place, const float *const p[3],
                              const float *const uv[3], float normal[3])
{
    float texel[4], tangent[3], bitangent[3], turned[3];
    const float u1 = uv[1][0] - uv[0][0], u2 = uv[2][0] - uv[0][0], v1 = uv[1][1] - uv[0][1], v2 = uv[2][1] - uv[0][1];
    const float side = u1 * v2 - u2 * v1 < 0.0f ? -1.0f : 1.0f;
    for (int k = 0; k < 3; k++) tangent[k] = side * ((p[1][k] - p[0][k]) * v2 - (p[2][k] - p[0][k]) * v1);
    const float along = shade_dot(tangent, normal);
    for (int k = 0; k < 3; k++) tangent[k] -= along * normal[k];
    shade_unit(tangent);
    for (int k = 0; k < 3; k++) bitangent[k] = side * (normal[(k + 1) % 3] * tangent[(k + 2) % 3] - normal[(k + 2) % 3] * tangent[(k + 1) % 3]);
    paint_sample(paint, image, wrap, 0, 0, place, texel);
    for (int k = 0; k < 3; k++) texel[k] = paint_limit((texel[k] - 128.0f) * (1.0f / 127.0f), -1.0f, 1.0f);
    for (int k = 0; k < 3; k++) turned[k] = (texel[0] * tangent[k] + texel[1] * bitangent[k]) + texel[2] * normal[k];
    if (!(shade_dot(turned, turned) > 0.0f)) return;
    shade_unit(turned);
    for (int k = 0; k < 3; k++) normal[k] = turned[k];
}

/* Turns a unit normal by one of a solid, which is one at rest: as it lies to the normal and an edge there, it lies to these now.
 * p: the triangle's corners, rest: the same at rest; texel: the solid's, own: the surface's normal at rest. */
RASTER_INLINE void shade_turn(const float texel[3], const float *const p[3], const float *const rest[3], float own[3], float normal[3])
{
    float side[3], tangent[3], bitangent[3], turned[3];
    shade_unit(own);
    for (int k = 0; k < 3; k++) side[k] = rest[1][k] - rest[0][k], tangent[k] = p[1][k] - p[0][k];
    const float before = shade_dot(side, own), now = shade_dot(tangent, normal);
    for (int k = 0; k < 3; k++) side[k] -= before * own[k], tangent[k] -= now * normal[k];
    shade_unit(side);
    shade_unit(tangent);
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        bitangent[k] = normal[a] * tangent[b] - normal[b] * tangent[a];
        turned[k] = own[a] * side[b] - own[b] * side[a]; /* the other side at rest */
    }
    const float u = shade_dot(texel, side), v = shade_dot(texel, turned), w = shade_dot(texel, own);
    for (int k = 0; k < 3; k++) turned[k] = (u * tangent[k] + v * bitangent[k]) + w * normal[k];
    if (!(shade_dot(turned, turned) > 0.0f)) return;
    shade_unit(turned);
    for (int k = 0; k < 3; k++) normal[k] = turned[k];
}

/* Turns the normal by a solid's at a point of a triangle; 0: it has none there. */
RASTER_INLINE int shade_solid_normal(const modal_shade_task *task, uint32_t t, const modal_paint_solid *solid, const solid_point *place,
                                     const paint_weights *weights, const float *const points[3], float normal[3])
{
    const modal_paint *paint = &task->paint;
    const int32_t *corners = task->mesh.triangles + 3 * (int64_t)t;
    const float *rest[3];
    float texel[4], own[3] = {0.0f, 0.0f, 0.0f};
    if (!solid_sample(solid, place, SOLID_NUMBERS, NULL, texel)) return 0;
    for (int i = 0; i < 3; i++) {
        const int32_t corner = corners[i];
        const float *n = task->more_normals + 3 * ((int64_t)corner - task->mesh.n_points);
        if (corner < task->mesh.n_points) n = paint->rest_normals + 3 * (int64_t)(task->triangle_normals ? task->triangle_normals[3 * (int64_t)t + i] : corner);
        for (int k = 0; k < 3; k++) own[k] += weights->of[i] * n[k];
        rest[i] = paint->rest + 3 * (int64_t)corner;
    }
    shade_turn(texel, points, rest, own, normal);
    return 1;
}

/* Colours and normals of the material's images and solids at a point of a triangle. On a CPU one function: a call is nothing beside a
 * look-up, and every copy of it takes compilers seconds. */
#ifdef __CUDACC__
RASTER_INLINE
#else
static __attribute__((noinline, unused))
#endif
void shade_paint(const modal_shade_task *task, uint32_t t, const paint_weights *weights, const float *const points[3], int has,
                               shade_surface *at)
{
    const modal_paint *paint = &task->paint;
    const int32_t material = paint->triangle_materials[t];
    const float *values = paint->materials + MODAL_SHADE_MATERIAL * (int64_t)material, *uv[3] = {NULL};
    const int32_t *none = NULL, *images = paint->material_images ? paint->material_images + 2 * (int64_t)material : none;
    const int32_t *solids = has & SHADE_SOLIDS ? paint->material_solids + 2 * (int64_t)material : none;
    const int flat = images && (images[0] >= 0 || images[1] >= 0) && paint_corners(paint, t, uv);
    const int solid = solids && (solids[0] >= 0 || solids[1] >= 0);
    paint_place place = {0.0f};
    solid_point point = {{0.0f}};
    if (flat) place = paint_place_of(weights, uv);
    if (solid) point = solid_point_of(paint, task->mesh.triangles + 3 * (int64_t)t, weights);
    for (int role = 0; role < 2; role++) { /* colours, normals */
        const int32_t image = flat ? images[role] : -1, number = solid ? solids[role] : -1;
        if (number >= 0 && !(image >= 0 && !(paint_texels(paint, image, &place) <= 1.0f))) {
            const modal_paint_solid *s = &paint->solids[number];
            const int found = role ? shade_solid_normal(task, t, s, &point, weights, points, at->normal)
                                   : solid_sample(s, &point, SOLID_COLOURS, paint->linear, at->image);
            at->sources[role] = found ? MODAL_SHADE_SOLID : MODAL_SHADE_OUTSIDE;
            if (found) continue;
        }
        if (image < 0) continue;
        const int wrap = (int)values[MODAL_PAINT_WRAP];
        if (role) shade_bump(paint, image, wrap, &place, points, uv, at->normal);
        else paint_sample(paint, image, wrap, 1, values[MODAL_PAINT_ALPHA] != 0.0f, &place, at->image);
        at->sources[role] = number >= 0 ? MODAL_SHADE_ATLAS : MODAL_SHADE_IMAGE;
    }
}

/* (x, y) in pixels. */
RASTER_INLINE shade_surface shade_surface_at(const modal_shade_task *task, const modal_raster_view *view, uint32_t t, float x, float y, int has)
{
    const modal_raster_mesh *mesh = &task->mesh;
    const modal_paint *paint = &task->paint;
    const float *points[3], *normals[3];
    raster_clip corners[3];
    shade_surface at;
    for (int i = 0; i < 3; i++) {
        const int32_t corner = mesh->triangles[3 * (int64_t)t + i];
        points[i] = raster_point_of(mesh, corner);
        const int32_t row = task->triangle_normals && corner < mesh->n_points ? task->triangle_normals[3 * (int64_t)t + i] : corner;
        normals[i] = corner < mesh->n_points ? task->normals + 3 * (int64_t)row : task->more_normals + 3 * (corner - mesh->n_points);
        corners[i] = raster_view_point(view, points[i]);
    }
    const paint_weights weights = paint_weights_at(corners, x, y);
    const int32_t material = paint->triangle_materials[t];
    const float *values = paint->materials + MODAL_SHADE_MATERIAL * (int64_t)material;
    const float side = values[MODAL_PAINT_TWO_SIDED] != 0.0f && weights.sum > 0.0f ? -1.0f : 1.0f;
    for (int k = 0; k < 3; k++) {
        at.position[k] = (weights.of[0] * points[0][k] + weights.of[1] * points[1][k]) + weights.of[2] * points[2][k];
        at.normal[k] = (weights.of[0] * normals[0][k] + weights.of[1] * normals[1][k]) + weights.of[2] * normals[2][k];
    }
    shade_unit(at.normal);
    for (int k = 0; k < 4; k++) at.image[k] = 1.0f;
    at.sources[0] = at.sources[1] = -1;
    if (has & (SHADE_IMAGES | SHADE_SOLIDS)) shade_paint(task, t, &weights, points, has, &at);
    for (int k = 0; k < 3; k++) at.normal[k] *= side;
    return at;
}

/* A texel of a map, in one load. */
typedef struct shade_moments {
    float of[2];
} __attribute__((aligned(8))) shade_moments;

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
    const float x = paint_limit(c.x - 0.5f, 0.0f, (float)(n - 1)), y = paint_limit(c.y - 0.5f, 0.0f, (float)(n - 1));
    const int32_t left = (int32_t)x, top = (int32_t)y, right = raster_min(left + 1, n - 1), bottom = raster_min(top + 1, n - 1);
    const float u = x - (float)left, v = y - (float)top;
    const shade_moments *texels = (const shade_moments *)task->maps + (int64_t)map * n * n;
    const shade_moments *upper = texels + (int64_t)top * n, *lower = texels + (int64_t)bottom * n;
    const shade_moments upper_left = upper[left], upper_right = upper[right], lower_left = lower[left], lower_right = lower[right];
    float moments[2];
    for (int k = 0; k < 2; k++) {
        const float above = upper_left.of[k] * (1.0f - u) + upper_right.of[k] * u;
        const float below = lower_left.of[k] * (1.0f - u) + lower_right.of[k] * u;
        moments[k] = above * (1.0f - v) + below * v;
    }
    const float spread = moments[1] - moments[0] * moments[0], variance = spread > MODAL_SHADE_VARIANCE ? spread : MODAL_SHADE_VARIANCE;
    const float nearer = moments[0] - depth;
    const float lit = nearer > 0.0f ? variance / (variance + nearer * nearer) : 1.0f;
    return paint_limit((lit - task->bleeding) / (1.0f - task->bleeding), 0.0f, 1.0f);
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
    const float *material = task->paint.materials + MODAL_SHADE_MATERIAL * (int64_t)task->paint.triangle_materials[t];
    float to_eye[3], diffuse[3];
    for (int k = 0; k < 3; k++) {
        const float tint = (object >= 0 ? task->tints[3 * (int64_t)object + k] : 1.0f) * at->image[k];
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
        const float highlight = shade_power(paint_limit(mirrored, 0.0f, 1.0f), material[11]);
        for (int k = 0; k < 3; k++) colour[k] += lit * light->colour[k] * (towards * diffuse[k] + highlight * material[8 + k]);
    }
}

/* Where a pixel's samples are in the mean, pixels from its corner. They are bits of a set. */
RASTER_INLINE void shade_mean(unsigned set, int samples, float mean[2])
{
    int32_t count = 0, sum_x = 0, sum_y = 0;
    for (int j = 0; j < samples; j++) {
        count += (int32_t)(set >> j & 1);
        sum_x += set >> j & 1 ? raster_sample_x(samples, j) : 0;
        sum_y += set >> j & 1 ? raster_sample_y(samples, j) : 0;
    }
    const float scale = 1.0f / (float)(256 * count);
    mean[0] = (float)sum_x * scale, mean[1] = (float)sum_y * scale;
}

/* The same from the picture's corner. */
RASTER_INLINE void shade_point(const modal_shade_task *task, int64_t pixel, unsigned set, int samples, float *x, float *y)
{
    float mean[2];
    shade_mean(set, samples, mean);
    *x = (float)(pixel % task->width) + mean[0];
    *y = (float)(pixel / task->width) + mean[1];
}

RASTER_INLINE shade_surface shade_middle(const modal_shade_task *task, const modal_raster_view *view, int64_t pixel, uint32_t t, unsigned set,
                                         int samples, int has)
{
    float x, y;
    shade_point(task, pixel, set, samples, &x, &y);
    return shade_surface_at(task, view, t, x, y, has);
}

/* Adds a pixel's samples `set` to the sources that they were shaded from; has: that of shade_has. */
RASTER_INLINE void shade_count(const shade_surface *at, unsigned set, int has, uint32_t counts[MODAL_SHADE_SOURCES])
{
    for (int role = 0; has & SHADE_SOLIDS && role < 2; role++)
        for (int i = 0; i < MODAL_SHADE_SOURCES; i++) counts[i] += at->sources[role] == i ? solid_count(set) : 0u; /* no index that a thread computes */
}

enum { SHADE_KNOWN = 16 }; /* triangles of a pixel's layers whose colours are kept */

/* A layer's colour times alpha, and alpha, in one load. */
typedef struct shade_value {
    float of[4];
} __attribute__((aligned(16))) shade_value;

/* The layers of a pixel, and of those that have been met their colours times alpha, and alpha. */
typedef struct shade_layers {
    int64_t pixel;
    const int32_t *first; /* [samples + 1] */
    int samples, has, n;
    uint32_t *counts; /* of sources */
    uint32_t triangles[SHADE_KNOWN];
    float values[SHADE_KNOWN][4];
} shade_layers;

/* A triangle that samples `set` of a pixel see, or see through. */
typedef struct shade_layered {
    int64_t pixel;
    uint32_t triangle;
    unsigned set;
} shade_layered;

/* Its colour times alpha, and alpha. */
RASTER_INLINE void shade_layer_value(const modal_shade_task *task, const modal_raster_view *view, shade_layered it, int samples, int has,
                                     uint32_t counts[MODAL_SHADE_SOURCES], float value[4])
{
    const uint32_t t = it.triangle;
    const shade_surface at = shade_middle(task, view, it.pixel, t, it.set, samples, has);
    shade_count(&at, it.set, has, counts);
    const float *material = task->paint.materials + MODAL_SHADE_MATERIAL * (int64_t)task->paint.triangle_materials[t];
    for (int k = 0; k < 3; k++) value[k] = 0.0f;
    value[3] = paint_limit(material[3] * at.image[3], 0.0f, 1.0f);
    if (value[3] > 0.0f) {
        float colour[3];
        shade_colour(task, view, t, shade_object(task, t), &at, colour);
        for (int k = 0; k < 3; k++) value[k] = value[3] * colour[k];
    }
}

/* That of a layer of sample i. What is met again when all are known that are kept is computed again, and counted once. */
RASTER_INLINE void shade_layer(const modal_shade_task *task, const modal_raster_view *view, shade_layers *all, int i, uint32_t t, float value[4])
{
    for (int k = 0; k < all->n; k++)
        if (all->triangles[k] == t) {
            for (int c = 0; c < 4; c++) value[c] = all->values[k][c];
            return;
        }
    unsigned set = 0;
    for (int j = 0; j < all->samples; j++)
        for (int32_t f = all->first[j]; f < all->first[j + 1]; f++)
            if ((uint32_t)task->fragments[f] == t) {
                set |= 1u << j;
                break;
            }
    uint32_t again[MODAL_SHADE_SOURCES] = {0};
    shade_layer_value(task, view, (shade_layered){all->pixel, t, set}, all->samples, all->has, set & ((1u << i) - 1) ? again : all->counts, value);
    if (all->n == SHADE_KNOWN) return;
    all->triangles[all->n] = t;
    for (int k = 0; k < 4; k++) all->values[all->n][k] = value[k];
    all->n++;
}

/* A sample's layers [begin, end), whose values are there, `which` of them: what they add, and what they leave of what is behind. */
RASTER_INLINE shade_value shade_over(const shade_value *values, const uint32_t *which, int32_t begin, int32_t end)
{
    shade_value sum = {{0.0f, 0.0f, 0.0f, 1.0f}};
#ifdef __CUDACC__
#pragma unroll 4 /* loads of several are on their way */
#endif
    for (int32_t f = begin; f < end; f++) {
        const shade_value value = values[which[f]];
        for (int k = 0; k < 3; k++) sum.of[k] += sum.of[3] * value.of[k];
        sum.of[3] *= 1.0f - value.of[3];
    }
    return sum;
}

/* What it adds to a pixel over the colour behind it; sums as shade_pixel's. */
RASTER_INLINE void shade_put_over(const shade_value *over, const float behind[3], float limited[3], float full[3])
{
    for (int k = 0; k < 3; k++) {
        const float sum = over->of[k] + over->of[3] * behind[k];
        full[k] += sum;
        limited[k] += paint_limit(sum, 0.0f, 1.0f);
    }
}

/* Each sample's layers over the colour behind them. */
RASTER_INLINE void shade_through(const modal_shade_task *task, const modal_raster_view *view, shade_layers *all,
                                 const float behind[MODAL_RASTER_MOST_SAMPLES][3], float limited[3], float full[3])
{
    all->n = 0;
    for (int i = 0; i < all->samples; i++) {
        shade_value sum = {{0.0f, 0.0f, 0.0f, 1.0f}};
        float value[4];
        for (int32_t f = all->first[i]; f < all->first[i + 1]; f++) {
            shade_layer(task, view, all, i, (uint32_t)task->fragments[f], value);
            for (int k = 0; k < 3; k++) sum.of[k] += sum.of[3] * value[k];
            sum.of[3] *= 1.0f - value[3];
        }
        shade_put_over(&sum, behind[i], limited, full);
    }
}

/* Of the rows that are shaded. */
RASTER_INLINE int32_t shade_n_fragments(const modal_shade_task *task)
{
    const int32_t rows = task->first_row == 0 && task->end_row == 0 ? task->height : task->end_row - task->first_row;
    return task->layers[(int64_t)rows * task->width * task->samples];
}

/* Writes what the first sample sees; object -1, zeros: nothing. */
RASTER_INLINE void shade_put_first(const modal_shade_task *task, int64_t pixel, int32_t object, const float position[3], const float normal[3])
{
    if (task->object) task->object[pixel] = object;
    for (int k = 0; k < 3; k++) {
        if (task->normal) task->normal[3 * pixel + k] = normal[k];
        if (task->position) task->position[3 * pixel + k] = position[k];
    }
}

/* The samples of a pixel that see the same triangle as sample i; 0 where one before it does. */
RASTER_INLINE unsigned shade_set(const uint64_t *keys, int samples, int i)
{
    unsigned set = 0;
    for (int j = 0; j < samples; j++) set |= (uint32_t)keys[j] == (uint32_t)keys[i] ? 1u << j : 0u;
    return set & ((1u << i) - 1) ? 0 : set;
}

/* Where the fragments of a pixel's samples begin, [samples + 1]. */
RASTER_INLINE const int32_t *shade_first_layer(const modal_shade_task *task, int64_t pixel, int samples)
{
    return task->layers + (pixel - (int64_t)task->first_row * task->width) * samples;
}

/* What a pixel's samples see. */
typedef struct shade_seen {
    int64_t pixel;
    const uint64_t *keys;
    const float (*colours)[3]; /* of the samples of which shade_set is not 0 */
    const shade_value *over;   /* SHADE_READY: of the samples with layers what shade_over gives */
} shade_seen;

/* What a pixel adds to colours: the sums of its samples' colours, as they are and limited to 1; writes the outputs that do not follow from a surface. */
RASTER_INLINE void shade_sum(const modal_shade_task *task, const modal_raster_view *view, shade_seen seen, int samples, int has, float limited[3],
                             float full[3], uint32_t counts[MODAL_SHADE_SOURCES])
{
    const int64_t pixel = seen.pixel;
    const uint64_t *keys = seen.keys;
    const float (*colours)[3] = seen.colours;
    const int32_t *first_layer = has & SHADE_LAYERS ? shade_first_layer(task, pixel, samples) : NULL;
    const int through = first_layer && first_layer[samples] > first_layer[0];
    for (int k = 0; k < 3; k++) limited[k] = full[k] = 0.0f;
    for (int i = 0; i < samples && !through; i++) {
        const unsigned set = shade_set(keys, samples, i);
        if (set == 0) continue;
        int32_t count = 0;
        for (int j = i; j < samples; j++) count += (int32_t)(set >> j & 1);
        for (int k = 0; k < 3; k++) {
            full[k] += (float)count * colours[i][k];
            limited[k] += (float)count * paint_limit(colours[i][k], 0.0f, 1.0f);
        }
    }
    if (through && has & SHADE_READY) {
        const shade_value nothing = {{0.0f, 0.0f, 0.0f, 1.0f}};
        for (int i = 0; i < samples; i++) {
            const shade_value sum = first_layer[i + 1] > first_layer[i] ? seen.over[i] : nothing;
            int first = i; /* the sample whose colour is this one's, too */
            for (int j = i - 1; j >= 0; j--) first = (uint32_t)keys[j] == (uint32_t)keys[i] ? j : first;
            shade_put_over(&sum, colours[first], limited, full);
        }
    } else if (through) {
        float behind[MODAL_RASTER_MOST_SAMPLES][3];
        for (int i = 0; i < samples; i++) {
            const unsigned set = shade_set(keys, samples, i);
            for (int j = i; j < samples; j++)
                for (int k = 0; k < 3 && set >> j & 1; k++) behind[j][k] = colours[i][k];
        }
        shade_layers all;
        all.pixel = pixel, all.first = first_layer, all.samples = samples, all.has = has, all.counts = counts;
        shade_through(task, view, &all, (const float(*)[3])behind, limited, full);
    }
    const float share = 1.0f / (float)samples;
    const int there = keys[0] != MODAL_RASTER_EMPTY;
    if (task->triangle) task->triangle[pixel] = there ? (int32_t)(uint32_t)keys[0] : -1;
    if (task->depth) task->depth[pixel] = there ? 1.0f / raster_key_depth(keys[0]) : 0.0f;
    for (int k = 0; k < 3; k++) {
        full[k] *= share, limited[k] *= share;
        if (task->colour) task->colour[3 * pixel + k] = full[k];
    }
}

/* The colour of what samples of a pixel see. Sample 0's surface is what the other outputs tell of. */
RASTER_INLINE void shade_item(const modal_shade_task *task, const modal_raster_view *view, shade_layered it, int samples, int has, float colour[3],
                              uint32_t counts[MODAL_SHADE_SOURCES])
{
    const shade_surface at = shade_middle(task, view, it.pixel, it.triangle, it.set, samples, has);
    const int32_t object = shade_object(task, it.triangle);
    shade_count(&at, it.set, has, counts);
    shade_colour(task, view, it.triangle, object, &at, colour);
    if (it.set & 1) shade_put_first(task, it.pixel, object, at.position, at.normal);
}

/* All of a pixel. Sums as shade_sum's; adds to counts of sources. */
RASTER_INLINE void shade_pixel(const modal_shade_task *task, const modal_raster_view *view, int64_t pixel, int samples, int has,
                               float limited[3], float full[3], uint32_t counts[MODAL_SHADE_SOURCES])
{
    const uint64_t *keys = task->keys + pixel * samples;
    const float nothing[3] = {0.0f, 0.0f, 0.0f};
    float colours[MODAL_RASTER_MOST_SAMPLES][3];
    for (int i = 0; i < samples; i++) {
        const unsigned set = shade_set(keys, samples, i);
        if (set == 0) continue;
        for (int k = 0; k < 3; k++) colours[i][k] = task->background[k];
        if ((uint32_t)keys[i] != MODAL_RASTER_NONE) shade_item(task, view, (shade_layered){pixel, (uint32_t)keys[i], set}, samples, has, colours[i], counts);
    }
    if ((uint32_t)keys[0] == MODAL_RASTER_NONE) shade_put_first(task, pixel, -1, nothing, nothing);
    shade_sum(task, view, (shade_seen){pixel, keys, (const float(*)[3])colours, NULL}, samples, has, limited, full, counts);
}

/* Of the place that the other buffers tell of: where it is seen less where it was. */
RASTER_INLINE void shade_motion(const modal_shade_task *task, const modal_raster_view *view, const modal_raster_view *before, int64_t pixel, int samples)
{
    const uint64_t *keys = task->keys + pixel * samples;
    const uint32_t t = (uint32_t)keys[0];
    const modal_raster_mesh *mesh = &task->mesh;
    const float *points[3], *older[3];
    float *motion = task->motion + 2 * pixel, place[3], placed[3], x, y;
    raster_clip corners[3];
    unsigned set = 0;
    motion[0] = motion[1] = 0.0f;
    if (t == MODAL_RASTER_NONE) return;
    for (int j = 0; j < samples; j++) set |= (uint32_t)keys[j] == t ? 1u << j : 0u;
    shade_point(task, pixel, set, samples, &x, &y);
    for (int i = 0; i < 3; i++) {
        const int32_t corner = mesh->triangles[3 * (int64_t)t + i];
        points[i] = raster_point_of(mesh, corner);
        older[i] = corner < mesh->n_points ? task->points_before + 3 * (int64_t)corner : points[i];
        corners[i] = raster_view_point(view, points[i]);
    }
    const paint_weights weights = paint_weights_at(corners, x, y);
    for (int k = 0; k < 3; k++) {
        place[k] = (weights.of[0] * points[0][k] + weights.of[1] * points[1][k]) + weights.of[2] * points[2][k];
        placed[k] = (weights.of[0] * older[0][k] + weights.of[1] * older[1][k]) + weights.of[2] * older[2][k];
    }
    const raster_clip now = raster_view_point(view, place), then = raster_view_point(before, placed);
    if (!(now.w > 0.0f && then.w >= before->near_w)) return;
    motion[0] = now.x / now.w - then.x / then.w;
    motion[1] = now.y / now.w - then.y / then.w;
}

/* Rows [*first, *end) are to be shaded. */
RASTER_INLINE void shade_rows(const modal_shade_task *task, int32_t *first, int32_t *end)
{
    const int all = task->first_row == 0 && task->end_row == 0;
    *first = all ? 0 : task->first_row;
    *end = all ? task->height : task->end_row;
}

/* The same of columns; of several rows they are all. */
RASTER_INLINE void shade_columns(const modal_shade_task *task, int32_t *first, int32_t *end)
{
    *first = task->end_column > 0 ? task->first_column : 0;
    *end = task->end_column > 0 ? task->end_column : task->width;
}

#endif
