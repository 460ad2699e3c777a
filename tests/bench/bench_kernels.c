/* SPDX-License-Identifier: Apache-2.0 */
/* Times the operations on one back end and prints a table: medians of 15 runs after 3 warm-ups, with
 * CUDA events on CUDA, the wall clock on the CPU. GB/s counts every input read once and every output
 * written once; "% copy" compares it with a plain copy of a large array, bytes read plus written.
 * "cold" runs walk through copies of U that do not fit a cache together, "hot" ones reuse one.
 *
 *   bench_kernels [--backend cpu|cuda[:N]] [--quick]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/registry.h"
#include "tests/bench/bench_timer.h"

enum { WARM_UPS = 3, RUNS = 15 };

typedef struct bench {
    modal_device device;
    modal_stream *stream;
    int is_cuda;
    double copy_rate; /* bytes a second */
    float *u;         /* a large array of modal matrices */
    int64_t u_floats;
} bench;

static void need(modal_status status, const modal_error *err)
{
    if (status == MODAL_OK) return;
    fprintf(stderr, "bench_kernels: %s\n", err->message);
    exit(1);
}

static float noise(int64_t i)
{
    uint64_t z = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return (float)((double)(z >> 40) * 0x1p-23 - 1.0);
}

static void *device_array(bench *b, const void *host, int64_t bytes)
{
    modal_error err = {0};
    void *memory = NULL;
    need(modal_device_alloc(&b->device, &memory, bytes, 1, "bench", &err), &err);
    if (host) {
        need(modal_device_copy_in(&b->device, memory, host, bytes, b->stream, &err), &err);
        need(modal_device_stream_wait(&b->device, b->stream, &err), &err);
    }
    return memory;
}

