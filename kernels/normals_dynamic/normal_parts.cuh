// SPDX-License-Identifier: Apache-2.0
// What the kernels of normals share. Products are rounded one by one, never fused: the cross product
// of an edge with itself must be exactly zero.
#ifndef MODAL_KERNELS_NORMAL_PARTS_CUH
#define MODAL_KERNELS_NORMAL_PARTS_CUH

namespace modal_cuda {

__device__ __forceinline__ float difference_of_products(float a, float b, float c, float d)
{
    return __fsub_rn(__fmul_rn(a, b), __fmul_rn(c, d));
}

__device__ __forceinline__ void cross(const float (&a)[3], const float (&b)[3], float (&out)[3])
{
    out[0] = difference_of_products(a[1], b[2], a[2], b[1]);
    out[1] = difference_of_products(a[2], b[0], a[0], b[2]);
    out[2] = difference_of_products(a[0], b[1], a[1], b[0]);
}

// N / |N|, or the zero vector. Scaled by a power of two first, so that squares neither overflow nor
// underflow: exact.
__device__ __forceinline__ void normalise(float (&n)[3])
{
    const int exponent = max(max(__float_as_int(n[0]) & 0x7f800000, __float_as_int(n[1]) & 0x7f800000),
                             __float_as_int(n[2]) & 0x7f800000);
    const float scale = __int_as_float(max((253 << 23) - exponent, 1 << 23));
#pragma unroll
    for (int i = 0; i < 3; i++) n[i] *= scale;
    const float square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    const float inverse = square == 0.0f ? 0.0f : __frsqrt_rn(square);
#pragma unroll
    for (int i = 0; i < 3; i++) n[i] *= inverse;
}

} // namespace modal_cuda

#endif
