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
#include <omp.h>
#include <string.h>

#include "kernels/cpu.h"
#include "kernels/deform_normals/with_product.h"
#include "kernels/normals_dynamic/normals_dynamic.h"
#include "lib/base/memory.h"
#include "lib/base/tile.h"
#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <math.h>
#endif

/* STAGED_VERTICES: of the store; a power of two, 12 bytes a lane each. RUN: about as many vertices are
 * done in one go: fewer, and more of them are staged twice at the borders. WHOLE_BYTES: at most for an array of all
 * turned positions. AHEAD: vertices between the one at work and
 * the positions that are fetched for later, a multiple of LANES. PAGE: floats of a page. */
enum { STAGED_VERTICES = 2048, RUN = 8192, AHEAD = 96, LANES_MAX = 16, WHOLE_BYTES = 64 << 20,
       PAGE = 1024 };

typedef float four __attribute__((vector_size(16)));

/* Up to LANES columns; where there are fewer, the rest of `positions` repeats the first. */
typedef struct columns_of {
    int64_t n_vertices;
    int count, stream; /* stream: past the caches, for which all columns begin on a line */
    const float *positions[LANES_MAX];
    float *normals[LANES_MAX];
    const float *whole; /* all units turned, [units, LANES, 3, LANES], or NULL: with the store */
    float *staged;      /* the thread's units of the store, [n_slots, LANES, 3, LANES] */
    /* Where positions are made on the way, instead of read: */
    const modal_deform_task *deform; /* else NULL */
    const float *q, *poses;         /* of the lanes, [n_modes][LANES] and [12][LANES] */
    float *made[LANES_MAX];
} columns_of;

/* What a vertex's row of the store comes from. */
typedef enum positions_are { READ, MADE, TURNED } positions_are;

#define LANES 4
#define TARGET
#define NAME(x) x##_base
#if defined(__x86_64__)
#define STREAM(p, v) _mm_stream_ps(p, (__m128)(v))
#define SQRT(v) ((vector_base)_mm_sqrt_ps((__m128)(v)))
#define INSIDE(v, least, most)                                                                     \
    (_mm_movemask_ps(_mm_and_ps(_mm_cmpge_ps((__m128)(v), _mm_set1_ps(least)),                     \
                                _mm_cmple_ps((__m128)(v), _mm_set1_ps(most)))) == 15)
#define FMA(a, b, c) ((a) * (b) + (c))
#define HELD 4
#define LOAD3(p)                                                                                   \
    ((four)_mm_movelh_ps(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)(p))),    \
                         _mm_load_ss((p) + 2)))
#else
static four square_roots(four v)
{
    return (four){sqrtf(v[0]), sqrtf(v[1]), sqrtf(v[2]), sqrtf(v[3])};
}
#define STREAM(p, v) (*(unaligned_base *)(p) = (v))
static int all_inside(four v, float least, float most)
{
    int inside = 1;
    for (int i = 0; i < 4; i++) inside &= v[i] >= least && v[i] <= most;
    return inside;
}
#define SQRT(v) square_roots(v)
#define INSIDE(v, least, most) all_inside(v, least, most)
#define FMA(a, b, c) ((a) * (b) + (c)) /* not used */
#define HELD 4
#define LOAD3(p) ((four){(p)[0], (p)[1], (p)[2], 0.0f})
#endif
#include "kernels/normals_dynamic/normals_simd.h"

#if defined(MODAL_SIMD) && defined(__x86_64__)
#define LANES 8
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) x##_avx2
#define STREAM(p, v) _mm256_stream_ps(p, (__m256)(v))
#define SQRT(v) ((vector_avx2)_mm256_sqrt_ps((__m256)(v)))
#define INSIDE(v, least, most)                                                                     \
    (_mm256_movemask_ps(                                                                           \
         _mm256_and_ps(_mm256_cmp_ps((__m256)(v), _mm256_set1_ps(least), _CMP_GE_OQ),              \
                       _mm256_cmp_ps((__m256)(v), _mm256_set1_ps(most), _CMP_LE_OQ))) == 255)
