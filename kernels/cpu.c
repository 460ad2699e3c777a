/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/cpu.h"

#include <stdatomic.h>
#include <stdio.h>

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

int64_t modal_cpu_stream_bytes(void)
{
    enum { LEAST = 8 << 20 };
    static _Atomic int64_t found; /* 0: not yet; all threads find the same */
    int64_t bytes = atomic_load_explicit(&found, memory_order_relaxed);
    if (bytes > 0) return bytes;
    long long kilobytes = 0;
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
    if (file && fscanf(file, "%lldK", &kilobytes) == 1 && kilobytes > 0 && kilobytes < 1 << 30)
        bytes = kilobytes * 1024 / 4;
    if (file) fclose(file);
    bytes = bytes > LEAST ? bytes : LEAST;
    atomic_store_explicit(&found, bytes, memory_order_relaxed);
    return bytes;
}
