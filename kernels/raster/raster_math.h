/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of pictures, an operation at a time: compiled without fused multiply-adds by every back end, so that all give the
 * same bytes. Source of the coverage rule: K. Akeley and others, every graphics interface since OpenGL 1.0; integers in place of
 * floats: J. Pineda, "A Parallel Algorithm for Polygon Rasterization", 1988. */
#ifndef MODAL_KERNELS_RASTER_MATH_H
#define MODAL_KERNELS_RASTER_MATH_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/float_bits.h"
#include "kernels/raster/raster.h"

#ifdef __CUDACC__
#define RASTER_INLINE static __host__ __device__ __forceinline__
#else
#define RASTER_INLINE static inline __attribute__((always_inline))
#endif

/* A point after the view, before and after the division. */
typedef struct raster_clip {
    float x, y, w, depth;
} raster_clip;

typedef struct raster_point {
    int32_t x, y; /* 1/256 pixel; 0 where it is outside */
    float depth;
    uint32_t outside; /* bits of raster_outside */
} raster_point;

enum { RASTER_NOT_FINITE = 32 };

RASTER_INLINE float raster_row(const float row[4], const float d[3])
{
    return ((row[0] * d[0] + row[1] * d[1]) + row[2] * d[2]) + row[3];
}

RASTER_INLINE raster_clip raster_view_point(const modal_raster_view *view, const float *p)
{
    const float d[3] = {p[0] - view->origin[0], p[1] - view->origin[1], p[2] - view->origin[2]};
    raster_clip c;
    c.x = raster_row(view->x, d);
    c.y = raster_row(view->y, d);
    c.w = raster_row(view->w, d);
    c.depth = raster_row(view->depth, d);
    return c;
}

/* How far inside of plane 0 to 4 a point is; negative: outside. */
RASTER_INLINE float raster_inside(const raster_clip *c, float near_w, int plane)
{
    const float guard = (float)MODAL_RASTER_GUARD * c->w;
    return plane == 0 ? c->w - near_w : plane == 1 ? guard - c->x : plane == 2 ? guard + c->x : plane == 3 ? guard - c->y : guard + c->y;
}

RASTER_INLINE uint32_t raster_outside(const raster_clip *c, float near_w)
{
    uint32_t outside = 0;
    for (int plane = 0; plane < 5; plane++) outside |= raster_inside(c, near_w, plane) < 0.0f ? 1u << plane : 0u;
    /* a sum of finite ones may be infinite, but a triangle that large is not drawn either */
    const float sum = (fabsf(c->x) + fabsf(c->y)) + (fabsf(c->w) + fabsf(c->depth));
    return sum <= FLT_MAX ? outside : RASTER_NOT_FINITE;
}

/* Of a point that is inside. */
RASTER_INLINE raster_point raster_divide(const raster_clip *c)
{
    const float inverse = 1.0f / c->w;
    raster_point p;
    p.x = (int32_t)floorf(c->x * inverse * 256.0f + 0.5f);
    p.y = (int32_t)floorf(c->y * inverse * 256.0f + 0.5f);
    p.depth = c->depth * inverse;
    p.outside = 0;
    return p;
}

RASTER_INLINE raster_point raster_project(const modal_raster_view *view, const float *p)
{
    const raster_clip c = raster_view_point(view, p);
    const uint32_t outside = raster_outside(&c, view->near_w);
    raster_point point = {0, 0, 0.0f, outside};
    return outside ? point : raster_divide(&c);
}

RASTER_INLINE const float *raster_point_of(const modal_raster_mesh *mesh, int32_t i)
{
    return i < mesh->n_points ? mesh->points + 3 * (int64_t)i : mesh->more + 3 * (i - mesh->n_points);
}

/* A triangle to be drawn, its corners in an order in which edge functions are positive inside. */
typedef struct raster_setup {
    int32_t x[3], y[3];         /* 1/256 pixel */
    int32_t left, top, right, bottom; /* pixels that may have a covered sample, inclusive */
    float depth, depth_1, depth_2; /* at corner 0, and its change a unit of edge function 1 and 2 */
} raster_setup;