#define FMA(a, b, c) ((vector_avx2)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define HELD 4
#define LOAD3(p) ((four)_mm_maskload_ps(p, _mm_setr_epi32(-1, -1, -1, 0)))
#include "kernels/normals_dynamic/normals_simd.h"

#define LANES 16
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma,prefer-vector-width=512")))
#define NAME(x) x##_avx512
#define STREAM(p, v) _mm512_stream_ps(p, (__m512)(v))
#define SQRT(v) ((vector_avx512)_mm512_sqrt_ps((__m512)(v)))
#define INSIDE(v, least, most)                                                                     \
    (_mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask((__m512)(v), _mm512_set1_ps(least), _CMP_GE_OQ),   \
                             (__m512)(v), _mm512_set1_ps(most), _CMP_LE_OQ) == 0xffff)
#define FMA(a, b, c) ((vector_avx512)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define HELD 8
#define LOAD3(p) ((four)_mm_maskz_loadu_ps(7, p))
#include "kernels/normals_dynamic/normals_simd.h"
#endif

typedef void stage_units(const columns_of *, float *, int64_t, int64_t);
typedef void normals_of_columns(const modal_normals_dynamic_task *, const columns_of *, int64_t,
                                int64_t);
typedef void normals_of_column(const modal_normals_dynamic_task *, const float *, float *, int64_t,
                               int64_t);

/* The functions of the instruction set in use, and its lanes. */
static int choose(stage_units **stage, normals_of_columns **of_columns, normals_of_column **of_column)
{
    *stage = stage_units_base;
    *of_columns = normals_of_columns_base;
    *of_column = normals_of_column_base;
#if defined(MODAL_SIMD) && defined(__x86_64__)
    const modal_simd simd = modal_cpu_simd();
    if (simd == MODAL_SIMD_AVX512)
        return *stage = stage_units_avx512, *of_columns = normals_of_columns_avx512,
               *of_column = normals_of_column_avx512, 16;
    if (simd == MODAL_SIMD_AVX2)
        return *stage = stage_units_avx2, *of_columns = normals_of_columns_avx2,
               *of_column = normals_of_column_avx2, 8;
#endif
    return 4;
}

/* How often vertices [begin, end) find a neighbour's unit gone from the store. */
static int64_t count_misses(const modal_normals_dynamic_task *task, int lanes, int64_t begin,
                            int64_t end)
{
    int32_t held[STAGED_VERTICES / 4];
    const int32_t slots = STAGED_VERTICES / lanes;
    int64_t misses = 0;
    for (int32_t i = 0; i < slots; i++) held[i] = -1;
    for (int64_t k = 2 * task->corner_offsets[begin]; k < 2 * task->corner_offsets[end]; k++) {
        const int32_t unit = task->corners[k] / lanes;
        misses += held[unit % slots] != unit;
        held[unit % slots] = unit;
    }
    return misses;
}

int modal_normals_order_is_local(const modal_normals_dynamic_task *task)
{
    enum { SAMPLES = 4, SAMPLE = 256 };
    stage_units *stage;
    normals_of_columns *of_columns;
    normals_of_column *of_column;
    const int lanes = choose(&stage, &of_columns, &of_column);
    const int64_t n = task->n_vertices;
    int64_t misses = 0;
    if (n <= STAGED_VERTICES) return 1;
    for (int64_t i = 0; i < SAMPLES; i++) {
        const int64_t begin = (n - SAMPLE) / SAMPLES * i;
        misses += count_misses(task, lanes, begin, begin + SAMPLE);
    }
    return misses < SAMPLES * (64 + 4 * (SAMPLE / lanes));
}

