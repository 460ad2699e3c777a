/* SPDX-License-Identifier: Apache-2.0 */
/* Times the operations of a picture on one back end: a torus and a ground, one light with a variance shadow map of 2048 x 2048 and 9 taps,
 * 1920 x 1080 of 4 samples; colours, ids, normals and depths written. Torus of 675 x 675 vertices (the size of the 2020 paper's dragon), of 500 x 500
 * (500,000 triangles) and, on a GPU, of 2000 x 2000 (8 million). The median of several frames: processor time of all threads on a CPU, wall
 * clock around several calls in a row on a GPU. And the same bytes twice.
 *
 *   raster_bench [--backend cpu|cuda[:N]] [--quick] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/device.h"
#include "kernels/shade/shade.h"
#include "kernels/shadow_blur/shadow_blur.h"
#include "kernels/shadow_view/shadow_view.h"
#include "tests/bench/bench_device.h"
#include "tests/kernels/raster_scene.h"

enum { RADIUS = 4 };

typedef struct bench {
    modal_device device;
    modal_stream *stream, *side;
    modal_event *begun, *mapped;
    modal_raster_task shadow, seen;
    modal_shadow_view_task light;
    modal_shadow_blur_task blur;
    modal_shade_task shade;
} bench;

static void *upload(bench *b, const void *host, int64_t bytes) { return device_array(&b->device, b->stream, host, bytes); }

static void prepare(bench *b, int n, int width, int height, int size)
{
    static const float material[16] = {0.5f, 0.5f, 0.5f, 1, 0.6f, 0.5f, 0.35f, 1, 0.5f, 0.5f, 0.5f, 40, 0.5f, 0, 0, 0};
    const double eye[3] = {1.6, -2.3, 1.9}, target[3] = {0, 0, -0.1};
    raster_scene s = raster_scene_torus(n);
    for (int64_t t = 0; t < s.n_triangles; t++) s.flags[t] = MODAL_RASTER_ONE_SIDED | MODAL_RASTER_CLOSED;
    const int32_t object_triangles[2] = {0, (int32_t)s.n_triangles};
    raster_scene_ground(&s, 4.0, -0.6);
    s.flags[s.n_triangles - 2] = s.flags[s.n_triangles - 1] = 0;
    const modal_raster_view view = raster_scene_view(eye, target, 0.8, width, height, 0.05);
    const modal_shade_light light = {{0.37460632f, 0.22476379f, 0.89954f}, {1, 1, 1}, 0};
    const int64_t pixels = (int64_t)width * height, texels = (int64_t)size * size;
    const float tint[3] = {1, 1, 1};
    int32_t *materials = host_array(s.n_triangles, sizeof *materials);
    double sum = 0.0;
    modal_raster_mesh mesh = raster_scene_here(&s);
    mesh.points = upload(b, s.points, 12 * s.n_points), mesh.more = upload(b, s.more, 48);
    mesh.triangles = upload(b, s.triangles, 12 * s.n_triangles), mesh.flags = upload(b, s.flags, s.n_triangles);
    void *scratch = upload(b, NULL, modal_raster_scratch_bytes(s.n_points + 4, s.n_triangles));
    const modal_raster_view both[2] = {view, view};
    modal_raster_view *views = upload(b, both, sizeof both);
    b->light = (modal_shadow_view_task){.n_points = s.n_points, .points = mesh.points, .size = size, .margin = 2 * (RADIUS + 1), .view = views + 1,
                                        .scratch = upload(b, NULL, MODAL_SHADOW_VIEW_SCRATCH * 4)};
    const double side = sqrt((double)light.direction[0] * (double)light.direction[0] + (double)light.direction[1] * (double)light.direction[1]);
    for (int k = 0; k < 3; k++) b->light.along[k] = -light.direction[k];
    b->light.right[0] = (float)((double)light.direction[1] / side), b->light.right[1] = (float)(-(double)light.direction[0] / side);
    for (int k = 0; k < 3; k++)
        b->light.up[k] = b->light.right[(k + 1) % 3] * b->light.along[(k + 2) % 3] - b->light.right[(k + 2) % 3] * b->light.along[(k + 1) % 3];
    b->shadow = (modal_raster_task){.mesh = mesh, .view = views + 1, .width = size, .height = size, .samples = 1, .cull = MODAL_RASTER_CLOSED,
                                    .skip = MODAL_RASTER_NO_SHADOW, .depths = upload(b, NULL, 4 * texels),
                                    .scratch = upload(b, NULL, modal_raster_scratch_bytes(s.n_points + 4, s.n_triangles))};
    b->blur = (modal_shadow_blur_task){.size = size, .radius = RADIUS, .depths = b->shadow.depths, .moments = upload(b, NULL, 8 * texels),
                                       .scratch = upload(b, NULL, 8 * texels)};
    for (int i = -RADIUS; i <= RADIUS; i++) sum += exp(-0.5 * i * i / 3.0);
    for (int i = -RADIUS; i <= RADIUS; i++) b->blur.weights[i + RADIUS] = (float)(exp(-0.5 * i * i / 3.0) / sum);
    b->seen = (modal_raster_task){.mesh = mesh, .view = views, .width = width, .height = height, .samples = 4, .cull = MODAL_RASTER_ONE_SIDED,
                                  .keys = upload(b, NULL, 32 * pixels), .scratch = scratch};
    b->shade = (modal_shade_task){.mesh = mesh, .normals = upload(b, s.normals, 12 * s.n_points),
                                  .more_normals = upload(b, s.more_normals, 48), .n_objects = 1,
                                  .paint = {.triangle_materials = upload(b, materials, 4 * s.n_triangles),
                                            .materials = upload(b, material, sizeof material)},
                                  .object_triangles = upload(b, object_triangles, 8), .tints = upload(b, tint, 12), .view = views,
                                  .width = width, .height = height, .samples = 4, .keys = b->seen.keys, .n_lights = 1,
                                  .lights = upload(b, &light, sizeof light), .ambient = {0.25f, 0.25f, 0.25f}, .background = {0.8f, 0.85f, 0.9f},
                                  .shadows = MODAL_SHADOW_VSM, .shadow_size = size, .shadow_views = views + 1, .maps = b->blur.moments,
                                  .shadow_border = RADIUS + 1, .bleeding = 0.2f,
                                  .picture = upload(b, NULL, 4 * pixels), .triangle = upload(b, NULL, 4 * pixels),
                                  .depth = upload(b, NULL, 4 * pixels), .normal = upload(b, NULL, 12 * pixels)};
    free(materials);
    raster_scene_free(&s);
}

static void clear(bench *b)
{
    const void *all[] = {b->shade.mesh.points, b->shade.mesh.more, b->shade.mesh.triangles, b->shade.mesh.flags, b->shadow.scratch,
                         b->seen.scratch, b->shade.view,
                         b->light.scratch, b->shadow.depths, b->blur.moments, b->blur.scratch, b->seen.keys, b->shade.normals,
                         b->shade.more_normals, b->shade.paint.triangle_materials, b->shade.paint.materials, b->shade.object_triangles, b->shade.tints,
                         b->shade.lights, b->shade.picture, b->shade.triangle, b->shade.depth, b->shade.normal};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) modal_device_free(&b->device, &all[i]);
}

enum { LIGHT = 1, SHADOW = 2, BLUR = 4, SEEN = 8, SHADE = 16, ALL = 31, BESIDE = 32 };

/* BESIDE: the map in a stream of its own, as lib/render/stage.c does it. */
static void call(bench *b, int what)
{
    modal_error err = {0};
    const modal_kernels *kernels = b->device.kernels;
    modal_stream *map = what & BESIDE ? b->side : b->stream;
    if (what & BESIDE) {
        need(modal_device_event_record(&b->device, b->begun, b->stream, &err), &err);
        need(modal_device_stream_wait_event(&b->device, b->side, b->begun, &err), &err);
    }
    if (what & LIGHT) need(kernels->shadow_view(&b->light, map, &err), &err);
    if (what & SHADOW) need(kernels->raster(&b->shadow, map, &err), &err);
    if (what & BLUR) need(kernels->shadow_blur(&b->blur, map, &err), &err);
    if (what & BESIDE) need(modal_device_event_record(&b->device, b->mapped, b->side, &err), &err);
    if (what & SEEN) need(kernels->raster(&b->seen, b->stream, &err), &err);
    if (what & BESIDE) need(modal_device_stream_wait_event(&b->device, b->stream, b->mapped, &err), &err);
    if (what & SHADE) need(kernels->shade(&b->shade, b->stream, &err), &err);
}

