/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/shadow_blur/shadow_blur.h"

static int32_t clamp(int32_t i, int32_t n) { return i < 0 ? 0 : i < n ? i : n - 1; }

modal_status modal_shadow_blur_ref(const modal_shadow_blur_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int32_t n = task->size, r = task->radius;
    for (int64_t y = 0; y < n; y++)
        for (int32_t x = 0; x < n; x++) {
            float *to = task->scratch + 2 * (y * n + x);
            to[0] = to[1] = 0.0f;
            for (int32_t i = -r; i <= r; i++) {
                const float d = task->depths[y * n + clamp(x + i, n)];
                to[0] += task->weights[i + r] * d;
                to[1] += task->weights[i + r] * (d * d);
            }
        }
    for (int32_t y = 0; y < n; y++)
        for (int64_t x = 0; x < n; x++)
            for (int k = 0; k < 2; k++) {
                float sum = 0.0f;
                for (int32_t j = -r; j <= r; j++) sum += task->weights[j + r] * task->scratch[2 * ((int64_t)clamp(y + j, n) * n + x) + k];
                task->moments[2 * ((int64_t)y * n + x) + k] = sum;
            }
    return MODAL_OK;
}