/* Vertices of a run: about RUN, so that all threads are busy to the end. A multiple of LANES. */
static int64_t run_of(int64_t n_vertices, int64_t n_groups, int parallel)
{
    const int64_t threads = parallel ? omp_get_max_threads() : 1;
    const int64_t turns = (n_vertices * n_groups / RUN + threads / 2) / threads;
    const int64_t n_runs = n_groups > 0 ? (turns > 1 ? turns : 1) * threads / n_groups : 1;
    const int64_t run = (n_vertices / (n_runs > 1 ? n_runs : 1) + LANES_MAX) / LANES_MAX * LANES_MAX;
    return run < RUN / 8 ? RUN / 8 : run > 2 * RUN ? 2 * RUN : run;
}

static void fence(int streamed)
{
#if defined(__x86_64__)
    if (streamed) _mm_sfence();
#else
    (void)streamed;
#endif
}

/* Floats of one thread's store: too much for the stacks of other programs' threads. */
static int64_t staged_floats(int64_t n_vertices, int lanes)
{
    const int64_t n = n_vertices < STAGED_VERTICES ? n_vertices : STAGED_VERTICES;
    return (n + lanes - 1) / lanes * lanes * lanes * 3;
}

static modal_status allocate_stores(int64_t n_vertices, int lanes, int parallel, float **stores, modal_error *err)
{
    return modal_alloc(stores, (parallel ? omp_get_max_threads() : 1) * staged_floats(n_vertices, lanes),
                       sizeof **stores, "staged positions", err);
}

static float *store_of_thread(float *stores, int64_t n_vertices, int lanes, int parallel)
{
    return stores ? stores + (parallel ? omp_get_thread_num() : 0) * staged_floats(n_vertices, lanes) : NULL;
}

/* Whether all columns of an output begin on a line, as writing past the caches asks for. */
static int on_lines(const float *output, int64_t n_vertices)
{
    return (uintptr_t)output % 64 == 0 && n_vertices % 16 == 0;
}

static columns_of group_of(const modal_normals_dynamic_task *task, int64_t group, int lanes,
                           int around)
{
    const int64_t n = task->n_vertices, first = group * lanes, left = task->n_columns - first;
    columns_of columns = {.n_vertices = n, .stream = around, .count = left < lanes ? (int)left : lanes};
    for (int c = 0; c < lanes; c++) {
        const int64_t column = first + (c < columns.count ? c : 0);
        columns.positions[c] = task->positions + column * n * 3;
        columns.normals[c] = task->normals + column * n * 3;
    }
    return columns;
}

/* No order of locality: the positions of a group are turned as a whole first, so that each neighbour
 * is three lines wherever it lies. Returns 0, and has done nothing, where that takes too much memory. */
static int normals_of_scattered(const modal_normals_dynamic_task *task, int around)
{
    stage_units *stage;
    normals_of_columns *of_columns;
    normals_of_column *of_column;
    const int lanes = choose(&stage, &of_columns, &of_column);
    const int64_t n = task->n_vertices, n_units = (n + lanes - 1) / lanes, piece = RUN / LANES_MAX;
    float *whole = NULL;
    if (n_units * lanes * lanes * 12 > WHOLE_BYTES ||
        modal_alloc(&whole, n_units * lanes * lanes * 3, sizeof *whole, "turned positions", NULL) !=
            MODAL_OK)
        return 0;
    for (int64_t group = 0; group * lanes < task->n_columns; group++) {
        columns_of columns = group_of(task, group, lanes, around);
#pragma omp parallel for schedule(static)
        for (int64_t unit = 0; unit < n_units; unit += piece)
            stage(&columns, whole, unit, unit + piece < n_units ? unit + piece : n_units);
        columns.whole = whole;
#pragma omp parallel for schedule(dynamic)
        for (int64_t begin = 0; begin < n; begin += RUN) {
            of_columns(task, &columns, begin, begin + RUN < n ? begin + RUN : n);
            fence(around);
        }
    }
    modal_free(&whole);
    return 1;
}

