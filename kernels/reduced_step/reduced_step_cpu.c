/* SPDX-License-Identifier: Apache-2.0 */
/* All threads, and the whole step compiled for each instruction set: at r = 7 a step is thousands of
 * short loops, of which no single one is worth a call through a pointer. */
#include "kernels/cpu.h"
#include "kernels/reduced_step/reduced_force.h"

modal_reduced_force_function modal_reduced_force_base, modal_reduced_force_avx2, modal_reduced_force_avx512;
modal_reduced_step_function modal_reduced_step_base, modal_reduced_step_avx2, modal_reduced_step_avx512;

#define RS_NAME modal_reduced_step_base
#define RS_FORCE_NAME modal_reduced_force_base
#define RS_THREADS 1
#define RS_VECTORS 1
#include "kernels/reduced_step/reduced_step_host.h"

modal_status modal_reduced_step_cpu(const modal_step_task *task, modal_stream *stream, modal_error *err)
{
#if defined(MODAL_SIMD) && defined(__x86_64__)
    switch (modal_cpu_simd()) {
    case MODAL_SIMD_AVX512: return modal_reduced_step_avx512(task, stream, err);
    case MODAL_SIMD_AVX2: return modal_reduced_step_avx2(task, stream, err);
    default: break;
    }
#endif
    return modal_reduced_step_base(task, stream, err);
}

void modal_reduced_force_cpu(int32_t r, const double *stiffness, const double *table, const double *q, double *memory,
                             double *force, double *tangent)
{
#if defined(MODAL_SIMD) && defined(__x86_64__)
    switch (modal_cpu_simd()) {
    case MODAL_SIMD_AVX512: modal_reduced_force_avx512(r, stiffness, table, q, memory, force, tangent); return;
    case MODAL_SIMD_AVX2: modal_reduced_force_avx2(r, stiffness, table, q, memory, force, tangent); return;
    default: break;
    }
#endif
    modal_reduced_force_base(r, stiffness, table, q, memory, force, tangent);
}

int64_t modal_reduced_force_memory(int64_t r)
{
    return r > MODAL_STEP_TABLE_MODES ? force_work_size((int32_t)r)
                                      : 2 * modal_step_scratch_rows(r, modal_step_stiffness_rows(r, 1));
}