/* Twice the area, in (1/256 pixel)^2: negative where the front is seen. */
RASTER_INLINE int64_t raster_area(const raster_point *a, const raster_point *b, const raster_point *c)
{
    return (int64_t)(b->x - a->x) * (c->y - a->y) - (int64_t)(c->x - a->x) * (b->y - a->y);
}

RASTER_INLINE int32_t raster_min(int32_t a, int32_t b) { return a < b ? a : b; }
RASTER_INLINE int32_t raster_max(int32_t a, int32_t b) { return a > b ? a : b; }

/* 0: it covers no sample. */
RASTER_INLINE int raster_box(raster_setup *s, const raster_point *a, const raster_point *b, const raster_point *c, int32_t width,
                             int32_t height, int32_t samples)
{
    const int32_t first = samples == 1 ? 128 : samples == 4 ? 32 : 16, last = 256 - first; /* offsets of samples */
    s->left = raster_max((raster_min(a->x, raster_min(b->x, c->x)) - last + 255) >> 8, 0);
    s->top = raster_max((raster_min(a->y, raster_min(b->y, c->y)) - last + 255) >> 8, 0);
    s->right = raster_min((raster_max(a->x, raster_max(b->x, c->x)) - first) >> 8, width - 1);
    s->bottom = raster_min((raster_max(a->y, raster_max(b->y, c->y)) - first) >> 8, height - 1);
    return s->left <= s->right && s->top <= s->bottom;
}

/* `area` is not 0, and the box is there. */
RASTER_INLINE void raster_set_up(raster_setup *s, const raster_point *a, const raster_point *b, const raster_point *c, int64_t area)
{
    const int turned = area < 0;
    const raster_point one = turned ? *c : *b, two = turned ? *b : *c;
    const float scale = 1.0f / (float)(turned ? -area : area);
    s->x[0] = a->x, s->x[1] = one.x, s->x[2] = two.x;
    s->y[0] = a->y, s->y[1] = one.y, s->y[2] = two.y;
    s->depth = a->depth;
    s->depth_1 = scale * (one.depth - a->depth);
    s->depth_2 = scale * (two.depth - a->depth);
}

/* Where sample s of a pixel is, 1/256 pixel from its upper left corner: the standard patterns of Direct3D. */
RASTER_INLINE int32_t raster_sample_x(int32_t samples, int s)
{
    const int32_t eight[8] = {144, 112, 208, 80, 48, 16, 176, 240}, four[4] = {96, 224, 32, 160};
    return samples == 1 ? 128 : samples == 4 ? four[s & 3] : eight[s & 7];
}

RASTER_INLINE int32_t raster_sample_y(int32_t samples, int s)
{
    const int32_t eight[8] = {80, 176, 144, 48, 208, 112, 240, 16}, four[4] = {32, 96, 160, 224};
    return samples == 1 ? 128 : samples == 4 ? four[s & 3] : eight[s & 7];
}

/* 0 where the edge from (x, y) to (to_x, to_y) has the samples on it, -1 where its neighbour has them: one of the two. */
RASTER_INLINE int32_t raster_bias(int32_t x, int32_t y, int32_t to_x, int32_t to_y)
{
    return to_y < y || (to_y == y && to_x > x) ? 0 : -1;
}

/* The depth of a sample, of its edge functions 1 and 2. */
RASTER_INLINE float raster_depth(const raster_setup *s, float edge_1, float edge_2)
{
    const float depth = s->depth + (edge_1 * s->depth_1 + edge_2 * s->depth_2);
    return depth > FLT_MIN ? depth : FLT_MIN;
}

RASTER_INLINE uint64_t raster_key(float depth, uint32_t triangle)
{
    return (uint64_t)~modal_float_bits(depth) << 32 | triangle;
}

RASTER_INLINE float raster_key_depth(uint64_t key) { return modal_float_of(~(uint32_t)(key >> 32)); }

