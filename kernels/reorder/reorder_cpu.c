/* SPDX-License-Identifier: Apache-2.0 */
/* A gather of points of 12 or 16 bytes: OpenMP over runs of the output; without a permutation, memcpy. */
#include <string.h>

#include "kernels/reorder/reorder.h"

enum { RUN = 4096 };

static inline __attribute__((always_inline)) void gather(float *out, const float *in,
                                                         const int32_t *source, int64_t n,
                                                         const int width)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(out + width * i, in + width * (int64_t)source[i], (size_t)width * sizeof *out);
}

static inline __attribute__((always_inline)) void scatter(float *out, const float *in,
                                                          const int32_t *target, int64_t n,
                                                          const int width)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(out + width * (int64_t)target[i], in + width * i, (size_t)width * sizeof *out);
}

modal_status modal_reorder_cpu(const modal_reorder_task *task, modal_stream *stream,
                               modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n = task->n_vertices, width = task->width, n_runs = (n + RUN - 1) / RUN;
    const int parallel = n * task->n_columns > 16 * RUN;
#pragma omp parallel for collapse(2) schedule(static) if (parallel)
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t run = 0; run < n_runs; run++) {
            const int64_t begin = run * RUN, end = begin + RUN < n ? begin + RUN : n;
            const float *in = task->in + width * c * n;
            float *all = task->out + width * task->base[c], *out = all + width * begin;
            if (task->target && width == 3)
                scatter(all, in + 3 * begin, task->target + begin, end - begin, 3);
            else if (task->target)
                scatter(all, in + 4 * begin, task->target + begin, end - begin, 4);
            else if (!task->source)
                memcpy(out, in + width * begin, (size_t)((end - begin) * width) * sizeof *out);
            else if (width == 3)
                gather(out, in, task->source + begin, end - begin, 3);
            else
                gather(out, in, task->source + begin, end - begin, 4);
        }
    return MODAL_OK;
}
