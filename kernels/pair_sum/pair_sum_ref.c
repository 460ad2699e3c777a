/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kernels/pair_sum/pair_sum.h"

/* A thread fills more than the cost of waking it from some ten thousand pairs on. */
static const int64_t PARALLEL_BODIES = 128;

int32_t modal_pair_sum_parts(int64_t n) { return n <= 65536 ? 16 : 8; }

int64_t modal_pair_sum_work(int64_t n) { return 4 * n * modal_pair_sum_parts(n); }

/* The force on body i. All factors of a pair are the same for both, or opposite. */
static void add_pairs(int64_t n, const double *bodies, double square, int64_t i, double *force)
{
    const double *own = bodies + 4 * i;
    double sum[3] = {0.0, 0.0, 0.0};
    for (int64_t j = 0; j < n; j++) {
        const double *b = bodies + 4 * j, d[3] = {b[0] - own[0], b[1] - own[1], b[2] - own[2]};
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], soft = r2 + square;
        const double s = r2 > 0.0 ? own[3] * b[3] / (soft * sqrt(soft)) : 0.0;
        for (int c = 0; c < 3; c++) sum[c] += s * d[c];
    }
    for (int c = 0; c < 3; c++) force[c] = sum[c];
}

void modal_pair_sum_exact(int64_t n, const double *bodies, double softening, double *forces)
{
#pragma omp parallel for schedule(static) if (n > PARALLEL_BODIES)
    for (int64_t i = 0; i < n; i++) add_pairs(n, bodies, softening * softening, i, forces + 3 * i);
}

modal_status modal_pair_sum_ref(const modal_pair_sum_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n = task->n_bodies;
    const double l = (double)task->softening;
    for (int64_t i = 0; i < n; i++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int64_t j = 0; j < n; j++) {
            const float *a = task->bodies + 4 * i, *b = task->bodies + 4 * j;
            const double d[3] = {(double)b[0] - (double)a[0], (double)b[1] - (double)a[1], (double)b[2] - (double)a[2]};
            const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + l * l, s = (double)b[3] / (r2 * sqrt(r2));
            for (int c = 0; c < 3; c++) sum[c] += s * d[c];
        }
        for (int c = 0; c < 3; c++) task->sums[3 * i + c] = (float)sum[c];
    }
    return MODAL_OK;
}
