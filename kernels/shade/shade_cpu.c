/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of pixels, shaded one by one; the powers of sRGB are then taken of the whole run, as vectors. */
#include "kernels/shade/shade_math.h"

enum { RUN = 256 };

static inline __attribute__((always_inline)) void shade_run(const modal_shade_task *task, const modal_raster_view *view, int64_t first,
                                                            int64_t count, int samples)
{
    float limited[3 * RUN], full[3];
    uint8_t codes[3 * RUN];
    for (int64_t i = 0; i < count; i++) shade_pixel(task, view, first + i, samples, limited + 3 * i, full);
    if (!task->picture) return;
    for (int64_t i = 0; i < 3 * count; i++) codes[i] = shade_srgb(limited[i]);
    for (int64_t i = 0; i < count; i++) {
        uint8_t *to = task->picture + 4 * (first + i);
        to[0] = codes[3 * i], to[1] = codes[3 * i + 1], to[2] = codes[3 * i + 2], to[3] = 255;
    }
}

modal_status modal_shade_cpu(const modal_shade_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n = (int64_t)task->width * task->height;
    const modal_raster_view view = *task->view;
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t run = 0; run < (n + RUN - 1) / RUN; run++) {
        const int64_t first = run * RUN, count = n - first < RUN ? n - first : RUN;
        if (task->samples == 1) shade_run(task, &view, first, count, 1);
        if (task->samples == 4) shade_run(task, &view, first, count, 4);
        if (task->samples == 8) shade_run(task, &view, first, count, 8);
    }
    return MODAL_OK;
}
