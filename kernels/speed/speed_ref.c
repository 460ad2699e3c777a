/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/speed/speed.h"

#include <math.h>

modal_status modal_speed_ref(const modal_speed_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n = task->n_vertices;
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t i = 0; i < n; i++) {
            const int64_t from = 3 * (c * n + (task->source ? task->source[i] : i)), to = task->target ? task->target[i] : i;
            float v[3];
            for (int k = 0; k < 3; k++) v[k] = task->a[from + k] + (task->b ? task->b[from + k] : 0.0f);
            const float speed = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
            task->speed[task->base[c] + to] = speed;
            if (task->nonfinite && !isfinite(speed)) *task->nonfinite = 1;
        }
    return MODAL_OK;
}
