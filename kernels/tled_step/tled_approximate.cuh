// SPDX-License-Identifier: Apache-2.0
// 1 / x and x^(-2/3) of float to about one unit in the last place, on the special function units.
#ifndef MODAL_KERNELS_TLED_APPROXIMATE_CUH
#define MODAL_KERNELS_TLED_APPROXIMATE_CUH

namespace modal_tled {

__device__ __forceinline__ float inverse(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ float power_minus_two_thirds(float x)
{
    float log, power;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log) : "f"(x));
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(-2.0f / 3 * log));
    return power;
}

} // namespace modal_tled

#endif
