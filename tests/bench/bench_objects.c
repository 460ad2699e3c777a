/* SPDX-License-Identifier: Apache-2.0 */
/* Times deform_objects on scenes like the five plants of table 4 of the 2020 paper, with n and r
 * mixed around their means, on many tiny objects and on one large one. Medians of 15
 * runs, microseconds a frame:
 *   ours         product and transform; hot: the scene was used just before and may be cached;
 *                cold: every call takes another copy of U, together larger than any cache
 *   empty        a kernel that does nothing, with the same arguments (CUDA)
 *   bytes        every input read once and every output written once, at the rate of a plain copy
 *   sgemv        cublasSgemvBatched of as many objects of uniform size, the product alone (CUDA,
 *                where the library is found), hot and cold
 *
 *   bench_objects [--backend cpu|cuda[:N]] [--quick]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/deform_objects/deform_objects.h"
#include "kernels/device.h"
#include "kernels/registry.h"
#include "tests/bench/bench_device.h"
#include "tests/bench/bench_objects_cuda.h"
#include "tests/bench/bench_timer.h"

enum { WARM_UPS = 3, RUNS = 15, COPIES_BYTES = 300 << 20, COPIES_MAX = 64 };

typedef struct bench {
    modal_device device;
    modal_stream *stream;
    int is_cuda;
    double copy_rate; /* bytes a second */
} bench;

static double noise(uint64_t *state) /* in [0, 1) */
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return (double)((z ^ (z >> 27)) >> 11) * 0x1p-53;
}

static float *noise_array(int64_t count)
{
    uint64_t state = 7;
    float *all = host_array(count, sizeof *all);
    for (int64_t i = 0; i < count; i++) all[i] = (float)(noise(&state) - 0.5);
    return all;
}

/* The same `count` random floats `copies` times, one behind the other. */
static float *device_noise(bench *b, int64_t count, int64_t copies)
{
    modal_error err = {0};
    const int64_t bytes = count * (int64_t)sizeof(float);
    float *host = noise_array(count), *memory = device_array(&b->device, b->stream, NULL, bytes * copies);
    for (int64_t i = 0; i < copies; i++)
        need(modal_device_copy_in(&b->device, memory + i * count, host, bytes, b->stream, &err),
             &err);
    need(modal_device_stream_wait(&b->device, b->stream, &err), &err);
    free(host);
    return memory;
}

typedef void timed(bench *b, void *context, int64_t call);

