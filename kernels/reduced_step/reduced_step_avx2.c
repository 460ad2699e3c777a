/* SPDX-License-Identifier: Apache-2.0 */
/* reduced_step_cpu.c's choice where the processor has it. */
#if defined(MODAL_SIMD) && defined(__x86_64__)
#pragma GCC target("avx2,fma")
#define RS_NAME modal_reduced_step_avx2
#define RS_FORCE_NAME modal_reduced_force_avx2
#define RS_THREADS 1
#define RS_VECTORS 1
#define RS_LEAVES modal_step_leaves_avx2
#include "kernels/reduced_step/reduced_force.h"

modal_reduced_step_function modal_reduced_step_avx2;
modal_reduced_force_function modal_reduced_force_avx2;
#include "kernels/reduced_step/reduced_step_host.h"
#endif
