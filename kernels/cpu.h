/* SPDX-License-Identifier: Apache-2.0 */
/* Which instruction set the CPU kernels use. Each kernel that has SIMD code is compiled for several
 * (MODAL_SIMD=ON) with as many lanes and columns a register block as the set's registers hold, and
 * the widest set that this processor has is taken. */
#ifndef MODAL_KERNELS_CPU_H
#define MODAL_KERNELS_CPU_H

#include <stdint.h>

typedef enum modal_simd {
    MODAL_SIMD_BASE = 0, /* what the compiler was told; SSE2 on x86-64 */
    MODAL_SIMD_AVX2,     /* AVX2 and FMA */
    MODAL_SIMD_AVX512    /* AVX-512 F, VL, DQ */
} modal_simd;

/* The set in use. */
modal_simd modal_cpu_simd(void);
const char *modal_cpu_simd_name(modal_simd simd); /* "base", "avx2", "avx512" */

/* For tests: uses `simd` from now on; returns 0, and changes nothing, where it is not available.
 * Not while kernels run. Results of different sets differ within the stated error bounds. */
int modal_cpu_simd_select(modal_simd simd);

/* Outputs larger than this do not stay in the cache that the cores share, a quarter of it: they are written
 * past it, so that the lines they replace are not read first (where they are aligned). Smaller ones are
 * rewritten there, batch after batch: half the time on a processor of 300 MB. Bytes are the same. */
int64_t modal_cpu_stream_bytes(void);

#endif