static float *device_noise(bench *b, int64_t count)
{
    float *host = malloc((size_t)count * sizeof *host + 1);
    if (!host) abort();
    for (int64_t i = 0; i < count; i++) host[i] = noise(i);
    float *memory = device_array(b, host, count * (int64_t)sizeof *host);
    free(host);
    return memory;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median seconds of one call of run(b, context, k); k counts up over all calls. */
static double median(bench *b, void (*run)(bench *, void *, int64_t), void *context, int repeats)
{
    double seconds[RUNS];
    int64_t k = 0;
    for (int i = -WARM_UPS; i < RUNS; i++) {
        double elapsed = 0.0;
        struct timespec start, stop;
        clock_gettime(CLOCK_MONOTONIC, &start);
#ifdef MODAL_HAVE_CUDA
        if (b->is_cuda && !bench_cuda_start(b->stream)) exit(1);
#endif
        for (int j = 0; j < repeats; j++) run(b, context, k++);
#ifdef MODAL_HAVE_CUDA
        if (b->is_cuda && !bench_cuda_stop(b->stream, &elapsed)) {
            fprintf(stderr, "bench_kernels: a kernel failed\n");
            exit(1);
        }
#endif
        clock_gettime(CLOCK_MONOTONIC, &stop);
        if (!b->is_cuda)
            elapsed = (double)(stop.tv_sec - start.tv_sec) +
                      1e-9 * (double)(stop.tv_nsec - start.tv_nsec);
        if (i >= 0) seconds[i] = elapsed / repeats;
    }
    qsort(seconds, RUNS, sizeof *seconds, ascending);
    return seconds[RUNS / 2];
}

static void row(const bench *b, const char *name, int64_t n, int r, int64_t columns, double seconds,
                double bytes)
{
    const double flops = 6.0 * (double)n * r * (double)columns;
    printf("%-34s %9lld %4d %5lld %11.2f %10.1f %7.0f%% %8.2f\n", name, (long long)n, r,
           (long long)columns, 1e6 * seconds, 1e-9 * bytes / seconds,
           100.0 * bytes / seconds / b->copy_rate, 1e-12 * flops / seconds);
    fflush(stdout);
}

/* ---- what is timed ---- */

typedef struct copy_case {
    void *to;
    const void *from;
    int64_t bytes;
} copy_case;

static void run_copy(bench *b, void *context, int64_t k)
{
    const copy_case *c = context;
    (void)k;
#ifdef MODAL_HAVE_CUDA
    if (b->is_cuda) {
        if (!bench_cuda_copy(c->to, c->from, (size_t)c->bytes, b->stream)) exit(1);
        return;
    }
#endif
    /* the CPU's copy with all its threads: reorder without a permutation */
    static const int64_t zero = 0;
    const modal_reorder_task task = {
        .n_vertices = c->bytes / 12, .n_columns = 1, .in = c->from, .base = &zero, .out = c->to};
    need(b->device.kernels->reorder(&task, b->stream, NULL), NULL);
}

typedef struct frame_case {
    modal_deform_task deform;
    modal_sum_task sum;
    modal_normals_dynamic_task normals;
    modal_reorder_task reorder[2];
    modal_world_transform_task transform;
    modal_normals_rigid_task rigid;
    int64_t u_sets; /* copies of U to walk through */
    int do_deform, do_sum, do_normals, do_reorder, do_transform, do_rigid;
} frame_case;

static void run_frame(bench *b, void *context, int64_t k)
{
    frame_case *c = context;
    modal_error err = {0};
    const modal_kernels *kernels = b->device.kernels;
    const int64_t set = (c->deform.n_vertices + 31) / 32 * 96 * c->deform.n_modes;
    c->deform.modal_matrix = c->sum.modal_matrix = b->u + k % c->u_sets * set;
    if (c->do_deform) need(kernels->deform(&c->deform, b->stream, &err), &err);
    if (c->do_sum) need(kernels->modal_sum(&c->sum, b->stream, &err), &err);
    if (c->do_normals) need(kernels->normals_dynamic(&c->normals, b->stream, &err), &err);
    for (int i = 0; i < c->do_reorder; i++)
        need(kernels->reorder(&c->reorder[i], b->stream, &err), &err);
    if (c->do_transform) need(kernels->world_transform(&c->transform, b->stream, &err), &err);
    if (c->do_rigid) need(kernels->normals_rigid(&c->rigid, b->stream, &err), &err);
}

static int32_t *grid_corners(int64_t width, int64_t **offsets)
{
    /* vertex (i, j) of a width x width grid, two triangles a cell, as in tests/kernels */
    static const int corner[6][4] = {{0, 1, 1, 0},  {1, 0, 1, -1}, {1, -1, 0, -1},
                                     {0, -1, -1, 0}, {-1, 0, -1, 1}, {-1, 1, 0, 1}};
    int32_t *corners = malloc((size_t)(width * width) * 12 * sizeof *corners);
    *offsets = malloc((size_t)(width * width + 1) * sizeof **offsets);
    if (!corners || !*offsets) abort();
    int64_t count = 0;
    for (int64_t v = 0; v < width * width; v++) {
        (*offsets)[v] = count;
        for (int k = 0; k < 6; k++) {
            const int64_t i = v / width + corner[k][0], j = v % width + corner[k][1];
            const int64_t s = v / width + corner[k][2], t = v % width + corner[k][3];
            if (i < 0 || j < 0 || s < 0 || t < 0 || i >= width || j >= width || s >= width ||
                t >= width)
                continue;
            corners[2 * count] = (int32_t)(i * width + j);
            corners[2 * count++ + 1] = (int32_t)(s * width + t);
        }
    }
    (*offsets)[width * width] = count;
    return corners;
}

static void deform_rows(bench *b, int64_t n, int r, int64_t columns, int hot, int sum)
{
    const int64_t set = (n + 31) / 32 * 96 * r;
    const int large = n * r * columns > 10000000;
    float *q = device_noise(b, columns * r), *frames = device_noise(b, columns * 12);
    float *rest = device_noise(b, (n + 31) / 32 * 96);
    float *out = device_array(b, NULL, columns * n * 12);
    frame_case c = {.u_sets = hot ? 1 : b->u_floats / set,
                    .do_deform = !sum,
                    .do_sum = sum,
                    .sum = {n, columns, r, NULL, q, out},
                    .deform = {n, columns, r, NULL, rest, q, frames, out, NULL}};
    const double seconds = median(b, run_frame, &c, b->is_cuda && !large ? 20 : 1);
    row(b, sum ? (hot ? "modal_sum, hot" : "modal_sum") : hot ? "deform, hot" : "deform", n, r,
        columns, seconds,
        12.0 * (double)n * ((double)r + (sum ? 0.0 : 1.0) + (double)columns));
    modal_device_free(&b->device, &q);
    modal_device_free(&b->device, &frames);
    modal_device_free(&b->device, &rest);
    modal_device_free(&b->device, &out);
}

/* A whole frame of width^2 vertices, and its parts. */
static void frame_rows(bench *b, int64_t width, int r, int64_t columns)
{
    const int64_t n = width * width;
    int64_t *offsets = NULL, *base = malloc((size_t)columns * sizeof *base);
    int32_t *corners = grid_corners(width, &offsets), *source = malloc((size_t)n * sizeof *source);
    float *rest = calloc((size_t)(n + 31) / 32 * 96, sizeof *rest);
    if (!base || !source || !rest) abort();
    for (int64_t c = 0; c < columns; c++) base[c] = c * n;
    for (int64_t v = 0; v < n; v++) {
        source[v] = (int32_t)(v / 64 * 64 + (v % 64 * 37) % 64); /* local */
        if (source[v] >= n) source[v] = (int32_t)v;
        rest[v / 32 * 96 + v % 32] = (float)(v % width);
        rest[v / 32 * 96 + 32 + v % 32] = (float)(v / width);
    }
    float *positions = device_array(b, NULL, columns * n * 12);
    float *normals = device_array(b, NULL, columns * n * 12);
    float *out[2] = {device_array(b, NULL, columns * n * 12),
                     device_array(b, NULL, columns * n * 12)};
    void *d_offsets = device_array(b, offsets, (n + 1) * 8);
    void *d_corners = device_array(b, corners, offsets[n] * 8);
    void *d_source = device_array(b, source, n * 4), *d_base = device_array(b, base, columns * 8);
    float *d_rest = device_array(b, rest, (n + 31) / 32 * 384);
    float *q = device_noise(b, columns * r), *frames = device_noise(b, columns * 12);
    const double vertices = (double)n, points = vertices * (double)columns;
    const double table = 8.0 * (double)offsets[n] + 8.0 * vertices;
    frame_case c = {
        .u_sets = b->u_floats / ((n + 31) / 32 * 96 * r),
        .deform = {n, columns, r, NULL, d_rest, q, frames, positions, NULL},
        .normals = {n, columns, d_offsets, d_corners, positions, normals},
        .reorder = {{n, columns, positions, d_source, d_base, out[0]},
                    {n, columns, normals, d_source, d_base, out[1]}},
        .transform = {n, columns, d_rest, normals, frames, positions, NULL},
        .rigid = {n, columns, positions, frames, normals}};
    const int repeats = b->is_cuda ? 20 : 1;
    const struct {
        const char *name;
        int deform, normals, reorder, transform, rigid;
        double bytes;
    } parts[] = {
        {"deform", 1, 0, 0, 0, 0, 12.0 * (r + 1) * vertices + 12.0 * points},
        {"normals_dynamic", 0, 1, 0, 0, 0, table + 24.0 * points},
        {"reorder (local permutation)", 0, 0, 1, 0, 0, 4.0 * vertices + 24.0 * points},
        {"whole frame, stored order", 1, 1, 0, 0, 0,
         12.0 * (r + 1) * vertices + 12.0 * points + table + 24.0 * points},
        {"whole frame, user's order", 1, 1, 2, 0, 0,
         12.0 * (r + 1) * vertices + 12.0 * points + table + 24.0 * points + 8.0 * vertices +
             48.0 * points},
        {"world_transform", 0, 0, 0, 1, 0, 12.0 * vertices + 24.0 * points},
        {"normals_rigid", 0, 0, 0, 0, 1, 12.0 * vertices + 12.0 * points}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        c.do_deform = parts[i].deform;
        c.do_normals = parts[i].normals;
        c.do_reorder = parts[i].reorder;
        c.do_transform = parts[i].transform;
        c.do_rigid = parts[i].rigid;
        row(b, parts[i].name, n, parts[i].deform ? r : 0, columns,
            median(b, run_frame, &c, repeats), parts[i].bytes);
    }
    float *floats[] = {positions, normals, out[0], out[1], d_rest, q, frames};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        modal_device_free(&b->device, &floats[i]);
    void *others[] = {d_offsets, d_corners, d_source, d_base};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        modal_device_free(&b->device, &others[i]);
    free(offsets);
    free(corners);
    free(source);
    free(base);
    free(rest);
}

int main(int argc, char **argv)
{
    static const int ranks[] = {8, 16, 32, 64};
    const char *name = "auto";
    int quick = 0;
    modal_error err = {0};
    bench b = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            quick = 1;
        } else if (strcmp(argv[i], "--backend") == 0 && i + 1 < argc) {
            name = argv[++i];
        } else {
            fprintf(stderr, "usage: %s [--backend NAME] [--quick]\n", argv[0]);
            return 2;
        }
    }
    need(modal_device_open(&b.device, name, &err), &err);
    need(modal_device_stream_new(&b.device, &b.stream, &err), &err);
    b.is_cuda = !b.device.shares_memory;
    printf("%s: %s\n", b.device.name, b.device.hardware);

    const int64_t copy_bytes = quick ? 12 << 20 : b.is_cuda ? INT64_C(3) << 30 : 768 << 20;
    copy_case copy = {device_array(&b, NULL, copy_bytes), device_noise(&b, copy_bytes / 4),
                      copy_bytes / 12 * 12};
    b.copy_rate = 2.0 * (double)copy.bytes / median(&b, run_copy, &copy, 1);
    printf("copy: %.0f GB/s (read + written)\n\n", 1e-9 * b.copy_rate);
    printf("%-34s %9s %4s %5s %11s %10s %8s %8s\n", "operation", "vertices", "r", "cols",
           "us", "GB/s", "copy", "TFLOP/s");
    b.u = (float *)(uintptr_t)copy.from;
    b.u_floats = copy_bytes / 4;
    modal_device_free(&b.device, &copy.to);

    const int64_t small = quick ? 10000 : 100000, large = quick ? 10000 : 1000000;
    for (int i = 0; i < 4; i++) deform_rows(&b, small, ranks[i], 1, 0, 0);
    for (int i = 0; i < 4; i++) deform_rows(&b, small, ranks[i], 1, 1, 0);
    for (int i = 0; i < 4; i++) deform_rows(&b, large, ranks[i], 1, 0, 0);
    deform_rows(&b, large, 32, 1, 0, 1);
    for (int64_t columns = 2; columns <= (b.is_cuda ? 128 : 64); columns *= 2)
        deform_rows(&b, b.is_cuda ? large : small, 32, columns, 0, 0);
    deform_rows(&b, b.is_cuda ? large : small, 8, 64, 0, 0);
    deform_rows(&b, b.is_cuda ? large : small, 64, 64, 0, 0);
    if (b.is_cuda) deform_rows(&b, large, 32, 128, 0, 1);
    deform_rows(&b, small, quick ? 64 : 200, 64, 0, 0);
    frame_rows(&b, quick ? 100 : 675, 15, 1);
    frame_rows(&b, quick ? 100 : 675, 15, 16);
    modal_device_free(&b.device, &b.u);
    modal_device_stream_delete(&b.device, &b.stream);
    return 0;
}
