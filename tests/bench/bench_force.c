/* SPDX-License-Identifier: Apache-2.0 */
/* Not a test: nanoseconds of an evaluation of reduced St. Venant-Kirchhoff forces, one thread, random coefficients.
 * Least of several rounds. usage: bench_force [R ...] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kernels/cpu.h"
#include "kernels/reduced_step/reduced_force.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *aligned(int64_t count)
{
    double *memory = aligned_alloc(64, (size_t)count * sizeof(double));
    if (!memory) exit(4);
    for (int64_t i = 0; i < count; i++) memory[i] = (double)rand() / RAND_MAX - 0.5;
    return memory;
}

static void measure(int32_t r)
{
    double *table = aligned(modal_step_energy_size(r)), *scratch = aligned(modal_reduced_force_scratch(r));
    double *q = aligned(modal_step_padded(r)), *force = aligned(modal_step_padded(r)), best = 1e9, sum = 0;
    const int turns = 1 + (int)(2e7 / pow(r, 4));
    for (int round = 0; round < 30; round++) {
        const double start = now();
        for (int i = 0; i < turns; i++) {
            q[0] = 1e-3 * i;
            modal_reduced_force_cpu(r, table, q, scratch, force);
            sum += force[0];
        }
        const double each = (now() - start) / turns;
        if (each < best) best = each;
    }
    printf("%4d %14lld %12.0f %12.1f %s\n", r, (long long)(modal_step_energy_size(r) * 8), 1e9 * best,
           (double)modal_step_energy_size(r) * 8e-9 / best, isfinite(sum) ? "" : "not finite");
    free(table);
    free(scratch);
    free(q);
    free(force);
}

int main(int argc, char **argv)
{
    static const int32_t standard[] = {7, 10, 20, 30, 60, 100};
    printf("%s\n%4s %14s %12s %12s\n", modal_cpu_simd_name(modal_cpu_simd()), "r", "table, bytes", "force, ns", "GB/s");
    for (int i = 1; i < argc; i++) {
        const int r = atoi(argv[i]);
        if (r < 1 || r > 200) {
            fprintf(stderr, "bench_force: R is from 1 to 200, %s\n", argv[i]);
            return 2;
        }
        measure(r);
    }
    for (int i = 0; argc == 1 && i < 6; i++) measure(standard[i]);
    return 0;
}
