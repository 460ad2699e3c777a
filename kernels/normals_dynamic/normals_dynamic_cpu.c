/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP over runs of vertices; four columns at a time, so that the table of corners is read and
 * decoded once for four and their gathers overlap. Compiled without contraction into fused
 * multiply-adds: with them, the cross product of an edge with itself is a rounding error instead of
 * zero, and a degenerate triangle would get a direction. */
#include <math.h>

#include "kernels/normals_dynamic/normals_dynamic.h"

enum { RUN = 256, WIDTH = 4 };

static inline __attribute__((always_inline)) void
normals_of_vertex(const modal_normals_dynamic_task *task, int64_t v, int64_t c, const int width)
{
    const int64_t stride = 3 * task->n_vertices;
    const float *x = task->positions + c * stride;
    float own[WIDTH][3], sum[WIDTH][3];
    for (int j = 0; j < width; j++)
        for (int i = 0; i < 3; i++) {
            own[j][i] = x[j * stride + 3 * v + i];
            sum[j][i] = 0.0f;
        }
    for (int64_t k = task->corner_offsets[v]; k < task->corner_offsets[v + 1]; k++) {
        const float *first = x + 3 * (int64_t)task->corners[2 * k];
        const float *second = x + 3 * (int64_t)task->corners[2 * k + 1];
        for (int j = 0; j < width; j++) {
            const float a0 = first[j * stride] - own[j][0], b0 = second[j * stride] - own[j][0];
            const float a1 = first[j * stride + 1] - own[j][1];
            const float b1 = second[j * stride + 1] - own[j][1];
            const float a2 = first[j * stride + 2] - own[j][2];
            const float b2 = second[j * stride + 2] - own[j][2];
            sum[j][0] += a1 * b2 - a2 * b1;
            sum[j][1] += a2 * b0 - a0 * b2;
            sum[j][2] += a0 * b1 - a1 * b0;
        }
    }
    for (int j = 0; j < width; j++) {
        float *normal = task->normals + (c + j) * stride + 3 * v;
        /* scaled by the largest component first: squares neither overflow nor underflow */
        float largest = fabsf(sum[j][0]);
        if (fabsf(sum[j][1]) > largest) largest = fabsf(sum[j][1]);
        if (fabsf(sum[j][2]) > largest) largest = fabsf(sum[j][2]);
        if (largest == 0.0f) {
            normal[0] = normal[1] = normal[2] = 0.0f;
            continue;
        }
        const float n0 = sum[j][0] / largest, n1 = sum[j][1] / largest, n2 = sum[j][2] / largest;
        const float inverse = 1.0f / sqrtf(n0 * n0 + n1 * n1 + n2 * n2);
        normal[0] = n0 * inverse;
        normal[1] = n1 * inverse;
        normal[2] = n2 * inverse;
    }
}

modal_status modal_normals_dynamic_cpu(const modal_normals_dynamic_task *task,
                                       modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n = task->n_vertices, n_runs = (n + RUN - 1) / RUN;
    const int parallel = n * task->n_columns > 2048;
    for (int64_t c = 0; c < task->n_columns;) {
        const int width = task->n_columns - c >= WIDTH ? WIDTH : 1;
#pragma omp parallel for schedule(static) if (parallel)
        for (int64_t run = 0; run < n_runs; run++) {
            const int64_t end = (run + 1) * RUN < n ? (run + 1) * RUN : n;
            for (int64_t v = run * RUN; v < end; v++) {
                if (width == WIDTH)
                    normals_of_vertex(task, v, c, WIDTH);
                else
                    normals_of_vertex(task, v, c, 1);
            }
        }
        c += width;
    }
    return MODAL_OK;
}
