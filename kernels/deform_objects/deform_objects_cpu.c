/* SPDX-License-Identifier: Apache-2.0 */
/* A packed scene on the CPU: OpenMP over tiles, SIMD over the 32 lanes of a tile; all frames of a
 * tile one after the other, so that its U comes from memory once. Factors and rigid frames of a
 * mixed tile are spread over its lanes in small buffers, an object at a time; the loops behind are those
 * of a whole tile. One function an instruction set, as in kernels/modal_sum/modal_sum_cpu.c. */
#include <string.h>

#include "kernels/cpu.h"
#include "kernels/deform_objects/deform_objects.h"

enum { BUFFERED_MODES = 16 };

/* The lanes of a mixed tile as runs: of one object, and of consecutive points. */
typedef struct tile_runs {
    int n_objects, n_points;
    int object[33], point[33]; /* where each run begins; behind the last one, 32 */
} tile_runs;

static void find_runs(tile_runs *runs, const modal_pack_lane *lanes)
{
    runs->n_objects = runs->n_points = 0;
    for (int lane = 0; lane < 32; lane++) {
        const modal_pack_lane *now = &lanes[lane], *last = &lanes[lane > 0 ? lane - 1 : 0];
        if (lane == 0 || now->object != last->object || now->n_modes != last->n_modes)
            runs->object[runs->n_objects++] = lane;
        if (lane == 0 || now->point != last->point + 1 || now->point < 0)
            runs->point[runs->n_points++] = lane;
    }
    runs->object[runs->n_objects] = runs->point[runs->n_points] = 32;
}

/* Writes the tile's points, from out [3][32]: runs of them at once. */
static void store(float *points, const float *out, const modal_pack_lane *lanes,
                  const tile_runs *runs, const modal_pack_tile *tile)
{
    float all[96];
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 3; i++) all[3 * lane + i] = out[32 * i + lane];
    if (!lanes) {
        memcpy(points + 3 * (int64_t)tile->point, all, sizeof all);
        return;
    }
    for (int run = 0; run < runs->n_points; run++) {
        const int lane = runs->point[run];
        if (lanes[lane].point >= 0)
            memcpy(points + 3 * (int64_t)lanes[lane].point, all + 3 * lane,
                   (size_t)(runs->point[run + 1] - lane) * 12);
    }
}

#define LANES 4
#define GROUPS 4
#define TARGET
#define NAME(x) x##_base
#include "kernels/deform_objects/deform_objects_simd.h"

#if defined(MODAL_SIMD) && defined(__x86_64__)
#define LANES 8
#define GROUPS 4
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) x##_avx2
#include "kernels/deform_objects/deform_objects_simd.h"

#define LANES 16
#define GROUPS 2
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma,prefer-vector-width=512")))
#define NAME(x) x##_avx512
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
    const int parallel =
        (pack->matrix_floats / 3 + pack->n_tiles * (int64_t)128) * task->n_frames > 100000;
#pragma omp parallel for schedule(dynamic, 16) if (parallel)
    for (int32_t tile = 0; tile < pack->n_tiles; tile++) deform_tile(task, tile);
    return MODAL_OK;
}
