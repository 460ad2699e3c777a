/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of pixels, shaded as vectors where they have neither images nor layers, else one by one; the powers of sRGB are then taken of the whole run, as
 * vectors. */
#include "kernels/cpu.h"
#include "kernels/shade/shade_lanes.h"

enum { RUN = 256 };

/* shade_code and shade_deep of n numbers: two loops, in one it has branches, and no vectors are made of it. */
static inline __attribute__((always_inline)) void curve(const float *limited, int64_t n, float most, int32_t *codes)
{
    for (int64_t i = 0; i < n; i++) {
        const int32_t code = (int32_t)(shade_curved(limited[i]) * most + 0.5f);
        codes[i] = code < (int32_t)most ? code : (int32_t)most;
    }
    for (int64_t i = 0; i < n; i++) {
        const int32_t dark = (int32_t)(12.92f * limited[i] * most + 0.5f);
        codes[i] = limited[i] <= SHADE_DARK ? dark : codes[i];
    }
}

/* What is done of a run's numbers from 0 to 1. */
static inline __attribute__((always_inline)) void write_codes(const modal_shade_task *task, int64_t first, int64_t count, const float *limited)
{
    int32_t codes[3 * RUN];
    if (task->deep) {
        curve(limited, 3 * count, 65535.0f, codes);
        for (int64_t i = 0; i < count; i++) {
            uint16_t *to = task->deep + 4 * (first + i);
            for (int k = 0; k < 3; k++) to[k] = (uint16_t)codes[3 * i + k];
            to[3] = 65535;
        }
    }
    if (!task->picture) return;
    curve(limited, 3 * count, 255.0f, codes);
    for (int64_t i = 0; i < count; i++) {
        uint8_t *to = task->picture + 4 * (first + i);
        for (int k = 0; k < 3; k++) to[k] = (uint8_t)codes[3 * i + k];
        to[3] = 255;
    }
}

static inline __attribute__((always_inline)) void shade_run(const modal_shade_task *task, const modal_raster_view *view, int64_t first,
                                                            int64_t count, int samples, int has)
{
    float limited[3 * RUN], full[3];
    uint32_t counts[MODAL_SHADE_SOURCES] = {0};
    for (int64_t i = 0; i < count; i++) shade_pixel(task, view, first + i, samples, has, limited + 3 * i, full, counts);
    for (int k = 0; has & SHADE_SOLIDS && task->sources && k < MODAL_SHADE_SOURCES; k++)
        __atomic_fetch_add(&task->sources[k], (uint64_t)counts[k], __ATOMIC_RELAXED);
    for (int64_t i = 0; task->motion && i < count; i++) shade_motion(task, view, task->view_before, first + i, samples);
    write_codes(task, first, count, limited);
}

/* Of pixels with images or layers. Wider instructions make nothing of it faster: it is made once, for the base set. */
static void shade_any(const modal_shade_task *task, const modal_raster_view *view, int64_t first, int64_t count)
{
    const int has = shade_has(task);
    if (task->samples == 1) shade_run(task, view, first, count, 1, has);
    if (task->samples == 4) shade_run(task, view, first, count, 4, has);
    if (task->samples == 8) shade_run(task, view, first, count, 8, has);
}

/* Without images and layers, for any number of samples and for an instruction set; none of them fuses anything, so that all give the same bytes. */
#define DEFINE_PLAIN(name, attributes)                                                                                   \
    attributes static void name(const modal_shade_task *task, const modal_raster_view *view, int64_t first, int64_t count) \
    {                                                                                                                    \
        float limited[3 * RUN];                                                                                          \
        shade_plain(task, view, first, count, limited);                                                                  \
        for (int64_t i = 0; task->motion && i < count; i++) shade_motion(task, view, task->view_before, first + i, task->samples); \
        write_codes(task, first, count, limited);                                                                        \
    }
DEFINE_PLAIN(plain_base, )
#if defined(MODAL_SIMD) && defined(__x86_64__)
DEFINE_PLAIN(plain_avx2, __attribute__((target("avx2"))))
DEFINE_PLAIN(plain_avx512, __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512"))))
#else
#define plain_avx2 plain_base
#define plain_avx512 plain_base
#endif

typedef void shade_function(const modal_shade_task *task, const modal_raster_view *view, int64_t first, int64_t count);

static shade_function *choose(int has)
{
    const int simd = modal_cpu_simd();
    if (has) return shade_any;
    return simd >= MODAL_SIMD_AVX512 ? plain_avx512 : simd >= MODAL_SIMD_AVX2 ? plain_avx2 : plain_base;
}

modal_status modal_shade_cpu(const modal_shade_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    int32_t first_row, end_row, left, right;
    if (task->layers && !shade_is_listed(task)) return MODAL_OK;
    shade_rows(task, &first_row, &end_row);
    shade_columns(task, &left, &right);
    const int64_t from = (int64_t)task->width * first_row + left, n = (int64_t)task->width * (end_row - 1) + right - from;
    const modal_raster_view view = *task->view;
    shade_function *const shade = choose(shade_has(task));
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t run = 0; run < (n + RUN - 1) / RUN; run++)
        shade(task, &view, from + run * RUN, n - run * RUN < RUN ? n - run * RUN : RUN);
    return MODAL_OK;
}
