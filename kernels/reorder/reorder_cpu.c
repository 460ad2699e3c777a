/* SPDX-License-Identifier: Apache-2.0 */
/* A gather of 12-byte points: OpenMP over runs of the output; without a permutation, memcpy. */
#include <string.h>

#include "kernels/reorder/reorder.h"

enum { RUN = 4096 };

modal_status modal_reorder_cpu(const modal_reorder_task *task, modal_stream *stream,
                               modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n = task->n_vertices, n_runs = (n + RUN - 1) / RUN;
    const int parallel = n * task->n_columns > 4 * RUN;
#pragma omp parallel for collapse(2) schedule(static) if (parallel)
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t run = 0; run < n_runs; run++) {
            const int64_t begin = run * RUN, end = begin + RUN < n ? begin + RUN : n;
            const float *in = task->in + 3 * c * n;
            float *out = task->out + 3 * task->base[c];
            if (!task->source) {
                memcpy(out + 3 * begin, in + 3 * begin, (size_t)(end - begin) * 12);
                continue;
            }
            for (int64_t i = begin; i < end; i++)
                memcpy(out + 3 * i, in + 3 * (int64_t)task->source[i], 12);
        }
    return MODAL_OK;
}