enum { RASTER_MOST_CORNERS = 8 };

/* A triangle that is partly outside, cut: a polygon of n <= 8 corners in p, 0 where nothing is left. An edge is cut from its inner
 * corner on, so that both triangles that have it cut it at the same point. */
RASTER_INLINE int raster_cut(const raster_clip corners[3], float near_w, raster_point p[RASTER_MOST_CORNERS])
{
    raster_clip from[RASTER_MOST_CORNERS], to[RASTER_MOST_CORNERS];
    int n = 3;
    for (int i = 0; i < 3; i++) from[i] = corners[i];
    for (int plane = 0; plane < 5; plane++) {
        int kept = 0;
        for (int i = 0; i < n; i++) {
            const raster_clip *a = &from[i], *b = &from[i + 1 == n ? 0 : i + 1];
            const float of_a = raster_inside(a, near_w, plane), of_b = raster_inside(b, near_w, plane);
            if (of_a >= 0.0f) to[kept++] = *a;
            if ((of_a >= 0.0f) == (of_b >= 0.0f)) continue;
            const raster_clip *in = of_a >= 0.0f ? a : b, *out = of_a >= 0.0f ? b : a;
            const float is = of_a >= 0.0f ? of_a : of_b, other = of_a >= 0.0f ? of_b : of_a, t = is / (is - other);
            raster_clip cut;
            cut.x = in->x + t * (out->x - in->x);
            cut.y = in->y + t * (out->y - in->y);
            cut.w = in->w + t * (out->w - in->w);
            cut.depth = in->depth + t * (out->depth - in->depth);
            to[kept++] = cut;
        }
        n = kept;
        for (int i = 0; i < n; i++) from[i] = to[i];
        if (n < 3) return 0;
    }
    for (int i = 0; i < n; i++) p[i] = raster_divide(&from[i]);
    return n;
}

/* The polygon of a triangle with corners outside, or 0; *front: whether its front is seen. */
RASTER_INLINE int raster_cut_triangle(const modal_raster_mesh *mesh, const modal_raster_view *view, int64_t t,
                                      raster_point p[RASTER_MOST_CORNERS], int *front)
{
    raster_clip corners[3];
    for (int i = 0; i < 3; i++) corners[i] = raster_view_point(view, raster_point_of(mesh, mesh->triangles[3 * t + i]));
    const int n = raster_cut(corners, view->near_w, p);
    int64_t area = 0;
    for (int i = 2; i < n; i++) area += raster_area(&p[0], &p[i - 1], &p[i]);
    *front = area < 0;
    return area == 0 ? 0 : n;
}

/* The same of any triangle: its three corners where none is outside; 0 also where all are, or one is not finite. */
RASTER_INLINE int raster_polygon(const modal_raster_mesh *mesh, const modal_raster_view *view, int64_t t, raster_point p[RASTER_MOST_CORNERS],
                                 int *front)
{
    uint32_t outside = 0, all = ~0u;
    for (int i = 0; i < 3; i++) {
        p[i] = raster_project(view, raster_point_of(mesh, mesh->triangles[3 * t + i]));
        outside |= p[i].outside, all &= p[i].outside;
    }
    *front = 0;
    if (all || (outside & RASTER_NOT_FINITE)) return 0;
    if (outside) return raster_cut_triangle(mesh, view, t, p, front);
    *front = raster_area(&p[0], &p[1], &p[2]) < 0;
    return 3;
}

/* Whether a triangle with these flags may be drawn. */
RASTER_INLINE int raster_is_wanted(const modal_raster_task *task, unsigned flags)
{
    return !(flags & task->skip) && (!task->only || flags & task->only);
}

/* Whether a triangle with these flags is drawn, its back seen or not. */
RASTER_INLINE int raster_is_drawn(const modal_raster_task *task, unsigned flags, int front)
{
    return raster_is_wanted(task, flags) && (front || !(flags & task->cull));
}

#endif
