/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves, 8 at a time. */
#if defined(MODAL_SIMD) && defined(__x86_64__)
#pragma GCC target("avx512f,avx512vl,avx512dq,avx2,fma")
#define RS_PACK 8
#define RS_LEAVES modal_step_leaves_avx512
#include "kernels/reduced_step/reduced_step_leaves_pack.h"
#endif