static double now(const bench *b)
{
    struct timespec t;
    clock_gettime(b->device.shares_memory ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_of(bench *b, int what)
{
    enum { RUNS = 5 };
    modal_error err = {0};
    double seconds[RUNS];
    const int repeats = b->device.shares_memory ? 1 : 20;
    call(b, what);
    for (int run = 0; run < RUNS; run++) {
        need(modal_device_stream_wait(&b->device, b->stream, &err), &err);
        const double start = now(b);
        for (int k = 0; k < repeats; k++) call(b, what);
        need(modal_device_stream_wait(&b->device, b->stream, &err), &err);
        seconds[run] = (now(b) - start) / repeats;
    }
    qsort(seconds, RUNS, sizeof *seconds, ascending);
    return seconds[RUNS / 2];
}

/* A hash of the picture and the ids (FNV-1a), and of how many pixels show something. */
static uint64_t hash_of(bench *b, int64_t pixels, int64_t *shown)
{
    modal_error err = {0};
    unsigned char *bytes = host_array(8 * pixels, 1);
    uint64_t hash = 14695981039346656037u;
    call(b, ALL | BESIDE);
    need(modal_device_copy_out(&b->device, bytes, b->shade.picture, 4 * pixels, b->stream, &err), &err);
    need(modal_device_copy_out(&b->device, bytes + 4 * pixels, b->shade.triangle, 4 * pixels, b->stream, &err), &err);
    need(modal_device_stream_wait(&b->device, b->stream, &err), &err);
    for (int64_t i = 0; i < 8 * pixels; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    *shown = 0;
    for (int64_t i = 0; i < pixels; i++) *shown += bytes[4 * pixels + 4 * i + 3] != 0xff;
    free(bytes);
    return hash;
}

static void measure(bench *b, int n, int width, int height, int size)
{
    static const struct {
        const char *name;
        int what;
    } rows[] = {{"light's view", LIGHT}, {"shadow map", SHADOW}, {"blur", BLUR}, {"visibility", SEEN}, {"shading", SHADE},
                {"one by one", ALL}, {"frame", ALL | BESIDE}};
    int64_t shown;
    prepare(b, n, width, height, size);
    const uint64_t first = hash_of(b, (int64_t)width * height, &shown);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        printf("%9lld  %-14s %9.3f\n", (long long)b->seen.mesh.n_triangles, rows[i].name, 1e3 * seconds_of(b, rows[i].what));
        fflush(stdout);
    }
    if (hash_of(b, (int64_t)width * height, &shown) != first) bench_device_fail("two runs differ");
    printf("%9lld  bytes %016llx, %lld pixels show something\n", (long long)b->seen.mesh.n_triangles, (unsigned long long)first, (long long)shown);
    clear(b);
}

int main(int argc, char **argv)
{
    bench b = {0};
    const int quick = bench_device_open(argc, argv, &b.device, &b.stream);
    modal_error err = {0};
    need(modal_device_stream_new(&b.device, &b.side, &err), &err);
    need(modal_device_event_new(&b.device, &b.begun, &err), &err);
    need(modal_device_event_new(&b.device, &b.mapped, &err), &err);
    printf("%s: %s\n%9s  %-14s %9s\n", b.device.name, b.device.hardware, "triangles", "pass", "ms");
    if (quick) {
        measure(&b, 60, 320, 180, 256);
    } else {
        measure(&b, 500, 1920, 1080, 2048);
        measure(&b, 675, 1920, 1080, 2048);
        if (!b.device.shares_memory) measure(&b, 2000, 1920, 1080, 2048);
    }
    modal_device_event_delete(&b.device, &b.begun);
    modal_device_event_delete(&b.device, &b.mapped);
    modal_device_stream_delete(&b.device, &b.side);
    modal_device_stream_delete(&b.device, &b.stream);
    return 0;
}
