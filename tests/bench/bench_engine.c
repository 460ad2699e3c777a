/* SPDX-License-Identifier: Apache-2.0 */
/* The deformer into a null sink: results are collected and dropped. What it brings to main memory a
 * second is compared with a plain copy of pinned memory from the same device, in the same run.
 *
 *   bench_engine [--backend NAME] [--quick] [--shapes S] [--vertices N] [--modes R] [--frames F]
 *                [--device-limit BYTES] [--memory-limit BYTES] [--packing -1|0|1]
 *
 * --shapes: as many shapes of N vertices each, with one object each.
 * --device-limit makes the modal matrix too large for the device: its tiles then come from main
 * memory for every batch, or with --memory-limit from where the basis is. Several devices (cuda:0,1) are compared with a copy from
 * the first one. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/device.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/deform/deform.h"

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void must(modal_status status, const modal_error *err)
{
    if (status == MODAL_OK) return;
    fprintf(stderr, "bench_engine: %s\n", err->message);
    exit(status == MODAL_ERROR_SYSTEM ? 77 : 1);
}

/* GB/s of copies of 64 MB from the device to pinned memory, three in turn. */
static double plain_copy(const char *back_end, int n_copies)
{
    enum { BYTES = 64 << 20, BUFFERS = 3 };
    modal_error err = {0};
    modal_device device;
    modal_stream *stream = NULL;
    char *host[BUFFERS], *memory = NULL, first[32];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(back_end, ","), back_end);
    must(modal_device_open(&device, strcmp(first, "cuda:all") == 0 ? "cuda" : first, &err), &err);
    must(modal_device_stream_new(&device, &stream, &err), &err);
    must(modal_device_alloc(&device, &memory, BYTES, 1, "memory", &err), &err);
    double start = 0.0;
    for (int i = 0; i < BUFFERS; i++) {
        must(modal_device_alloc_host(&device, &host[i], BYTES, 1, "memory", &err), &err);
        memset(host[i], 1, BYTES);
    }
    must(modal_device_copy_in(&device, memory, host[0], BYTES, stream, &err), &err);
    for (int i = -BUFFERS; i < n_copies; i++) {
        if (i == 0) {
            must(modal_device_stream_wait(&device, stream, &err), &err);
            start = seconds();
        }
        must(modal_device_copy_out(&device, host[(i + BUFFERS) % BUFFERS], memory, BYTES, stream,
                                   &err),
             &err);
    }
    must(modal_device_stream_wait(&device, stream, &err), &err);
    const double rate = 1e-9 * BYTES * n_copies / (seconds() - start);
    for (int i = 0; i < BUFFERS; i++) modal_device_free_host(&device, &host[i]);
    modal_device_free(&device, &memory);
    modal_device_stream_delete(&device, &stream);
    return rate;
}

static void *zeroed(int64_t count, size_t item_bytes)
{
    void *memory = NULL;
    modal_error err = {0};
    must(modal_alloc_zero(&memory, count, item_bytes, "basis", &err), &err);
    return memory;
}

/* A square grid of about n vertices with a random matrix. */
static void make_shape(modal_shape *s, int64_t n, int32_t r)
{
    int64_t width = 1;
    while ((width + 1) * (width + 1) <= n) width++;
    s->surface.n_vertices = n = width * width;
    s->modes.n_modes = r;
    s->surface.n_triangles = 2 * (width - 1) * (width - 1);
    s->surface.rest_positions = zeroed(3 * n, sizeof(double));
    s->surface.triangles = zeroed(3 * s->surface.n_triangles, sizeof(int32_t));
    s->surface.user_vertex = zeroed(n, sizeof(int32_t));
    s->surface.user_triangle = zeroed(s->surface.n_triangles, sizeof(int32_t));
    s->surface.face_offsets = zeroed(n + 1, sizeof(int64_t));
    s->surface.faces = zeroed(3 * s->surface.n_triangles, sizeof(int32_t));
    s->modes.modal_matrix = zeroed(modal_tile_count(n) * 96 * r, sizeof(float));
    uint64_t state = 1;
    for (int64_t i = 0; i < modal_tile_count(n) * 96 * r; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        s->modes.modal_matrix[i] = (float)(int32_t)(state >> 32) * 0x1p-31f;
    }
    for (int64_t v = 0; v < n; v++) {
        s->surface.rest_positions[3 * v] = (double)(v % width);
        s->surface.rest_positions[3 * v + 1] = (double)(v / width);
        /* neighbours in the user's file lie near each other in the stored order, as in real meshes */
        s->surface.user_vertex[v] = (int32_t)(v / 1024 * 1024 + 1024 <= n ? v ^ 7 : v);
    }
    int64_t t = 0;
    for (int64_t i = 0; i + 1 < width; i++)
        for (int64_t j = 0; j + 1 < width; j++) {
            const int32_t v = (int32_t)(i * width + j), w = (int32_t)width;
            const int32_t six[6] = {v, v + 1, v + w, v + 1 + w, v + w, v + 1};
            memcpy(s->surface.triangles + 3 * t, six, sizeof six);
            t += 2;
        }
    for (int64_t i = 0; i < 3 * s->surface.n_triangles; i++) s->surface.face_offsets[s->surface.triangles[i] + 1]++;
    for (int64_t v = 0; v < n; v++) s->surface.face_offsets[v + 1] += s->surface.face_offsets[v];
    for (int64_t i = 3 * s->surface.n_triangles - 1; i >= 0; i--)
        s->surface.faces[--s->surface.face_offsets[s->surface.triangles[i] + 1]] = (int32_t)(i / 3);
    for (int64_t v = 0; v < n; v++) s->surface.face_offsets[v] = s->surface.face_offsets[v + 1];
    s->surface.face_offsets[n] = 3 * s->surface.n_triangles;
}

