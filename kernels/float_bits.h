/* SPDX-License-Identifier: Apache-2.0 */
/* The bits of a float and back, in a kernel and on a processor. */
#ifndef MODAL_KERNELS_FLOAT_BITS_H
#define MODAL_KERNELS_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define MODAL_FLOAT_BITS static __host__ __device__ __forceinline__
#else
#define MODAL_FLOAT_BITS static inline __attribute__((always_inline))
#endif

MODAL_FLOAT_BITS uint32_t modal_float_bits(float value)
{
#ifdef __CUDA_ARCH__
    return __float_as_uint(value);
#else
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
#endif
}

MODAL_FLOAT_BITS float modal_float_of(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return __uint_as_float(bits);
#else
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
#endif
}

#undef MODAL_FLOAT_BITS
#endif
