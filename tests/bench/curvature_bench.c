/* SPDX-License-Identifier: Apache-2.0 */
/* Times the operations on curvature on one back end: a torus of 675 x 675 vertices (the size of the 2020 paper's
 * dragon) in the order that the tools store vertices in, and shuffled; the saddle z = x^2 - y^2 of 500,000 triangles,
 * vertices aside by up to 0.3 of a step and diagonals at random, in that order and shuffled; a bunny's size. One frame
 * and sixteen at once. The fastest of several runs, wall clock around enough calls in a row; microseconds a frame.
 *
 *   curvature_bench [--backend cpu|cuda[:N]] [--quick] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/curvature_derivative/curvature_derivative.h"
#include "kernels/curvature_fit/curvature_fit.h"
#include "kernels/curvature_ring/curvature_ring.h"
#include "kernels/curvature_tensor/curvature_tensor.h"
#include "kernels/device.h"
#include "kernels/normals_corner/normals_corner.h"
#include "kernels/tensor_smooth/tensor_smooth.h"
#include "lib/base/memory.h"
#include "tests/bench/bench_device.h"
#include "tests/bench/ring_mesh.h"

enum { RUNS = 9 };

typedef struct bench {
    modal_device device;
    modal_stream *stream;
    int64_t n, n_columns;
    modal_normals_corner_task normals;
    modal_curvature_tensor_task tensor, whole;
    modal_curvature_ring_task ring;
    modal_curvature_derivative_task derivative;
    modal_tensor_smooth_task smooth;
    modal_curvature_fit_task fit_2, fit_4;
} bench;

static void *upload(bench *b, const void *host, int64_t bytes)
{
    return device_array(&b->device, b->stream, host, bytes);
}

static void mesh_tables(bench *b, ring_shape shape, int shuffled, int64_t width)
{
    modal_error err = {0};
    ring_mesh *mesh;
    need(ring_mesh_new(&mesh, shape, width, 0.3, shuffled, &err), &err);
    const int64_t n = mesh->n_vertices, n_tiles = (n + 31) / 32, *ring_offsets = mesh->ring_offsets;
    const int32_t *ring = mesh->ring;
    const float scale = mesh->scale;
    float *x = host_array(3 * n * b->n_columns, 4);
    int32_t *near[2];
    int64_t *near_offsets[2];
    for (int64_t i = 0; i < 3 * n * b->n_columns; i++) x[i] = (float)mesh->positions[i % (3 * n)];
    for (int k = 0; k < 2; k++)
        need(modal_neighbour_rings(n, ring_offsets, ring, 2 + k, &near_offsets[k], &near[k], &err), &err);
    float *normals = upload(b, NULL, 12 * n * b->n_columns), *tensors = upload(b, NULL, 12 * n * b->n_columns);
    float *out[7];
    for (int k = 0; k < 7; k++) out[k] = upload(b, NULL, (k < 5 ? 4 : 16) * n * b->n_columns);
    b->n = n;
    b->normals = (modal_normals_corner_task){n, b->n_columns, upload(b, ring_offsets, 8 * (n_tiles + 1)),
                                             upload(b, ring, 128 * ring_offsets[n_tiles]),
                                             upload(b, x, 12 * n * b->n_columns), scale, normals};
    const modal_curvature_surface surface = {
        n, b->n_columns, b->normals.ring_offsets, b->normals.ring, b->normals.positions, normals, scale};
    const modal_curvature_output output = {
        .k_max = out[0], .k_min = out[1], .mean = out[2], .gauss = out[3], .direction_max = out[5]};
    b->tensor = (modal_curvature_tensor_task){surface, {.tensors = tensors, .areas = out[4]}};
    b->whole = (modal_curvature_tensor_task){surface, output};
    b->ring = (modal_curvature_ring_task){surface, output};
    b->derivative = (modal_curvature_derivative_task){surface, tensors, out[6]};
    b->fit_2 = (modal_curvature_fit_task){n, b->n_columns, upload(b, near_offsets[0], 8 * (n_tiles + 1)),
                                          upload(b, near[0], 128 * near_offsets[0][n_tiles]), surface.positions,
                                          normals, 2, output, NULL};
    b->fit_4 = b->fit_2;
    b->fit_4.degree = 4;
    b->fit_4.neighbour_offsets = upload(b, near_offsets[1], 8 * (n_tiles + 1));
    b->fit_4.neighbours = upload(b, near[1], 128 * near_offsets[1][n_tiles]);
    b->smooth = (modal_tensor_smooth_task){n, b->n_columns, b->fit_2.neighbour_offsets, b->fit_2.neighbours,
                                           surface.positions, normals, out[4], tensors, 6.0f / (float)width, output};
    for (int k = 0; k < 2; k++) modal_free(&near[k]), modal_free(&near_offsets[k]);
    ring_mesh_delete(mesh);
    free(x);
}

static void free_tables(bench *b)
{
    const void *all[] = {b->normals.ring_offsets, b->normals.ring, b->normals.positions, b->normals.normals,
                         b->tensor.output.tensors, b->tensor.output.areas, b->whole.output.k_max,
                         b->whole.output.k_min, b->whole.output.mean, b->whole.output.gauss,
                         b->whole.output.direction_max, b->derivative.derivatives, b->fit_2.neighbour_offsets,
                         b->fit_2.neighbours, b->fit_4.neighbour_offsets, b->fit_4.neighbours};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) modal_device_free(&b->device, &all[i]);
}

enum { NORMALS = 1, WHOLE = 2, RING = 4, TENSOR = 8, DERIVATIVE = 16, SMOOTH = 32, FIT_2 = 64, FIT_4 = 128 };

static void call(bench *b, int what)
{
    modal_error err = {0};
    const modal_kernels *kernels = b->device.kernels;
    if (what & NORMALS) need(kernels->normals_corner(&b->normals, b->stream, &err), &err);
    if (what & WHOLE) need(kernels->curvature_tensor(&b->whole, b->stream, &err), &err);
    if (what & RING) need(kernels->curvature_ring(&b->ring, b->stream, &err), &err);
    if (what & TENSOR) need(kernels->curvature_tensor(&b->tensor, b->stream, &err), &err);
    if (what & DERIVATIVE) need(kernels->curvature_derivative(&b->derivative, b->stream, &err), &err);
    if (what & SMOOTH) need(kernels->tensor_smooth(&b->smooth, b->stream, &err), &err);
    if (what & FIT_2) need(kernels->curvature_fit(&b->fit_2, b->stream, &err), &err);
    if (what & FIT_4) need(kernels->curvature_fit(&b->fit_4, b->stream, &err), &err);
}

static double seconds_of(bench *b, int what)
{
    modal_error err = {0};
    double best = INFINITY;
    const int repeats = b->device.shares_memory || what & FIT_4 ? 1 : 50;
    for (int run = 0; run < RUNS; run++) {
        struct timespec start, stop;
        need(modal_device_stream_wait(&b->device, b->stream, &err), &err);
        clock_gettime(CLOCK_MONOTONIC, &start);
        for (int k = 0; k < repeats; k++) call(b, what);
        need(modal_device_stream_wait(&b->device, b->stream, &err), &err);
        clock_gettime(CLOCK_MONOTONIC, &stop);
        best = fmin(best, ((double)(stop.tv_sec - start.tv_sec) + 1e-9 * (double)(stop.tv_nsec - start.tv_nsec)) /
                              repeats);
    }
    return best;
}

static void measure(bench *b, const char *name, ring_shape shape, int shuffled, int64_t width, int64_t columns)
{
    static const struct {
        const char *name;
        int what;
    } rows[] = {{"normals_corner", NORMALS},         {"curvature_tensor", WHOLE},
                {"normals and curvature_tensor", NORMALS | WHOLE}, {"normals and curvature_ring", NORMALS | RING},
                {"curvature_derivative", DERIVATIVE}, {"tensor_smooth, 2 rings", SMOOTH},
                {"curvature_fit, degree 2, 2 rings", FIT_2}, {"curvature_fit, degree 4, 3 rings", FIT_4}};
    b->n_columns = columns;
    mesh_tables(b, shape, shuffled, width);
    call(b, NORMALS | TENSOR);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].what == FIT_4 && columns > 1) continue;
        const double seconds = seconds_of(b, rows[i].what) / (double)columns;
        printf("%-20s %9lld %5lld  %-34s %11.2f %9.1f\n", name, (long long)b->n, (long long)columns, rows[i].name,
               1e6 * seconds, 1e9 * seconds / (double)b->n);
        fflush(stdout);
    }
    free_tables(b);
}

int main(int argc, char **argv)
{
    bench b = {0};
    const int quick = bench_device_open(argc, argv, &b.device, &b.stream);
    printf("%s: %s\n%-20s %9s %5s  %-34s %11s %9s\n", b.device.name, b.device.hardware, "mesh", "vertices", "cols",
           "operation", "us/frame", "ns/vertex");
    for (int64_t columns = 1; columns <= 16; columns += 15) {
        measure(&b, "torus", RING_TORUS, 0, quick ? 40 : 675, columns);
        if (quick) continue;
        measure(&b, "torus, shuffled", RING_TORUS, 1, 675, columns);
        measure(&b, "saddle", RING_IRREGULAR, 0, 501, columns);
        measure(&b, "saddle, shuffled", RING_IRREGULAR, 1, 501, columns);
        measure(&b, "saddle, small", RING_IRREGULAR, 0, 64, columns);
    }
    modal_device_stream_delete(&b.device, &b.stream);
    return 0;
}
