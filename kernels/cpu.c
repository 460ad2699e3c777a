/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/cpu.h"

#include <stdatomic.h>

static _Atomic int selected = -1; /* -1: the widest */

static int available(modal_simd simd)
{
#if defined(MODAL_SIMD) && defined(__x86_64__)
    if (simd == MODAL_SIMD_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq");
    if (simd == MODAL_SIMD_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return simd == MODAL_SIMD_BASE;
}

modal_simd modal_cpu_simd(void)
{
    int simd = atomic_load_explicit(&selected, memory_order_relaxed);
    if (simd >= 0) return (modal_simd)simd;
    for (simd = MODAL_SIMD_AVX512; !available((modal_simd)simd); simd--) continue;
    atomic_store_explicit(&selected, simd, memory_order_relaxed);
    return (modal_simd)simd;
}

const char *modal_cpu_simd_name(modal_simd simd)
{
    static const char *const names[] = {"base", "avx2", "avx512"};
    return names[simd];
}

int modal_cpu_simd_select(modal_simd simd)
{
    if (!available(simd)) return 0;
    atomic_store_explicit(&selected, (int)simd, memory_order_relaxed);
    return 1;
}
