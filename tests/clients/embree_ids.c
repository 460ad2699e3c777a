/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of kernels/raster beside rays of Embree through the middles of pixels: the same triangle wherever the ray is more than 1/256 pixel from
 * every projected edge of both triangles; others are at most one in a thousand. */
#include <embree3/rtcore.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/bench_device.h"
#include "tests/kernels/raster_scene.h"

enum { WIDTH = 1280, HEIGHT = 720, SIDE = 450 };

static RTCScene build(RTCDevice device, const raster_scene *s)
{
    RTCScene scene = rtcNewScene(device);
    RTCGeometry g = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    float *points = rtcSetNewGeometryBuffer(g, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, (size_t)(s->n_points + s->n_more));
    uint32_t *corners = rtcSetNewGeometryBuffer(g, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, (size_t)s->n_triangles);
    memcpy(points, s->points, 12 * (size_t)s->n_points);
    memcpy(points + 3 * s->n_points, s->more, 12 * (size_t)s->n_more);
    memcpy(corners, s->triangles, 12 * (size_t)s->n_triangles);
    rtcCommitGeometry(g);
    rtcAttachGeometry(scene, g);
    rtcReleaseGeometry(g);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
    rtcCommitScene(scene);
    return scene;
}

/* The triangle that a ray through (x, y) meets first, -1: none. */
static int64_t trace(RTCScene scene, const modal_raster_view *v, double x, double y)
{
    struct RTCIntersectContext context;
    double across[2][3], d[3], ahead = 0.0;
    for (int k = 0; k < 3; k++) /* rows that are 0 along the ray */
        across[0][k] = (double)v->x[k] - x * (double)v->w[k], across[1][k] = (double)v->y[k] - y * (double)v->w[k];
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        d[k] = across[0][a] * across[1][b] - across[0][b] * across[1][a];
        ahead += d[k] * (double)v->w[k];
    }
    struct RTCRayHit hit = {.ray = {.org_x = v->origin[0], .org_y = v->origin[1], .org_z = v->origin[2], .dir_x = (float)(d[0] / ahead),
                                    .dir_y = (float)(d[1] / ahead), .dir_z = (float)(d[2] / ahead), .tnear = v->near_w, .tfar = INFINITY, .mask = ~0u},
                            .hit = {.geomID = RTC_INVALID_GEOMETRY_ID, .primID = RTC_INVALID_GEOMETRY_ID}};
    rtcInitIntersectContext(&context);
    rtcIntersect1(scene, &context, &hit);
    return hit.hit.geomID == RTC_INVALID_GEOMETRY_ID ? -1 : (int64_t)hit.hit.primID;
}

/* Pixels from (x, y) to the nearest edge of a triangle as it is seen. */
static double to_edges(const raster_scene *s, const modal_raster_view *v, int64_t t, double x, double y)
{
    double at[3][2], nearest = INFINITY;
    for (int i = 0; t >= 0 && i < 3; i++) {
        const int32_t corner = s->triangles[3 * t + i];
        const float *p = corner < s->n_points ? s->points + 3 * (int64_t)corner : s->more + 3 * (corner - s->n_points);
        double row[3] = {(double)v->x[3], (double)v->y[3], (double)v->w[3]};
        for (int k = 0; k < 3; k++) {
            const double d = (double)p[k] - (double)v->origin[k];
            row[0] += (double)v->x[k] * d, row[1] += (double)v->y[k] * d, row[2] += (double)v->w[k] * d;
        }
        at[i][0] = row[0] / row[2] - x, at[i][1] = row[1] / row[2] - y;
    }
    for (int i = 0; t >= 0 && i < 3; i++) {
        const double *a = at[i], *b = at[(i + 1) % 3], e[2] = {b[0] - a[0], b[1] - a[1]}, length = e[0] * e[0] + e[1] * e[1];
        const double part = length > 0.0 ? fmin(fmax(-(a[0] * e[0] + a[1] * e[1]) / length, 0.0), 1.0) : 0.0;
        nearest = fmin(nearest, hypot(a[0] + part * e[0], a[1] + part * e[1]));
    }
    return nearest;
}

/* How many pixels differ; *far: of these the ones that are not at an edge; *farthest: of them all, pixels from the nearest edge. */
static int64_t compare(const raster_scene *s, RTCScene scene, const modal_raster_view *view, const uint64_t *keys, int64_t *far, double *farthest)
{
    int64_t differ = 0, away = 0;
    double most = 0.0;
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : differ, away) reduction(max : most)
    for (int row = 0; row < HEIGHT; row++)
        for (int column = 0; column < WIDTH; column++) {
            const double x = column + 0.5, y = row + 0.5;
            const uint64_t key = keys[(int64_t)row * WIDTH + column];
            const int64_t mine = key == MODAL_RASTER_EMPTY ? -1 : (int64_t)(uint32_t)key, theirs = trace(scene, view, x, y);
            if (mine == theirs) continue;
            const double edge = fmin(to_edges(s, view, mine, x, y), to_edges(s, view, theirs, x, y));
            differ++;
            away += !(edge <= 1.0 / 256.0);
            most = fmax(most, edge);
        }
    *far = away, *farthest = most;
    return differ;
}

int main(void)
{
    modal_error err = {0};
    modal_device device;
    const double eye[3] = {1.6, -2.3, 1.9}, target[3] = {0, 0, -0.1};
    raster_scene s = raster_scene_torus(SIDE);
    raster_scene_ground(&s, 1.4, -0.6);
    const modal_raster_view view = raster_scene_view(eye, target, 0.8, WIDTH, HEIGHT, 0.05);
    uint64_t *keys = host_array((int64_t)WIDTH * HEIGHT, sizeof *keys);
    void *scratch = host_array(modal_raster_scratch_bytes(s.n_points + s.n_more, s.n_triangles), 1);
    need(modal_device_open(&device, "cpu", &err), &err);
    const modal_raster_task task = {.mesh = raster_scene_here(&s), .view = &view, .width = WIDTH, .height = HEIGHT, .samples = 1, .keys = keys,
                                    .scratch = scratch};
    need(device.kernels->raster(&task, NULL, &err), &err);
    RTCDevice embree = rtcNewDevice(NULL);
    if (!embree) bench_device_fail("Embree gives no device");
    RTCScene scene = build(embree, &s);
    int64_t seen = 0, far;
    double farthest;
    for (int64_t i = 0; i < (int64_t)WIDTH * HEIGHT; i++) seen += keys[i] != MODAL_RASTER_EMPTY;
    const int64_t differ = compare(&s, scene, &view, keys, &far, &farthest);
    printf("%lld pixels of %d show something; %lld differ (%.4f %%), the farthest %.4f pixels from an edge\n", (long long)seen, WIDTH * HEIGHT,
           (long long)differ, 100.0 * (double)differ / ((double)WIDTH * HEIGHT), farthest);
    if (far > 0) bench_device_fail("ids differ away from edges");
    if (differ > (int64_t)WIDTH * HEIGHT / 1000) bench_device_fail("more than one in a thousand differs");
    if (seen < (int64_t)WIDTH * HEIGHT / 3) bench_device_fail("hardly anything is seen");
    rtcReleaseScene(scene), rtcReleaseDevice(embree);
    free(keys), free(scratch);
    raster_scene_free(&s);
    return 0;
}
