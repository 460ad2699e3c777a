/* SPDX-License-Identifier: Apache-2.0 */
/* A packed scene on the CPU: OpenMP over tiles, SIMD over the 32 lanes of a tile; all frames of a
 * tile one after the other, so that its U comes from memory once. Factors and rigid frames of a
 * mixed tile are gathered lane by lane into small buffers; the loops behind are those of a
 * whole tile. One function an instruction set, as in kernels/modal_sum/modal_sum_cpu.c. */
#include "kernels/cpu.h"
#include "kernels/deform_objects/deform_objects.h"

enum { BUFFERED_MODES = 16 };

/* Factors [.., 32] of the modes from `first` on, as many as are buffered; returns how many. */
static int gather_factors(float *factors, const float *q, const modal_pack_lane *lanes,
                          int64_t first, int64_t n_modes)
{
    const int count = n_modes - first < BUFFERED_MODES ? (int)(n_modes - first) : BUFFERED_MODES;
    for (int lane = 0; lane < 32; lane++) {
        const int64_t have = lanes[lane].n_modes - first;
        for (int k = 0; k < count; k++)
            factors[32 * k + lane] = k < have ? q[lanes[lane].q + first + k] : 0.0f;
    }
    return count;
}

/* Rigid frames [12, 32]; a lane that goes nowhere has object 0's. */
static void gather_frames(float *t, const float *frames, const modal_pack_lane *lanes)
{
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 12; i++)
            t[32 * i + lane] = frames[lanes[lane].object * (int64_t)12 + i];
}

static void store(float *points, const float *out, const modal_pack_lane *lanes,
                  const modal_pack_tile *tile)
{
    for (int lane = 0; lane < 32; lane++) {
        const int64_t point = lanes ? lanes[lane].point : (int64_t)tile->point + lane;
        if (point < 0) continue;
        for (int i = 0; i < 3; i++) points[point * 3 + i] = out[32 * i + lane];
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
