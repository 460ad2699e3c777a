/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP over runs of vertices of every column, a run's part of the tables staying in the caches for
 * all columns. Compiled without contraction into fused multiply-adds: a degenerate triangle is known
 * by a cross product of exactly zero. */
#include <math.h>
#include <string.h>

#include "kernels/tangents_dynamic/tangents_dynamic.h"

enum { RUN = 512 };

static float triple(const float *n, const float *t, const float *b)
{
    return (n[1] * t[2] - n[2] * t[1]) * b[0] + (n[2] * t[0] - n[0] * t[2]) * b[1] +
           (n[0] * t[1] - n[1] * t[0]) * b[2];
}

static void finish(const float *n, const float *sum_u, const float *sum_v, float *tangent)
{
    const float along = n[0] * sum_u[0] + n[1] * sum_u[1] + n[2] * sum_u[2];
    float p[3], largest = 0.0f, side = triple(n, sum_u, sum_v);
    for (int i = 0; i < 3; i++) p[i] = sum_u[i] - n[i] * along;
    /* scaled by the largest component first: squares neither overflow nor underflow. NaN is none, but stays */
    for (int i = 0; i < 3; i++) largest = fabsf(p[i]) > largest ? fabsf(p[i]) : largest;
    if (p[0] == 0.0f && p[1] == 0.0f && p[2] == 0.0f) {
        memset(tangent, 0, 4 * sizeof *tangent);
        return;
    }
    for (int i = 0; i < 3; i++) p[i] /= largest;
    const float inverse = 1.0f / sqrtf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    for (int i = 0; i < 3; i++) tangent[i] = p[i] * inverse;
    if (isnan(side)) side = triple(n, tangent, sum_v); /* the products overflowed: the same side, smaller */
    tangent[3] = side < 0.0f ? -1.0f : side >= 0.0f ? 1.0f : NAN;
}

static void tangents_of_run(const modal_tangents_dynamic_task *task, int64_t c, int64_t begin,
                            int64_t end)
{
    const float *x = task->positions + 3 * c * task->n_vertices;
    const float *normals = task->normals + 3 * c * task->n_vertices;
    for (int64_t v = begin; v < end; v++) {
        float sum_u[3] = {0.0f, 0.0f, 0.0f}, sum_v[3] = {0.0f, 0.0f, 0.0f};
        const float *own = x + 3 * v;
        for (int64_t k = task->corner_offsets[v]; k < task->corner_offsets[v + 1]; k++) {
            const float *a = x + 3 * (int64_t)task->corners[2 * k];
            const float *b = x + 3 * (int64_t)task->corners[2 * k + 1], *g = task->weights + 4 * k;
            const float a0 = a[0] - own[0], a1 = a[1] - own[1], a2 = a[2] - own[2];
            const float b0 = b[0] - own[0], b1 = b[1] - own[1], b2 = b[2] - own[2];
            if (a1 * b2 - a2 * b1 == 0.0f && a2 * b0 - a0 * b2 == 0.0f && a0 * b1 - a1 * b0 == 0.0f)
                continue;
            sum_u[0] += g[0] * a0 + g[1] * b0;
            sum_u[1] += g[0] * a1 + g[1] * b1;
            sum_u[2] += g[0] * a2 + g[1] * b2;
            sum_v[0] += g[2] * a0 + g[3] * b0;
            sum_v[1] += g[2] * a1 + g[3] * b1;
            sum_v[2] += g[2] * a2 + g[3] * b2;
        }
        finish(normals + 3 * v, sum_u, sum_v, task->tangents + 4 * (c * task->n_vertices + v));
    }
}

modal_status modal_tangents_dynamic_cpu(const modal_tangents_dynamic_task *task,
                                        modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n = task->n_vertices, n_runs = (n + RUN - 1) / RUN;
    const int parallel = n * task->n_columns > 2048;
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t run = 0; run < n_runs; run++)
        for (int64_t c = 0; c < task->n_columns; c++)
            tangents_of_run(task, c, run * RUN, (run + 1) * RUN < n ? (run + 1) * RUN : n);
    return MODAL_OK;
}