static void make_basis(modal_basis *basis, int32_t n_shapes, int64_t n, int32_t r)
{
    memset(basis, 0, sizeof *basis);
    basis->n_shapes = basis->n_objects = n_shapes;
    basis->shapes = zeroed(n_shapes, sizeof *basis->shapes);
    basis->objects = zeroed(n_shapes, sizeof *basis->objects);
    for (int32_t i = 0; i < n_shapes; i++) {
        make_shape(&basis->shapes[i], n, r);
        basis->objects[i].shape = i;
        basis->objects[i].parent = -1;
        for (int k = 0; k < 3; k++) basis->objects[i].rest_pose[5 * k] = 1.0;
    }
}

typedef struct job {
    modal_deformer *deformer;
    int64_t n_frames;
    const double *q;
} job;

static void *submit_all(void *argument)
{
    job *j = argument;
    modal_error err = {0};
    const int64_t batch = modal_deformer_batch_frames(j->deformer);
    for (int64_t f = 0; f < j->n_frames; f += batch)
        must(modal_deformer_submit(j->deformer, j->n_frames - f < batch ? j->n_frames - f : batch,
                                   j->q, NULL, &err),
             &err);
    return NULL;
}

static void measure(const modal_basis *basis, const modal_deform_request *request,
                    const char *label, const double *q, double copy_rate)
{
    modal_error err = {0};
    job j = {.n_frames = request->n_frames, .q = q};
    double start = seconds(), prepared, worst = 0.0;
    must(modal_deformer_new(&j.deformer, basis, request, &err), &err);
    prepared = seconds() - start;
    const int64_t outputs =
        1 + (request->normals != MODAL_NORMALS_NONE) + (request->displacement != 0);
    for (int pass = 0; pass < 3; pass++) {
        pthread_t thread;
        start = seconds();
        if (pthread_create(&thread, NULL, submit_all, &j) != 0) abort();
        for (int64_t f = 0; f < j.n_frames;) {
            modal_deform_batch b;
            must(modal_deformer_collect(j.deformer, &b, &err), &err);
            f += b.n_frames;
            modal_deformer_release(j.deformer, &b);
        }
        pthread_join(thread, NULL);
        const double time = seconds() - start;
        if (pass > 0 && time > worst) worst = time; /* the first pass warms up */
    }
    const double rate =
        1e-9 * 12.0 *
        (double)(basis->n_shapes * basis->shapes[0].surface.n_vertices * outputs * j.n_frames) / worst;
    printf("%-10s %-24s %8.1f %10.1f %8.1f %8.1f %6.1f %% %8lld %8.2f\n",
           modal_deformer_back_end(j.deformer), label, 1e3 * prepared, 1e3 * worst, rate, copy_rate,
           100.0 * rate / copy_rate, (long long)modal_deformer_batch_frames(j.deformer),
           1e-9 * (double)modal_deformer_streamed_bytes(j.deformer));
    fflush(stdout);
    modal_deformer_delete(j.deformer);
}

int main(int argc, char **argv)
{
    modal_basis basis;
    modal_deform_request request = {.back_end = "auto", .n_frames = 200};
    int64_t n = 1000000, r = 32, n_shapes = 1;
    int quick = 0;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--quick") == 0) {
            quick = 1;
            n = 20000;
            request.n_frames = 40;
            continue;
        }
        if (strcmp(argv[i], "--backend") == 0) request.back_end = value;
        else if (strcmp(argv[i], "--vertices") == 0) n = atoll(value);
        else if (strcmp(argv[i], "--shapes") == 0) n_shapes = atoll(value);
        else if (strcmp(argv[i], "--packing") == 0) request.packing = atoi(value);
        else if (strcmp(argv[i], "--modes") == 0) r = atoll(value);
        else if (strcmp(argv[i], "--frames") == 0) request.n_frames = atoll(value);
        else if (strcmp(argv[i], "--device-limit") == 0) request.device_limit = atoll(value);
        else if (strcmp(argv[i], "--memory-limit") == 0) request.memory_limit = atoll(value);
        else {
            fprintf(stderr, "bench_engine: %s: unknown\n", argv[i]);
            return 2;
        }
        i++;
    }
    const double copy_rate = plain_copy(request.back_end, quick ? 4 : 200);
    make_basis(&basis, (int32_t)n_shapes, n, (int32_t)r);
    const int64_t n_q = request.n_frames * r * n_shapes;
    double *q = zeroed(n_q, sizeof *q);
    for (int64_t i = 0; i < n_q; i++) q[i] = 1e-3 * (double)(i % 17 - 8);
    printf("%lld shapes, n = %lld, r = %lld, %lld frames, worse of two passes\n"
           "back end   results                  prepare ms     run ms     GB/s plain copy, ratio "
           "frames a batch, GB of U a batch\n",
           (long long)n_shapes, (long long)basis.shapes[0].surface.n_vertices, (long long)r, (long long)request.n_frames);
    measure(&basis, &request, "positions", q, copy_rate);
    request.normals = MODAL_NORMALS_DYNAMIC;
    measure(&basis, &request, "and dynamic normals", q, copy_rate);
    request.displacement = 1;
    measure(&basis, &request, "and displacement", q, copy_rate);
    modal_free(&q);
    modal_basis_free(&basis);
    return 0;
}