modal_status modal_normals_dynamic_cpu(const modal_normals_dynamic_task *task,
                                       modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_status status = MODAL_OK;
    float *stores = NULL;
    stage_units *stage;
    normals_of_columns *of_columns;
    normals_of_column *of_column;
    const int lanes = choose(&stage, &of_columns, &of_column);
    const int64_t n = task->n_vertices, n_groups = (task->n_columns + lanes - 1) / lanes;
    const int around =
        n * task->n_columns * 12 > modal_cpu_stream_bytes() && on_lines(task->normals, n);
    const int parallel = n * task->n_columns > 32768;
    const int64_t size = run_of(n, n_groups, parallel), n_runs = (n + size - 1) / size;
    if (task->n_columns > lanes / 4 && !modal_normals_order_is_local(task) &&
        normals_of_scattered(task, around))
        return MODAL_OK;
    if (task->n_columns > lanes / 4) MODAL_TRY(allocate_stores(n, lanes, parallel, &stores, err));
#pragma omp parallel for collapse(2) schedule(dynamic) if (parallel)
    for (int64_t run = 0; run < n_runs; run++)
        for (int64_t group = 0; group < n_groups; group++) {
            const int64_t begin = run * size, end = begin + size < n ? begin + size : n;
            columns_of columns = group_of(task, group, lanes, around);
            if (columns.count > lanes / 4) {
                columns.staged = store_of_thread(stores, n, lanes, parallel);
                of_columns(task, &columns, begin, end);
                fence(around);
                continue;
            }
            for (int c = 0; c < columns.count; c++)
                of_column(task, columns.positions[c], columns.normals[c], begin, end);
        }
done:
    modal_free(&stores);
    return status;
}

/* ---- with the product, kernels/deform_normals/deform_normals.h ---- */

int64_t modal_normals_columns_of_group(void)
{
    stage_units *stage;
    normals_of_columns *of_columns;
    normals_of_column *of_column;
    return choose(&stage, &of_columns, &of_column);
}

modal_status modal_normals_with_product(const modal_deform_task *deform, const modal_normals_dynamic_task *normals,
                                        const float *q, const float *poses, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *stores = NULL;
    stage_units *stage;
    normals_of_columns *of_columns;
    normals_of_column *of_column;
    const int lanes = choose(&stage, &of_columns, &of_column);
    const int64_t n = deform->n_vertices;
    const int64_t n_groups = (deform->n_columns + lanes - 1) / lanes;
    const int around = n * deform->n_columns * 24 > modal_cpu_stream_bytes() &&
                       on_lines(deform->positions, n) && on_lines(normals->normals, n);
    const int parallel = n * deform->n_columns > 32768;
    const int64_t size = run_of(n, n_groups, parallel), n_runs = (n + size - 1) / size;
    MODAL_TRY(allocate_stores(n, lanes, parallel, &stores, err));
#pragma omp parallel for collapse(2) schedule(dynamic) if (parallel)
    for (int64_t run = 0; run < n_runs; run++)
        for (int64_t group = 0; group < n_groups; group++) {
            const int64_t begin = run * size;
            const int64_t first = group * lanes, left = deform->n_columns - first;
            columns_of columns = {.n_vertices = n,
                                  .stream = around,
                                  .count = left < lanes ? (int)left : lanes,
                                  .staged = store_of_thread(stores, n, lanes, parallel),
                                  .deform = deform,
                                  .q = q + group * deform->n_modes * lanes,
                                  .poses = poses + group * 12 * lanes};
            for (int c = 0; c < lanes; c++) {
                const int64_t column = first + (c < columns.count ? c : 0);
                columns.made[c] = deform->positions + column * n * 3;
                columns.normals[c] = normals->normals + column * n * 3;
            }
            of_columns(normals, &columns, begin, begin + size < n ? begin + size : n);
            fence(around);
        }
done:
    modal_free(&stores);
    return status;
}
