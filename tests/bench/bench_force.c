/* SPDX-License-Identifier: Apache-2.0 */
/* Not a test: nanoseconds of an evaluation of reduced St. Venant-Kirchhoff forces, alone and with their stiffness
 * matrix, one thread, random coefficients. Least of several rounds; "stiffness" is the difference.
 * usage: bench_force [R ...] */
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
    const int64_t stiffness = modal_step_stiffness_rows(r, 1) * modal_step_pairs(r), energy = modal_step_energy_size(r);
    double *tables = aligned(modal_step_padded(stiffness)), *table = aligned(modal_step_padded(energy));
    double *memory = aligned(modal_step_padded(modal_reduced_force_memory(r)));
    double *q = aligned(modal_step_padded(r)), *force = aligned(modal_step_padded(r)), *tangent = aligned(modal_step_pairs(r));
    double best[2] = {1e9, 1e9}, sum = 0;
    const int turns = 1 + (int)(2e7 / pow(r, 4));
    for (int round = 0; round < 60; round++) {
        const int both = round % 2;
        const double start = now();
        for (int i = 0; i < turns; i++) {
            q[0] = 1e-3 * i;
            modal_reduced_force_cpu(r, tables, table, q, memory, force, both ? tangent : NULL);
            sum += force[0] + tangent[0];
        }
        const double each = (now() - start) / turns;
        if (each < best[both]) best[both] = each;
    }
    const double bytes = 8 * (double)energy, all = bytes + (r > MODAL_STEP_TABLE_MODES ? 0 : 8 * (double)stiffness);
    printf("%4d %12.0f %12.0f %12.0f %12.0f %12.1f %12.1f %s\n", r, all, 1e9 * best[0], 1e9 * (best[1] - best[0]),
           1e9 * best[1], 1e-9 * bytes / best[0], 1e-9 * all / best[1], isfinite(sum) ? "" : "not finite");
    free(tables);
    free(table);
    free(memory);
    free(q);
    free(force);
    free(tangent);
}

int main(int argc, char **argv)
{
    static const int32_t standard[] = {7, 10, 20, 30, 60, 100};
    printf("%s\n%4s %12s %12s %12s %12s %12s %12s\n", modal_cpu_simd_name(modal_cpu_simd()), "r", "tables, bytes",
           "force, ns", "stiffness", "both", "force, GB/s", "both, GB/s");
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
