/* SPDX-License-Identifier: Apache-2.0 */
/* What a frame of objects that do not deform takes (the deformer's operation with r = 0) beside world_transform, which reads displacements: in turn, the
 * median of their ratios in pairs. Few vertices in many columns (leaflets), and many in few.
 *
 *   rigid_bench [--backend cpu|cuda[:N]] [--quick] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kernels/deform/deform.h"
#include "kernels/device.h"
#include "kernels/registry.h"
#include "kernels/world_transform/world_transform.h"
#include "tests/bench/bench_device.h"

enum { PAIRS = 25 };

static double time_once(const modal_device *device, modal_stream *stream, const modal_deform_task *rigid, const modal_world_transform_task *moved)
{
    modal_error err = {0};
    const int repeats = device->shares_memory ? 3 : 100;
    struct timespec start, stop;
    need(modal_device_stream_wait(device, stream, &err), &err);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int k = 0; k < repeats; k++)
        need(rigid ? device->kernels->deform(rigid, stream, &err) : device->kernels->world_transform(moved, stream, &err), &err);
    need(modal_device_stream_wait(device, stream, &err), &err);
    clock_gettime(CLOCK_MONOTONIC, &stop);
    return ((double)(stop.tv_sec - start.tv_sec) + 1e-9 * (double)(stop.tv_nsec - start.tv_nsec)) / repeats;
}

static void measure(const modal_device *device, modal_stream *stream, int64_t n, int64_t columns)
{
    const int64_t tiles = (n + 31) / 32;
    float *rest = host_array(96 * tiles, 4), *poses = host_array(12 * columns, 4), *u = host_array(3 * n * columns, 4);
    for (int64_t i = 0; i < 96 * tiles; i++) rest[i] = (float)(i % 97) * 0.01f;
    for (int64_t c = 0; c < columns; c++) poses[12 * c] = poses[12 * c + 5] = poses[12 * c + 10] = 1, poses[12 * c + 3] = (float)c;
    void *all[] = {device_array(device, stream, rest, 384 * tiles), device_array(device, stream, poses, 48 * columns),
                   device_array(device, stream, u, 12 * n * columns), device_array(device, stream, NULL, 12 * n * columns),
                   device_array(device, stream, NULL, 16)};
    const modal_deform_task rigid = {.n_vertices = n, .n_columns = columns, .modal_matrix = all[4], .rest_tiles = all[0], .q = all[4],
                                     .poses = all[1], .positions = all[3]};
    const modal_world_transform_task moved = {n, columns, all[0], all[2], all[1], all[3], NULL};
    double best[2] = {INFINITY, INFINITY}, ratios[PAIRS];
    for (int pair = -1; pair < PAIRS; pair++) {
        double seconds[2];
        for (int k = 0; k < 2; k++) {
            const int is_rigid = (k + pair) & 1;
            seconds[is_rigid] = time_once(device, stream, is_rigid ? &rigid : NULL, &moved);
        }
        if (pair < 0) continue;
        for (int k = 0; k < 2; k++) best[k] = fmin(best[k], seconds[k]);
        ratios[pair] = seconds[1] / seconds[0];
    }
    qsort(ratios, PAIRS, sizeof *ratios, ascending);
    printf("%9lld %9lld %14.2f %10.2f %8.3f\n", (long long)n, (long long)columns, 1e6 * best[0], 1e6 * best[1], ratios[PAIRS / 2]);
    fflush(stdout);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) modal_device_free(device, &all[i]);
    free(rest), free(poses), free(u);
}

int main(int argc, char **argv)
{
    modal_device device;
    modal_stream *stream;
    const int quick = bench_device_open(argc, argv, &device, &stream);
    printf("%s: %s\n%9s %9s %14s %10s %8s\n", device.name, device.hardware, "vertices", "columns", "us transformed", "us rigid", "ratio");
    measure(&device, stream, 6, quick ? 2000 : 217894);
    measure(&device, stream, 33, quick ? 400 : 40000);
    measure(&device, stream, 128, quick ? 100 : 10000);
    measure(&device, stream, quick ? 3000 : 1000000, 1);
    measure(&device, stream, quick ? 300 : 100000, 16);
    modal_device_stream_delete(&device, &stream);
    return 0;
}
