/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kernels/reorder/reorder.h"

modal_status modal_reorder_ref(const modal_reorder_task *task, modal_stream *stream,
                               modal_error *err)
{
    (void)stream, (void)err;
    int64_t n = task->n_vertices;
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t i = 0; i < n; i++) {
            int64_t v = task->source ? task->source[i] : i, to = task->target ? task->target[i] : i;
            for (int j = 0; j < task->width; j++) {
                const float x = task->in[(c * n + v) * task->width + j];
                task->out[(task->base[c] + to) * task->width + j] = x;
                if (task->nonfinite && !isfinite(x)) *task->nonfinite = 1;
            }
        }
    return MODAL_OK;
}
