/* SPDX-License-Identifier: Apache-2.0 */
/* Rows, a row a thread; along x and down the rows the inner loop goes over texels, so that it is made of vectors. */
#include "kernels/shadow_blur/shadow_blur.h"

static int32_t clamp(int32_t i, int32_t n) { return i < 0 ? 0 : i < n ? i : n - 1; }

static void add_depth(float *to, float weight, float d)
{
    to[0] += weight * d;
    to[1] += weight * (d * d);
}

static void blur_row(const modal_shadow_blur_task *task, int64_t y)
{
    const int32_t n = task->size, r = task->radius;
    const float *depths = task->depths + y * n;
    float *to = task->scratch + 2 * y * n;
    for (int32_t x = 0; x < 2 * n; x++) to[x] = 0.0f;
    for (int32_t i = -r; i <= r; i++) {
        const float weight = task->weights[i + r];
        const int32_t begin = i < 0 ? (-i < n ? -i : n) : 0, end = i > 0 ? (i < n ? n - i : 0) : n;
        for (int32_t x = 0; x < begin; x++) add_depth(to + 2 * x, weight, depths[clamp(x + i, n)]);
        for (int32_t x = begin; x < end; x++) add_depth(to + 2 * x, weight, depths[x + i]);
        for (int32_t x = end > begin ? end : begin; x < n; x++) add_depth(to + 2 * x, weight, depths[clamp(x + i, n)]);
    }
}

static void blur_column(const modal_shadow_blur_task *task, int32_t y)
{
    const int32_t n = task->size, r = task->radius;
    float *to = task->moments + 2 * (int64_t)y * n;
    for (int32_t x = 0; x < 2 * n; x++) to[x] = 0.0f;
    for (int32_t j = -r; j <= r; j++) {
        const float weight = task->weights[j + r], *from = task->scratch + 2 * (int64_t)clamp(y + j, n) * n;
        for (int32_t x = 0; x < 2 * n; x++) to[x] += weight * from[x];
    }
}

modal_status modal_shadow_blur_cpu(const modal_shadow_blur_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int32_t y = 0; y < task->size; y++) blur_row(task, y);
#pragma omp for schedule(static)
        for (int32_t y = 0; y < task->size; y++) blur_column(task, y);
    }
    return MODAL_OK;
}