static double median(bench *b, timed *run, void *context, int repeats)
{
    double seconds[RUNS];
    int64_t call = 0;
    for (int i = -WARM_UPS; i < RUNS; i++) {
        double elapsed = 0.0;
        struct timespec start, stop;
        clock_gettime(CLOCK_MONOTONIC, &start);
#ifdef MODAL_HAVE_CUDA
        if (b->is_cuda && !bench_cuda_start(b->stream)) exit(1);
#endif
        for (int j = 0; j < repeats; j++) run(b, context, call++);
#ifdef MODAL_HAVE_CUDA
        if (b->is_cuda && !bench_cuda_stop(b->stream, &elapsed)) {
            bench_device_fail("a kernel failed");
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

/* ---- what is timed ---- */

typedef struct scene_case {
    modal_object_pack pack;
    modal_deform_objects_task task;
    const float *copies; /* of U, in device memory */
    int64_t n_copies;    /* 1: hot */
    bench_gemv gemv[COPIES_MAX];
} scene_case;

static void run_ours(bench *b, void *context, int64_t call)
{
    scene_case *c = context;
    modal_error err = {0};
    c->pack.modal_matrix = (float *)(uintptr_t)(c->copies + call % c->n_copies *
                                                                c->pack.matrix_floats);
    need(b->device.kernels->deform_objects(&c->task, b->stream, &err), &err);
}

#ifdef MODAL_HAVE_CUDA
static void run_nothing(bench *b, void *context, int64_t call)
{
    (void)call;
    if (!bench_cuda_nothing(((scene_case *)context)->pack.n_tiles, b->stream)) exit(1);
}

static void run_gemv(bench *b, void *context, int64_t call)
{
    scene_case *c = context;
    (void)b;
    if (!bench_gemv_run(&c->gemv[call % c->n_copies])) exit(1);
}

typedef struct copy_case {
    void *to, *from;
    int64_t bytes;
} copy_case;

static void run_copy(bench *b, void *context, int64_t call)
{
    const copy_case *c = context;
    (void)call;
    if (modal_device_copy(&b->device, c->to, c->from, c->bytes, b->stream, NULL) != MODAL_OK) exit(1);
}
#endif

/* ---- scenes ---- */

typedef struct plant {
    const char *name;
    int n_objects;
    int64_t n_vertices, n_modes; /* of all objects */
} plant;

/* n_objects positive numbers of the given sum, (1 - spread) to (1 + spread) times their mean. */
static int64_t *mixed_sizes(int n_objects, int64_t sum, double spread, uint64_t seed)
{
    int64_t *sizes = host_array(n_objects, sizeof *sizes), total = 0;
    const double mean = (double)sum / n_objects;
    for (int i = 0; i < n_objects; i++) {
        sizes[i] = (int64_t)(mean * (1.0 + spread * (2.0 * noise(&seed) - 1.0)));
        if (sizes[i] < 1) sizes[i] = 1;
        total += sizes[i];
    }
    for (int i = 0; total != sum; i = (i + 1) % n_objects)
        if (total < sum) {
            sizes[i]++;
            total++;
        } else if (sizes[i] > 1) {
            sizes[i]--;
            total--;
        }
    return sizes;
}

/* Packs the plant; returns the floats of U that its objects have without any padding. */
static int64_t pack_plant(bench *b, const plant *p, modal_object_pack *pack)
{
    modal_error err = {0};
    modal_object_pack host;
    int64_t *n = mixed_sizes(p->n_objects, p->n_vertices, 0.8, 3);
    int64_t *r = mixed_sizes(p->n_objects, p->n_modes, 0.5, 5);
    modal_pack_object *objects = host_array(p->n_objects, sizeof *objects);
    int64_t largest = 0, point = 0, floats = 0;
    for (int i = 0; i < p->n_objects; i++) {
        const int64_t size = (n[i] + 31) / 32 * 96 * (r[i] + 1);
        if (size > largest) largest = size;
        floats += n[i] * r[i] * 3;
    }
    float *matrix = noise_array(largest); /* every object's: only the sizes matter */
    for (int i = 0; i < p->n_objects; i++) {
        objects[i] = (modal_pack_object){n[i], (int32_t)r[i], matrix, matrix, point, NULL};
        point += n[i];
    }
    need(modal_object_pack_build(&host, p->n_objects, objects, point, &err), &err);
    need(modal_object_pack_upload(pack, &host, &b->device, b->stream, &err), &err);
    modal_object_pack_free(&host);
    free(matrix);
    free(objects);
    free(n);
    free(r);
    return floats;
}

static void plant_row(bench *b, const plant *p, int64_t n_frames)
{
    static scene_case c; /* large */
    memset(&c, 0, sizeof c);
    const int64_t exact = pack_plant(b, p, &c.pack);
    const int64_t floats = c.pack.matrix_floats;
    int64_t copies = b->is_cuda ? COPIES_BYTES / (floats * 4) + 2 : 2;
    if (copies > COPIES_MAX) copies = COPIES_MAX;
    float *packed = c.pack.modal_matrix, *u = device_noise(b, floats, copies);
    float *q = device_noise(b, n_frames * p->n_modes + 4096, 1);
    float *poses = device_noise(b, n_frames * p->n_objects * 12, 1);
    float *out = device_array(&b->device, b->stream, NULL, (n_frames * p->n_vertices * 3 + 4096) * 4);
    c.task = (modal_deform_objects_task){&c.pack, n_frames, q, poses, out, NULL};
    c.copies = u;
    const int repeats = b->is_cuda && n_frames == 1 ? 50 : b->is_cuda ? 10 : 1;
    double hot = 0.0, cold = 0.0, empty = 0.0, gemv[2] = {0.0, 0.0};
    c.n_copies = 1;
    hot = median(b, run_ours, &c, repeats);
    c.n_copies = copies;
    cold = median(b, run_ours, &c, repeats);
#ifdef MODAL_HAVE_CUDA
    if (b->is_cuda) empty = median(b, run_nothing, &c, repeats);
    if (b->is_cuda && n_frames == 1) {
        const int rows = (int)(p->n_vertices / p->n_objects) * 3;
        const int modes = (int)((p->n_modes + p->n_objects / 2) / p->n_objects);
        const int64_t each = (int64_t)rows * modes * p->n_objects; /* at most about floats */
        c.n_copies = floats * copies / each < copies ? floats * copies / each : copies;
        for (int64_t i = 0; i < c.n_copies; i++)
            bench_gemv_new(&c.gemv[i], p->n_objects, rows, modes, u + i * each, q, out, b->stream);
        const int64_t all = c.n_copies;
        if (c.gemv[all - 1].ready)
            for (int i = 0; i < 2; i++) {
                c.n_copies = i == 0 ? 1 : all;
                gemv[i] = median(b, run_gemv, &c, repeats);
            }
        for (int64_t i = 0; i < all; i++) bench_gemv_delete(&c.gemv[i]);
    }
#endif
    const double points = (double)p->n_vertices, n = (double)n_frames;
    const double bytes = 4.0 * (double)exact + 12.0 * points +
                         n * (12.0 * points + 4.0 * (double)p->n_modes + 48.0 * p->n_objects);
    const double stream = bytes / b->copy_rate, floor = stream > empty / n ? stream : empty;
    printf("%-20s %6d %8lld %6lld %6lld %9.2f %9.2f %7.2f %8.2f %6.2f %6.2f %8.2f %8.2f %7.3f\n",
           p->name, p->n_objects, (long long)p->n_vertices, (long long)p->n_modes,
           (long long)n_frames, 1e6 * hot / n, 1e6 * cold / n, 1e6 * empty, 1e6 * stream / n,
           hot / floor, cold / floor, 1e6 * gemv[0], 1e6 * gemv[1],
           (double)modal_object_pack_bytes(&c.pack) / (4.0 * (double)exact + 12.0 * points));
    fflush(stdout);
    c.pack.modal_matrix = packed;
    modal_object_pack_unload(&c.pack, &b->device);
    modal_device_free(&b->device, &u);
    modal_device_free(&b->device, &q);
    modal_device_free(&b->device, &poses);
    modal_device_free(&b->device, &out);
}

static double copy_rate(bench *b, int quick)
{
    (void)b;
#ifdef MODAL_HAVE_CUDA
    if (b->is_cuda) {
        copy_case c = {.bytes = quick ? 1 << 20 : INT64_C(1) << 30};
        c.to = device_array(&b->device, b->stream, NULL, c.bytes);
        c.from = device_array(&b->device, b->stream, NULL, c.bytes);
        const double rate = 2.0 * (double)c.bytes / median(b, run_copy, &c, 1);
        modal_device_free(&b->device, &c.to);
        modal_device_free(&b->device, &c.from);
        return rate;
    }
#endif
    const size_t bytes = quick ? 1 << 20 : 256 << 20; /* one thread */
    char *from = host_array((int64_t)bytes, 1), *to = host_array((int64_t)bytes, 1);
    double best = 1e30;
    for (int i = 0; i < 5; i++) {
        struct timespec start, stop;
        from[i] = (char)i;
        clock_gettime(CLOCK_MONOTONIC, &start);
        memcpy(to, from, bytes);
        clock_gettime(CLOCK_MONOTONIC, &stop);
        const double s = (double)(stop.tv_sec - start.tv_sec) +
                         1e-9 * (double)(stop.tv_nsec - start.tv_nsec);
        if (to[i] == (char)i && s < best) best = s;
    }
    free(from);
    free(to);
    return 2.0 * (double)bytes / best;
}

int main(int argc, char **argv)
{
    static const plant plants[] = {{"Conifer", 43, 7543, 360},
                                   {"Peach", 237, 273003, 2950},
                                   {"Broad-leaved", 419, 288542, 3613},
                                   {"Eastern hemlock", 2866, 190466, 16793},
                                   {"Treesketch", 2875, 44404, 21178},
                                   {"tiny objects", 30000, 900000, 240000},
                                   {"one object", 1, 1000000, 32}};
    bench b = {0};
    const int quick = bench_device_open(argc, argv, &b.device, &b.stream);
    b.is_cuda = !b.device.shares_memory;
    b.copy_rate = copy_rate(&b, quick);
    printf("%s: %s; copy %.0f GB/s (read + written)\n", b.device.name, b.device.hardware,
           1e-9 * b.copy_rate);
    printf("microseconds; ratios are ours to the larger of empty and bytes; pack: bytes of the "
           "pack to bytes of U and xbar\n"
           "%-20s %6s %8s %6s %6s %9s %9s %7s %8s %6s %6s %8s %8s %7s\n",
           "scene", "objs", "vertices", "modes", "frames", "ours hot", "cold", "empty", "bytes",
           "hot x", "cold x", "sgemv", "cold", "pack");
    for (int i = 0; i < (quick ? 1 : 7); i++) plant_row(&b, &plants[i], 1);
    for (int i = 0; i < 5 && !quick; i++) plant_row(&b, &plants[i], b.is_cuda ? 64 : 4);
    modal_device_stream_delete(&b.device, &b.stream);
    return 0;
}
