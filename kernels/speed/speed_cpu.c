/* SPDX-License-Identifier: Apache-2.0 */
/* Memory-bound: two vectors are read and a float is written. OpenMP over runs of points. */
#include "kernels/speed/speed.h"

#include <math.h>
#include <string.h>

enum { RUN = 1024 };

/* `n` points from i = begin on; returns whether one is not finite. */
static int put(const modal_speed_task *t, int64_t column, int64_t begin, int64_t n)
{
    const float *a = t->a + 3 * column * t->n_vertices, *b = t->b ? t->b + 3 * column * t->n_vertices : NULL;
    float *to = t->speed + t->base[column];
    uint32_t odd = 0;
    for (int64_t i = begin; i < begin + n; i++) {
        const int64_t from = 3 * (t->source ? (int64_t)t->source[i] : i);
        const float x = a[from] + (b ? b[from] : 0.0f), y = a[from + 1] + (b ? b[from + 1] : 0.0f);
        const float z = a[from + 2] + (b ? b[from + 2] : 0.0f);
        const float speed = sqrtf(x * x + y * y + z * z);
        uint32_t bits;
        memcpy(&bits, &speed, sizeof bits);
        odd |= (bits & 0x7f800000u) + 0x00800000u; /* the exponent of what is not finite carries into the sign's place */
        to[t->target ? (int64_t)t->target[i] : i] = speed;
    }
    return (int)(odd >> 31);
}

modal_status modal_speed_cpu(const modal_speed_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n = task->n_vertices, n_runs = (n + RUN - 1) / RUN;
    const int parallel = n * task->n_columns > 65536;
    int odd = 0;
#pragma omp parallel for schedule(static) collapse(2) reduction(| : odd) if (parallel)
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t run = 0; run < n_runs; run++)
            odd |= put(task, c, run * RUN, n - run * RUN < RUN ? n - run * RUN : RUN);
    if (odd && task->nonfinite) *task->nonfinite = 1;
    return MODAL_OK;
}
