/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/modes/symmetric_kernels.h"

#include <string.h>

#include "kernels/cpu.h"

#define TARGET
#define NAME(x) x##_base
#include "lib/modes/symmetric_simd.h"

#if defined(MODAL_SIMD) && defined(__x86_64__)
#define TARGET __attribute__((target("avx2")))
#define NAME(x) x##_avx2
#include "lib/modes/symmetric_simd.h"

#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx2,prefer-vector-width=512")))
#define NAME(x) x##_avx512
#include "lib/modes/symmetric_simd.h"
#endif

const modal_symmetric_kernels *modal_symmetric(void)
{
#if defined(MODAL_SIMD) && defined(__x86_64__)
    switch (modal_cpu_simd()) {
    case MODAL_SIMD_AVX512: return &kernels_avx512;
    case MODAL_SIMD_AVX2: return &kernels_avx2;
    default: break;
    }
#endif
    return &kernels_base;
}
