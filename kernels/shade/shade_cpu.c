/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of pixels, shaded one by one; the powers of sRGB are then taken of the whole run, as vectors. */
#include "kernels/cpu.h"
#include "kernels/shade/shade_math.h"

enum { RUN = 256 };

static inline __attribute__((always_inline)) void shade_run(const modal_shade_task *task, const modal_raster_view *view, int64_t first,
                                                            int64_t count, int samples, int has)
{
    float limited[3 * RUN], full[3];
    int32_t codes[3 * RUN];
    uint32_t counts[MODAL_SHADE_SOURCES] = {0};
    for (int64_t i = 0; i < count; i++) shade_pixel(task, view, first + i, samples, has, limited + 3 * i, full, counts);
    for (int k = 0; has & SHADE_SOLIDS && task->sources && k < MODAL_SHADE_SOURCES; k++)
        __atomic_fetch_add(&task->sources[k], (uint64_t)counts[k], __ATOMIC_RELAXED);
    for (int64_t i = 0; task->motion && i < count; i++) shade_motion(task, view, task->view_before, first + i, samples);
    for (int64_t i = 0; task->deep && i < count; i++)
        for (int k = 0; k < 4; k++) task->deep[4 * (first + i) + k] = k < 3 ? shade_deep(limited[3 * i + k]) : 65535;
    if (!task->picture) return;
    for (int64_t i = 0; i < 3 * count; i++) codes[i] = shade_code(limited[i]);
    for (int64_t i = 0; i < count; i++) {
        uint8_t *to = task->picture + 4 * (first + i);
        for (int k = 0; k < 3; k++) to[k] = (uint8_t)codes[3 * i + k];
        to[3] = 255;
    }
}

/* For an instruction set; none of them fuses anything, so that all give the same bytes. */
#define DEFINE_SHADE(name, attributes)                                                                                   \
    attributes static void name(const modal_shade_task *task, const modal_raster_view *view, int64_t first, int64_t count) \
    {                                                                                                                    \
        const int has = shade_has(task);                                                                                 \
        if (task->samples == 1) shade_run(task, view, first, count, 1, has);                                             \
        if (task->samples == 4 && !has) shade_run(task, view, first, count, 4, 0);                                       \
        if (task->samples == 4 && has) shade_run(task, view, first, count, 4, has);                                      \
        if (task->samples == 8) shade_run(task, view, first, count, 8, has);                                             \
    }
DEFINE_SHADE(shade_base, )
#if defined(MODAL_SIMD) && defined(__x86_64__)
DEFINE_SHADE(shade_avx2, __attribute__((target("avx2"))))
#else
#define shade_avx2 shade_base
#endif

modal_status modal_shade_cpu(const modal_shade_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    int32_t first_row, end_row, left, right;
    shade_rows(task, &first_row, &end_row);
    shade_columns(task, &left, &right);
    const int64_t from = (int64_t)task->width * first_row + left, n = (int64_t)task->width * (end_row - 1) + right - from;
    const modal_raster_view view = *task->view;
    void (*const shade)(const modal_shade_task *, const modal_raster_view *, int64_t, int64_t) =
        modal_cpu_simd() >= MODAL_SIMD_AVX2 ? shade_avx2 : shade_base;
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t run = 0; run < (n + RUN - 1) / RUN; run++)
        shade(task, &view, from + run * RUN, n - run * RUN < RUN ? n - run * RUN : RUN);
    return MODAL_OK;
}
