/* SPDX-License-Identifier: Apache-2.0 */
/* The wedges below n_vertices take the way of kernels/normals_dynamic where their rows lie as it writes them (one column at a time);
 * the further ones, which are few, are done one by one. Compiled without contraction, as there. */
#include <float.h>
#include <math.h>

#include "kernels/normals_dynamic/normals_dynamic.h"
#include "kernels/normals_wedge/normals_wedge.h"

enum { RUN = 4096 };

/* Where squares could overflow or underflow, scaled by a power of two first: exact. */
static inline void normalise(float sum[3], float normal[3])
{
    float square = sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2];
    if (__builtin_expect(!(square >= 0x1p-60f && square <= 0x1p+100f), 0)) {
        const float largest = fmaxf(fabsf(sum[0]), fmaxf(fabsf(sum[1]), fabsf(sum[2])));
        int exponent = 0;
        if (largest > 0.0f && largest <= FLT_MAX) frexpf(largest, &exponent);
        for (int i = 0; i < 3; i++) sum[i] = ldexpf(sum[i], -exponent);
        square = sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2];
    }
    const float inverse = square == 0.0f ? 0.0f : 1.0f / sqrtf(square);
    for (int i = 0; i < 3; i++) normal[i] = sum[i] * inverse;
}

static void further_wedges(const modal_normals_wedge_task *task, int64_t column, int64_t begin, int64_t end)
{
    const float *x = task->positions + 3 * column * task->n_vertices;
    for (int64_t w = begin; w < end; w++) {
        const float *own = x + 3 * (int64_t)task->source[w - task->n_vertices];
        float sum[3] = {0.0f, 0.0f, 0.0f};
        for (int64_t k = task->corner_offsets[w]; k < task->corner_offsets[w + 1]; k++) {
            const float *p = x + 3 * (int64_t)task->corners[2 * k], *q = x + 3 * (int64_t)task->corners[2 * k + 1];
            const float a[3] = {p[0] - own[0], p[1] - own[1], p[2] - own[2]}, b[3] = {q[0] - own[0], q[1] - own[1], q[2] - own[2]};
            sum[0] += a[1] * b[2] - a[2] * b[1];
            sum[1] += a[2] * b[0] - a[0] * b[2];
            sum[2] += a[0] * b[1] - a[1] * b[0];
        }
        normalise(sum, task->normals + (column * task->n_wedges + w) * 3);
    }
}

modal_status modal_normals_wedge_cpu(const modal_normals_wedge_task *task, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_further = task->n_wedges - task->n_vertices, n_runs = (n_further + RUN - 1) / RUN;
    const int whole = n_further == 0; /* then the columns lie one after the other */
    modal_normals_dynamic_task plain = {.n_vertices = task->n_vertices,
                                        .n_columns = whole ? task->n_columns : 1,
                                        .corner_offsets = task->corner_offsets,
                                        .corners = task->corners};
    for (int64_t c = 0; c < (whole ? 1 : task->n_columns); c++) {
        plain.positions = task->positions + 3 * c * task->n_vertices;
        plain.normals = task->normals + 3 * c * task->n_wedges;
        MODAL_TRY(modal_normals_dynamic_cpu(&plain, stream, err));
    }
#pragma omp parallel for collapse(2) schedule(dynamic) if (n_further * task->n_columns > 32768)
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t run = 0; run < n_runs; run++) {
            const int64_t begin = task->n_vertices + run * RUN, end = begin + RUN;
            further_wedges(task, c, begin, end < task->n_wedges ? end : task->n_wedges);
        }
done:
    return status;
}
