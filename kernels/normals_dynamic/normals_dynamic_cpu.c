/* SPDX-License-Identifier: Apache-2.0 */
/* Many columns: a lane is a column. Positions are turned from [column][vertex][3] to
 * [vertex][3][column] a few vertices at a time, into a store that stays in the second-level cache;
 * then every corner of a vertex is plain loads of whole registers, no gathers, and its indices are
 * read once for all lanes. Few columns: x y z of a vertex in one register, a corner in ten
 * instructions. OpenMP over runs of vertices. An edge that two corners in a row share is computed
 * once (modal_normals_corners puts corners in that order).
 * Compiled without contraction into fused multiply-adds: with them, the cross product of an edge
 * with itself is a rounding error instead of zero, and a degenerate triangle would get a direction;
 * and both ways give the same bytes in every instruction set. */
#include <string.h>

#include "kernels/cpu.h"
#include "kernels/normals_dynamic/normals_dynamic.h"
#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <math.h>
#endif

/* STAGED_VERTICES: of the store; a power of two, 12 bytes a lane each. RUN: a multiple of LANES.
 * AHEAD: vertices between the one at work and the positions that are fetched for later, a multiple of
 * LANES. Outputs larger than STREAM_BYTES do not stay in a cache: the lines they replace are not
 * read first (where they are aligned). */
enum { STAGED_VERTICES = 2048, RUN = 8192, AHEAD = 96, LANES_MAX = 16, STREAM_BYTES = 8 << 20 };

typedef float four __attribute__((vector_size(16)));

/* Up to LANES columns; where there are fewer, the rest of `positions` repeats the first. */
typedef struct columns_of {
    int64_t n_vertices;
    int count, stream;
    const float *positions[LANES_MAX];
    float *normals[LANES_MAX];
} columns_of;

#define LANES 4
#define TARGET
#define NAME(x) x##_base
#if defined(__x86_64__)
#define STREAM(p, v) _mm_stream_ps(p, (__m128)(v))
#define SQRT(v) ((vector_base)_mm_sqrt_ps((__m128)(v)))
#define LOAD3(p)                                                                                   \
    ((four)_mm_movelh_ps(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)(p))),    \
                         _mm_load_ss((p) + 2)))
#else
static four square_roots(four v)
{
    return (four){sqrtf(v[0]), sqrtf(v[1]), sqrtf(v[2]), sqrtf(v[3])};
}
#define STREAM(p, v) (*(unaligned_base *)(p) = (v))
#define SQRT(v) square_roots(v)
#define LOAD3(p) ((four){(p)[0], (p)[1], (p)[2], 0.0f})
#endif
#include "kernels/normals_dynamic/normals_simd.h"

#if defined(MODAL_SIMD) && defined(__x86_64__)
#define LANES 8
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) x##_avx2
#define STREAM(p, v) _mm256_stream_ps(p, (__m256)(v))
#define SQRT(v) ((vector_avx2)_mm256_sqrt_ps((__m256)(v)))
#define LOAD3(p) ((four)_mm_maskload_ps(p, _mm_setr_epi32(-1, -1, -1, 0)))
#include "kernels/normals_dynamic/normals_simd.h"

#define LANES 16
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma,prefer-vector-width=512")))
#define NAME(x) x##_avx512
#define STREAM(p, v) _mm512_stream_ps(p, (__m512)(v))
#define SQRT(v) ((vector_avx512)_mm512_sqrt_ps((__m512)(v)))
#define LOAD3(p) ((four)_mm_maskz_loadu_ps(7, p))
#include "kernels/normals_dynamic/normals_simd.h"
#endif

modal_status modal_normals_dynamic_cpu(const modal_normals_dynamic_task *task,
                                       modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    void (*of_columns)(const modal_normals_dynamic_task *, const columns_of *, int64_t, int64_t) =
        normals_of_columns_base;
    void (*of_column)(const modal_normals_dynamic_task *, const float *, float *, int64_t, int64_t) =
        normals_of_column_base;
    int lanes = 4;
#if defined(MODAL_SIMD) && defined(__x86_64__)
    const modal_simd simd = modal_cpu_simd();
    if (simd == MODAL_SIMD_AVX512)
        of_columns = normals_of_columns_avx512, of_column = normals_of_column_avx512, lanes = 16;
    if (simd == MODAL_SIMD_AVX2)
        of_columns = normals_of_columns_avx2, of_column = normals_of_column_avx2, lanes = 8;
#endif
    const int64_t n = task->n_vertices, n_runs = (n + RUN - 1) / RUN;
    const int64_t n_groups = (task->n_columns + lanes - 1) / lanes;
    const int around = n * task->n_columns * 12 > STREAM_BYTES;
    const int parallel = n * task->n_columns > 8192;
#pragma omp parallel for collapse(2) schedule(dynamic) if (parallel)
    for (int64_t run = 0; run < n_runs; run++)
        for (int64_t group = 0; group < n_groups; group++) {
            const int64_t begin = run * RUN, end = begin + RUN < n ? begin + RUN : n;
            const int64_t first = group * lanes, left = task->n_columns - first;
            columns_of columns = {.n_vertices = n, .stream = around,
                                  .count = left < lanes ? (int)left : lanes};
            for (int c = 0; c < lanes; c++) {
                const int64_t column = first + (c < columns.count ? c : 0);
                columns.positions[c] = task->positions + column * n * 3;
                columns.normals[c] = task->normals + column * n * 3;
            }
            if (columns.count > lanes / 4) {
                of_columns(task, &columns, begin, end);
#if defined(__x86_64__)
                if (around) _mm_sfence();
#endif
                continue;
            }
            for (int c = 0; c < columns.count; c++)
                of_column(task, columns.positions[c], columns.normals[c], begin, end);
        }
    return MODAL_OK;
}
