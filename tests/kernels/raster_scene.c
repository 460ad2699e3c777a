/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/kernels/raster_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

raster_scene raster_scene_new(int64_t most_points, int64_t most_triangles)
{
    raster_scene s = {.most_points = most_points, .most_triangles = most_triangles};
    s.points = harness_alloc(3 * most_points, sizeof(float));
    s.normals = harness_alloc(3 * most_points, sizeof(float));
    s.triangles = harness_alloc(3 * most_triangles, sizeof(int32_t));
    s.flags = harness_alloc(most_triangles, 1);
    memset(s.flags, 0, (size_t)most_triangles);
    memset(s.normals, 0, (size_t)most_points * 3 * sizeof(float));
    return s;
}

void raster_scene_free(raster_scene *s)
{
    free(s->points), free(s->normals), free(s->triangles), free(s->flags);
}

int32_t raster_scene_point(raster_scene *s, double x, double y, double z)
{
    if (s->n_points == s->most_points) abort();
    float *p = s->points + 3 * s->n_points;
    p[0] = (float)x, p[1] = (float)y, p[2] = (float)z;
    return (int32_t)s->n_points++;
}

void raster_scene_triangle(raster_scene *s, int32_t a, int32_t b, int32_t c)
{
    if (s->n_triangles == s->most_triangles) abort();
    int32_t *t = s->triangles + 3 * s->n_triangles++;
    t[0] = a, t[1] = b, t[2] = c;
}

raster_scene raster_scene_torus(int n)
{
    raster_scene s = raster_scene_new((int64_t)n * n, 2 * (int64_t)n * n + 2);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double a = 2.0 * M_PI * i / n, b = 2.0 * M_PI * j / n, r = 0.4 + 0.03 * sin(9.0 * a) * cos(7.0 * b);
            float *normal = s.normals + 3 * s.n_points;
            normal[0] = (float)(cos(b) * cos(a)), normal[1] = (float)(cos(b) * sin(a)), normal[2] = (float)sin(b);
            raster_scene_point(&s, (1.0 + r * cos(b)) * cos(a), (1.0 + r * cos(b)) * sin(a), r * sin(b));
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const int32_t a = i * n + j, b = (i + 1) % n * n + j, c = (i + 1) % n * n + (j + 1) % n, d = i * n + (j + 1) % n;
            raster_scene_triangle(&s, a, b, c);
            raster_scene_triangle(&s, a, c, d);
        }
    return s;
}

void raster_scene_ground(raster_scene *s, double half, double z)
{
    const int32_t n = (int32_t)s->n_points;
    for (int i = 0; i < 4; i++) {
        const double p[3] = {i == 1 || i == 2 ? half : -half, i >= 2 ? half : -half, z};
        for (int k = 0; k < 3; k++) s->more[3 * i + k] = (float)p[k], s->more_normals[3 * i + k] = k == 2 ? 1.0f : 0.0f;
    }
    s->n_more = 4;
    raster_scene_triangle(s, n, n + 1, n + 2);
    raster_scene_triangle(s, n, n + 2, n + 3);
}

modal_raster_mesh raster_scene_here(const raster_scene *s)
{
    return (modal_raster_mesh){s->n_points, s->n_more, s->n_triangles, s->points, s->more, s->triangles, s->flags};
}

modal_raster_mesh raster_scene_mesh(harness *h, const raster_scene *s)
{
    modal_raster_mesh m = raster_scene_here(s);
    m.points = harness_input(h, s->points, s->n_points * 12, 0);
    m.more = harness_input(h, s->more, s->n_more * 12, 0);
    m.triangles = harness_input(h, s->triangles, s->n_triangles * 12, 0);
    m.flags = harness_input(h, s->flags, s->n_triangles, 0);
    return m;
}

modal_raster_view raster_scene_flat(void)
{
    return (modal_raster_view){.x = {1, 0, 0, 0}, .y = {0, 1, 0, 0}, .w = {0, 0, 0, 1}, .depth = {0, 0, 1, 0}, .near_w = 0.5f};
}

static void unit(double a[3])
{
    const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int k = 0; k < 3; k++) a[k] /= length;
}

modal_raster_view raster_scene_view(const double eye[3], const double target[3], double fov, int width, int height, double near_w)
{
    modal_raster_view v = {.depth = {0, 0, 0, 1}, .near_w = (float)near_w};
    double ahead[3], right[3], up[3];
    for (int k = 0; k < 3; k++) ahead[k] = target[k] - eye[k], v.origin[k] = (float)eye[k];
    unit(ahead);
    right[0] = ahead[1], right[1] = -ahead[0], right[2] = 0.0;
    unit(right);
    for (int k = 0; k < 3; k++)
        up[k] = right[(k + 1) % 3] * ahead[(k + 2) % 3] - right[(k + 2) % 3] * ahead[(k + 1) % 3];
    const double focal = height / 2.0 / tan(fov / 2.0);
    for (int k = 0; k < 3; k++) {
        v.x[k] = (float)(focal * right[k] + width / 2.0 * ahead[k]);
        v.y[k] = (float)(-focal * up[k] + height / 2.0 * ahead[k]);
        v.w[k] = (float)ahead[k];
    }
    return v;
}
