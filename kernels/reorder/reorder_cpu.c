/* SPDX-License-Identifier: Apache-2.0 */
/* A gather of points of 12 or 16 bytes: OpenMP over runs of the output. Each point is one vector, loaded and
 * stored once; with 12 bytes the store covers the next point's first float, which that point's own store then
 * sets right. What the check takes, three integer operations a vector, is hidden by the stores. */
#include <string.h>

#include "kernels/cpu.h"
#include "kernels/reorder/reorder.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { RUN = 1024, AHEAD = 64 };

typedef uint32_t four __attribute__((vector_size(16)));

/* The exponent of a float that is not finite has all its bits: one more carries into the sign's place. */
#define CARRY(bits) (((bits) & 0x7f800000u) + 0x00800000u)

static inline __attribute__((always_inline)) int any(four carries)
{
    return (carries[0] | carries[1] | carries[2] | carries[3]) >> 31;
}

/* p[0] p[1] p[2] 0, or all four. */
static inline __attribute__((always_inline)) four load(const float *p, const int width)
{
    four v = {0};
#if defined(__x86_64__)
    if (width == 3)
        return (four)_mm_movelh_ps(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)p)),
                                   _mm_load_ss(p + 2));
#endif
    memcpy(&v, p, (size_t)width * sizeof *p);
    return v;
}

/* As many floats: by way of memory, which a copy of 12 of 16 bytes takes, a point costs twice the time. */
static inline __attribute__((always_inline)) void store(float *p, four v, const int width)
{
#if defined(__x86_64__)
    if (width == 3) {
        _mm_storel_epi64((__m128i *)(void *)p, (__m128i)v);
        _mm_store_ss(p + 2, _mm_movehl_ps((__m128)v, (__m128)v));
        return;
    }
#endif
    memcpy(p, &v, (size_t)width * sizeof *p);
}

/* These return whether a float is not finite. */
static inline __attribute__((always_inline)) int gather(float *out, const float *in, const int32_t *source,
                                                        int64_t n, const int width)
{
    four carries = {0};
    for (int64_t i = 0; i < n - 1; i++) {
        const four v = load(in + width * (int64_t)source[i], width);
        memcpy(out + width * i, &v, sizeof v);
        carries |= CARRY(v);
    }
    const four v = load(in + width * (int64_t)source[n - 1], width);
    store(out + width * (n - 1), v, width);
    return any(carries | CARRY(v));
}

static inline __attribute__((always_inline)) int scatter(float *out, const float *in, const int32_t *target,
                                                         int64_t n, const int width)
{
    four carries = {0};
    for (int64_t i = 0; i < n; i++) {
        __builtin_prefetch(out + width * (int64_t)target[i + AHEAD < n ? i + AHEAD : n - 1], 1);
        const four v = load(in + width * i, width);
        store(out + width * (int64_t)target[i], v, width);
        carries |= CARRY(v);
    }
    return any(carries);
}

static inline __attribute__((always_inline)) int copy(float *restrict out, const float *restrict in, int64_t n)
{
    uint32_t carries = 0, bits;
    for (int64_t i = 0; i < n; i++) {
        memcpy(&bits, in + i, sizeof bits);
        memcpy(out + i, &bits, sizeof bits);
        carries |= CARRY(bits);
    }
    return carries >> 31;
}

typedef int copy_function(float *out, const float *in, int64_t n);
static int copy_base(float *out, const float *in, int64_t n) { return copy(out, in, n); }
#if defined(MODAL_SIMD) && defined(__x86_64__)
#define TARGET(set) __attribute__((target(set)))
TARGET("avx2") static int copy_avx2(float *out, const float *in, int64_t n) { return copy(out, in, n); }
TARGET("avx512f,prefer-vector-width=512")
static int copy_avx512(float *out, const float *in, int64_t n) { return copy(out, in, n); }
#endif

static copy_function *choose(void)
{
#if defined(MODAL_SIMD) && defined(__x86_64__)
    if (modal_cpu_simd() == MODAL_SIMD_AVX512) return copy_avx512;
    if (modal_cpu_simd() == MODAL_SIMD_AVX2) return copy_avx2;
#endif
    return copy_base;
}

/* Vertices [begin, end) of a column. */
static int reorder_run(const modal_reorder_task *task, copy_function *copy_floats, int64_t c, int64_t begin,
                       int64_t end)
{
    const int64_t width = task->width, n = end - begin;
    const float *in = task->in + width * c * task->n_vertices, *run = in + width * begin;
    float *all = task->out + width * task->base[c], *out = all + width * begin;
    if (task->target)
        return width == 3 ? scatter(all, run, task->target + begin, n, 3)
                          : scatter(all, run, task->target + begin, n, 4);
    if (task->source)
        return width == 3 ? gather(out, in, task->source + begin, n, 3)
                          : gather(out, in, task->source + begin, n, 4);
    return copy_floats(out, run, width * n);
}

modal_status modal_reorder_cpu(const modal_reorder_task *task, modal_stream *stream,
                               modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n = task->n_vertices, n_runs = (n + RUN - 1) / RUN;
    const int parallel = n * task->n_columns > 64 * RUN;
    copy_function *copy_floats = choose();
    int odd = 0;
#pragma omp parallel for collapse(2) schedule(static) reduction(| : odd) if (parallel)
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t run = 0; run < n_runs; run++)
            odd |= reorder_run(task, copy_floats, c, run * RUN, (run + 1) * RUN < n ? (run + 1) * RUN : n);
    if (odd && task->nonfinite) *task->nonfinite = 1;
    return MODAL_OK;
}
