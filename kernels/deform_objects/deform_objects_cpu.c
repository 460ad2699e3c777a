/* SPDX-License-Identifier: Apache-2.0 */
/* A packed scene on the CPU: OpenMP over tiles, SIMD over the 32 lanes of a tile; all frames of a
 * tile one after the other, so that its U comes from memory once. The objects of a mixed tile are
 * computed one by one in whole vectors: some lanes for nothing, but their factors and poses are
 * broadcast from where they lie. One function an instruction set, as in kernels/modal_sum/modal_sum_cpu.c. */
#include <string.h>

#include "kernels/cpu.h"
#include "kernels/deform_objects/deform_objects.h"
#include "lib/base/tile.h"

/* The lanes of a mixed tile as runs of one object's consecutive points. */
typedef struct tile_runs {
    int n, begin[MODAL_TILE + 1]; /* behind the last one, 32 */
} tile_runs;

static void find_runs(tile_runs *runs, const modal_pack_lane *lanes)
{
    runs->n = 0;
    for (int lane = 0; lane < MODAL_TILE; lane++) {
        const modal_pack_lane *now = &lanes[lane], *last = &lanes[lane > 0 ? lane - 1 : 0];
        if (lane == 0 || now->object != last->object || now->n_modes != last->n_modes ||
            last->point < 0 || now->point != last->point + 1)
            runs->begin[runs->n++] = lane;
    }
    runs->begin[runs->n] = MODAL_TILE;
}

#define LANES 4
#define GROUPS 4
#define TARGET
#define NAME(x) x##_base
#define STREAM(p, v) (*(unaligned_base *)(p) = (v)) /* not used */
#include "kernels/deform_objects/deform_objects_simd.h"

#if defined(MODAL_SIMD) && defined(__x86_64__)
#define LANES 8
#define GROUPS 4
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) x##_avx2
#define STREAM(p, v) (*(unaligned_avx2 *)(p) = (v))
#include "kernels/deform_objects/deform_objects_simd.h"

#define LANES 16
#define GROUPS 2
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma,prefer-vector-width=512")))
#define NAME(x) x##_avx512
#define STREAM(p, v) (*(unaligned_avx512 *)(p) = (v))
#include "kernels/deform_objects/deform_objects_simd.h"
#endif

modal_status modal_deform_objects_cpu(const modal_deform_objects_task *task, modal_stream *stream,
                                      modal_error *err)
{
    (void)stream, (void)err;
    void (*deform_tile)(const modal_deform_objects_task *, int32_t) = deform_tile_base;
#if defined(MODAL_SIMD) && defined(__x86_64__)
    switch (modal_cpu_simd()) {
    case MODAL_SIMD_AVX512: deform_tile = deform_tile_avx512; break;
    case MODAL_SIMD_AVX2: deform_tile = deform_tile_avx2; break;
    default: break;
    }
#endif
    const modal_object_pack *pack = task->pack;
    /* as kernels/modal_sum/modal_sum_cpu.c: a team of threads is worth 100 KB or 300,000 products */
    const double n_frames = (double)task->n_frames, products = (double)pack->matrix_floats;
    const double bytes = 4.0 * products + pack->n_tiles * (512.0 + 768.0 * n_frames);
    const int parallel = bytes / 100e3 + products * n_frames / 300e3 > 1.0;
    /* in turn, since tiles come with ever fewer modes */
#pragma omp parallel for schedule(static, 8) if (parallel)
    for (int32_t tile = 0; tile < pack->n_tiles; tile++) deform_tile(task, tile);
    return MODAL_OK;
}
