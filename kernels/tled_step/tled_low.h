/* SPDX-License-Identifier: Apache-2.0 */
/* What float32 loses of u and of d, six numbers of a node, in two words: whole multiples of 2^-11 (of u) and 2^-10 (of d) of the
 * unit in the last place of the number that each belongs to, so that u has 35 bits and d 34. What is added to a number in every
 * step is most often no whole multiple: rounded to the nearest one it would be off by the same amount in every step. So
 * before it is rounded a shift is added, another one in every step, and evenly spread: sums over any number of steps are
 * off by a few units in all (L. Kuipers, H. Niederreiter, Uniform distribution of sequences, 1974). All words 0:
 * nothing is lost. For kernels whose nodes have no room for more (tled_nodes.cuh); also for a
 * processor, which tests it. */
#ifndef MODAL_KERNELS_TLED_LOW_H
#define MODAL_KERNELS_TLED_LOW_H

#include <math.h>

#include "kernels/float_bits.h"

#ifdef __CUDACC__
#define MODAL_TLED_BOTH __host__ __device__ __forceinline__
#else
#define MODAL_TLED_BOTH static inline
#endif

typedef struct modal_tled_low {
    float u[3], d[3];
} modal_tled_low;

/* The shift of step n, between -1/2 and 1/2: multiples of the golden ratio without their whole parts, of 12 bits, so that a sum with
 * a whole number of 11 bits is exact. */
MODAL_TLED_BOTH float modal_tled_low_shift(int64_t n)
{
    return ((float)(((uint32_t)n * 0x9e3779b9u) >> 20) + 0.5f) * 0x1p-12f - 0.5f;
}

/* 2^n; a constant where n is one (nvcc 13 computes (float)(1ull << n), and one over it, anew for each node). */
MODAL_TLED_BOTH float modal_tled_low_power(int n) { return modal_float_of((uint32_t)(127 + n) << 23); }

/* x in units of 2^-shift of the power of two below |of|, more added, rounded and cut to `bits` bits, plus 1.5 2^23: its low bits are the
 * whole number in two's complement. Of 0 and of very small numbers nothing is kept. NaN becomes the largest number, which belongs to a
 * node that is lost anyway. */
MODAL_TLED_BOTH float modal_tled_low_whole(float x, float of, int shift, int bits, float more)
{
    const uint32_t power = modal_float_bits(of) & 0x7f800000u, scale = 0x7f000000u + ((uint32_t)shift << 23) - power;
    const float whole = x * modal_float_of(power > 0x10800000u && power < 0x7f000000u ? scale : 0) + more, most = (float)((1 << (bits - 1)) - 1);
    return fmaxf(fminf(whole, most), -most) + 12582912.0f;
}

MODAL_TLED_BOTH uint32_t modal_tled_low_bits(float x, float of, int shift, int bits, float more)
{
    return modal_float_bits(modal_tled_low_whole(x, of, shift, bits, more)) & ((1u << bits) - 1);
}

/* A whole number of such units: (whole - offset) 2^-shift is exact, in one instruction. */
MODAL_TLED_BOTH float modal_tled_low_units(float whole, float offset, float of, int shift)
{
    const float unit = modal_tled_low_power(-shift);
    return (whole * unit - offset * unit) * modal_float_of(modal_float_bits(of) & 0x7f800000u);
}

MODAL_TLED_BOTH float modal_tled_low_float(uint32_t found, float of, int shift, int bits)
{
    const uint32_t sign = 1u << (bits - 1), mask = (1u << bits) - 1; /* excess of 2^(bits - 1), which is taken off again */
    return modal_tled_low_units(modal_float_of(0x4b400000u + (((found & mask) + sign) & mask)), 12582912.0f + (float)sign, of, shift);
}

/* modal_tled_low_float of modal_tled_low_bits, without the bits. */
MODAL_TLED_BOTH float modal_tled_low_round(float x, float of, int shift, int bits, float more)
{
    return modal_tled_low_units(modal_tled_low_whole(x, of, shift, bits, more), 12582912.0f, of, shift);
}

/* What packing and unpacking leave of low. */
MODAL_TLED_BOTH void modal_tled_low_rounded(modal_tled_low *low, const float u[3], const float d[3], float more)
{
    for (int i = 0; i < 3; i++) {
        low->u[i] = modal_tled_low_round(low->u[i], u[i], 34, 11, more);
        low->d[i] = modal_tled_low_round(low->d[i], d[i], 33, 10, more);
    }
}

/* more: modal_tled_low_shift of the step. words[0]: u x, u y, d x; words[1]: u z, d y, d z; from low bits to high ones. */
MODAL_TLED_BOTH void modal_tled_low_pack(const modal_tled_low *low, const float u[3], const float d[3], float more, uint32_t words[2])
{
    words[0] = modal_tled_low_bits(low->u[0], u[0], 34, 11, more) | modal_tled_low_bits(low->u[1], u[1], 34, 11, more) << 11 |
               modal_tled_low_bits(low->d[0], d[0], 33, 10, more) << 22;
    words[1] = modal_tled_low_bits(low->u[2], u[2], 34, 11, more) | modal_tled_low_bits(low->d[1], d[1], 33, 10, more) << 11 |
               modal_tled_low_bits(low->d[2], d[2], 33, 10, more) << 21;
}

MODAL_TLED_BOTH void modal_tled_low_unpack(const uint32_t words[2], const float u[3], const float d[3], modal_tled_low *low)
{
    low->u[0] = modal_tled_low_float(words[0], u[0], 34, 11);
    low->u[1] = modal_tled_low_float(words[0] >> 11, u[1], 34, 11);
    low->u[2] = modal_tled_low_float(words[1], u[2], 34, 11);
    low->d[0] = modal_tled_low_float(words[0] >> 22, d[0], 33, 10);
    low->d[1] = modal_tled_low_float(words[1] >> 11, d[1], 33, 10);
    low->d[2] = modal_tled_low_float(words[1] >> 21, d[2], 33, 10);
}

#endif
