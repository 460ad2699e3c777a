/* SPDX-License-Identifier: Apache-2.0 */
/* A column a thread: 1.2 GB/s of input a core (docs/results/formats.md). */
#include "kernels/encode/encode.h"

modal_status modal_encode_cpu(const modal_encode_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
#pragma omp parallel for schedule(static) if (task->n_columns > 1)
    for (int64_t c = 0; c < task->n_columns; c++)
        task->encoded[c] = modal_encode(task->in + c * task->n_values, task->n_values, task->scale,
                                        task->out + c * task->stride + MODAL_ENCODE_FIRST);
    return MODAL_OK;
}
