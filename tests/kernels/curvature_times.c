/* SPDX-License-Identifier: Apache-2.0 */
/* Tests nothing: processor time of normals_corner and curvature_tensor (four scalars and a direction) of one surface on the CPU,
 * for tests/python/check_curvature_trimesh2.py. IN: int64 n, m; float32 positions [n, 3]; int32 triangles [m, 3]. OUT: float32
 * k_max, k_min [n, 2]. Prints seconds of one thread, and of two the larger share; fastest of RUNS.
 *
 *   curvature_times IN OUT RUNS */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kernels/curvature_tensor/curvature_tensor.h"
#include "kernels/normals_corner/normals_corner.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/curvature/curvature.h"

enum { THREADS = 2 };

static void check(modal_status status, const modal_error *err)
{
    if (status == MODAL_OK) return;
    fprintf(stderr, "curvature_times: %s\n", err->message);
    exit(1);
}

static void *array_of(int64_t count, size_t bytes)
{
    modal_error err = {0};
    void *memory = NULL;
    check(modal_alloc_zero(&memory, count, bytes, "times", &err), &err);
    return memory;
}

/* Of each thread of a team. */
static void processor_seconds(double seconds[THREADS])
{
#pragma omp parallel
    {
        struct timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        seconds[omp_get_thread_num()] = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    }
}

/* The most that a thread of the team works. */
static double work(int n_threads, int runs, const modal_normals_corner_task *normals, const modal_curvature_tensor_task *tensor)
{
    modal_error err = {0};
    modal_device device;
    double best = INFINITY;
    omp_set_num_threads(n_threads);
    check(modal_device_open(&device, "cpu", &err), &err);
    for (int run = 0; run < runs; run++) {
        double before[THREADS] = {0}, after[THREADS] = {0}, most = 0.0;
        processor_seconds(before);
        check(device.kernels->normals_corner(normals, NULL, &err), &err);
        check(device.kernels->curvature_tensor(tensor, NULL, &err), &err);
        processor_seconds(after);
        for (int t = 0; t < n_threads; t++) most = fmax(most, after[t] - before[t]);
        best = fmin(best, most);
    }
    return best;
}

int main(int argc, char **argv)
{
    modal_error err = {0};
    int64_t head[2];
    modal_curvature_topology t;
    FILE *in = argc == 4 ? fopen(argv[1], "rb") : NULL, *to = argc == 4 ? fopen(argv[2], "wb") : NULL;
    if (!in || !to || fread(head, 8, 2, in) != 2) return 2;
    const int64_t n = head[0], m = head[1];
    const int runs = atoi(argv[3]);
    float *x = array_of(3 * n, 4), *normals = array_of(3 * n, 4), *out = array_of(9 * n, 4);
    int32_t *triangles = array_of(3 * m, 4);
    if (fread(x, 12, (size_t)n, in) != (size_t)n || fread(triangles, 12, (size_t)m, in) != (size_t)m) return 2;
    check(modal_curvature_topology_build(n, m, triangles, &t, &err), &err);
    const float scale = (float)exp2(floor(-log2(modal_curvature_mean_edge(m, triangles, x))));
    const modal_normals_corner_task corner = {n, 1, t.ring_offsets, t.ring, x, scale, normals, NULL};
    const modal_curvature_tensor_task tensor = {{n, 1, t.ring_offsets, t.ring, x, normals, scale, NULL},
                                                {.k_max = out, .k_min = out + n, .mean = out + 2 * n, .gauss = out + 3 * n,
                                                 .direction_max = out + 4 * n}};
    const double one = work(1, runs, &corner, &tensor), two = work(THREADS, runs, &corner, &tensor);
    printf("%.9g %.9g\n", one, two);
    for (int64_t v = 0; v < n; v++) {
        const float k[2] = {out[v], out[n + v]};
        if (fwrite(k, 4, 2, to) != 2) return 4;
    }
    modal_free(&x);
    modal_free(&normals);
    modal_free(&out);
    modal_free(&triangles);
    modal_curvature_topology_free(&t);
    fclose(in);
    return fclose(to) != 0;
}
