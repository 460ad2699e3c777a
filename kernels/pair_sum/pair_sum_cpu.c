/* SPDX-License-Identifier: Apache-2.0 */
/* Bound by arithmetic: a vector of bodies in registers, sources one after the other in all lanes. Parts of the sources are
 * summed by themselves and then added, as on a GPU: errors grow with the length of a part. */
#include "kernels/pair_sum/pair_sum.h"

#include "kernels/cpu.h"

enum { LANES = 16, PART = 1024, PARALLEL = 256 };

/* Lanes of bodies that begin at `first`; those past the end repeat the last one. */
#define DEFINE_LANES(name, target)                                                                                   \
    target static void name(const modal_pair_sum_task *t, int64_t first)                                             \
    {                                                                                                                \
        const float square = t->softening * t->softening;                                                            \
        float x[LANES], y[LANES], z[LANES], sx[LANES] = {0}, sy[LANES] = {0}, sz[LANES] = {0};                       \
        for (int l = 0; l < LANES; l++) {                                                                            \
            const float *own = t->bodies + 4 * (first + l < t->n_bodies ? first + l : t->n_bodies - 1);              \
            x[l] = own[0], y[l] = own[1], z[l] = own[2];                                                             \
        }                                                                                                            \
        for (int64_t begin = 0; begin < t->n_bodies; begin += PART) {                                                \
            const int64_t end = begin + PART < t->n_bodies ? begin + PART : t->n_bodies;                             \
            float px[LANES] = {0}, py[LANES] = {0}, pz[LANES] = {0};                                                 \
            for (int64_t j = begin; j < end; j++) {                                                                  \
                const float bx = t->bodies[4 * j], by = t->bodies[4 * j + 1], bz = t->bodies[4 * j + 2];             \
                const float w = t->bodies[4 * j + 3];                                                                \
                for (int l = 0; l < LANES; l++) {                                                                    \
                    const float dx = bx - x[l], dy = by - y[l], dz = bz - z[l];                                      \
                    const float r2 = dx * dx + dy * dy + dz * dz + square, i = 1.0f / __builtin_sqrtf(r2);           \
                    const float s = w * i * (i * i);                                                                 \
                    px[l] += s * dx, py[l] += s * dy, pz[l] += s * dz;                                               \
                }                                                                                                    \
            }                                                                                                        \
            for (int l = 0; l < LANES; l++) sx[l] += px[l], sy[l] += py[l], sz[l] += pz[l];                          \
        }                                                                                                            \
        for (int l = 0; l < LANES && first + l < t->n_bodies; l++) {                                                 \
            float *to = t->sums + 3 * (first + l);                                                                   \
            to[0] = sx[l], to[1] = sy[l], to[2] = sz[l];                                                             \
        }                                                                                                            \
    }

DEFINE_LANES(lanes_base, )
#if defined(MODAL_SIMD) && defined(__x86_64__)
DEFINE_LANES(lanes_avx2, __attribute__((target("avx2,fma"))))
DEFINE_LANES(lanes_avx512, __attribute__((target("avx512f,avx512vl,avx512dq,prefer-vector-width=512"))))
#endif

static void lanes(modal_simd simd, const modal_pair_sum_task *t, int64_t first)
{
#if defined(MODAL_SIMD) && defined(__x86_64__)
    if (simd == MODAL_SIMD_AVX512) {
        lanes_avx512(t, first);
        return;
    }
    if (simd == MODAL_SIMD_AVX2) {
        lanes_avx2(t, first);
        return;
    }
#endif
    (void)simd;
    lanes_base(t, first);
}

modal_status modal_pair_sum_cpu(const modal_pair_sum_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const modal_simd simd = modal_cpu_simd();
#pragma omp parallel for schedule(static) if (task->n_bodies > PARALLEL)
    for (int64_t first = 0; first < task->n_bodies; first += LANES) lanes(simd, task, first);
    return MODAL_OK;
}
