/* SPDX-License-Identifier: Apache-2.0 */
/* Natural modes of a clamped bar, beside a rival: arguments NX,NY,NZ [N_MODES [ROUNDS]], the bar, what is printed. */
#ifndef TESTS_BENCH_BAR_BENCH_H
#define TESTS_BENCH_BAR_BENCH_H

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/unit/solid_fixtures.h"

typedef struct bar_bench {
    modal_volume_mesh mesh;
    int32_t *fixed; /* [n_fixed] */
    int n_fixed, n_modes, rounds, n_threads;
} bar_bench;

/* Seconds of all processors that this process used: what a loaded machine leaves to compare. */
static inline double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* 0, and `usage` is printed, where the first argument is not NX,NY,NZ. */
static inline int bar_bench_open(bar_bench *bar, int argc, char **argv, const char *usage)
{
    const double size[3] = {1, 0.3, 0.31};
    int c[3];
    if (argc < 2 || sscanf(argv[1], "%d,%d,%d", c, c + 1, c + 2) != 3) {
        fprintf(stderr, "usage: %s\n", usage);
        return 0;
    }
    bar->n_modes = argc > 2 ? atoi(argv[2]) : 30;
    bar->rounds = argc > 3 ? atoi(argv[3]) : 3;
    bar->n_threads = getenv("MODAL_THREADS") ? atoi(getenv("MODAL_THREADS")) : omp_get_max_threads();
    bar->n_fixed = (c[1] + 1) * (c[2] + 1);
    bar->fixed = malloc((size_t)bar->n_fixed * sizeof *bar->fixed);
    for (int i = 0; i < bar->n_fixed; i++) bar->fixed[i] = i;
    solid_bar(&bar->mesh, c[0], c[1], c[2], size, 1, 2e11, 0.3, 7800);
    printf("%lld nodes, %d modes, %d threads\n", (long long)bar->mesh.n_nodes, bar->n_modes, bar->n_threads);
    return 1;
}

static inline void bar_bench_close(bar_bench *bar)
{
    modal_volume_mesh_free(&bar->mesh);
    free(bar->fixed);
}

/* `worst`: the largest relative difference of two eigenvalues. */
static inline void bar_bench_compare(double ours, double theirs, double cpu, double rival_cpu, double worst)
{
    printf("ratio %.3f; of processor seconds (%.2f, %.2f) %.3f; eigenvalues differ by %.1e\n", ours / theirs, cpu,
           rival_cpu, cpu / rival_cpu, worst);
    fflush(stdout);
}

#endif
