// SPDX-License-Identifier: Apache-2.0
// A thread has BODIES bodies in registers, so that a source that is read from shared memory serves all of them; tiles of
// sources, as Nyland, Harris and Prins have them. A pair takes 12 float instructions and a reciprocal root.
#ifndef MODAL_KERNELS_PAIR_TILES_CUH
#define MODAL_KERNELS_PAIR_TILES_CUH

#include <cstdint>

namespace modal_cuda {

__device__ __forceinline__ float pair_reciprocal_root(float x)
{
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

// part: 0 1 2 of [parts, n, 4], or of [n, 3] where there is one part
template <int TILE, int BODIES, int UNROLL>
__global__ void __launch_bounds__(TILE) pair_sum(const float4 *__restrict__ bodies, float *part, int n, int per, float square,
                                                 int stride)
{
    __shared__ float4 tile[TILE];
    float x[BODIES], y[BODIES], z[BODIES], sx[BODIES], sy[BODIES], sz[BODIES];
    const int first = (int)blockIdx.x * BODIES * TILE + threadIdx.x;
    const int64_t begin = (int64_t)blockIdx.y * per, end = begin + per < n ? begin + per : n;
#pragma unroll
    for (int r = 0; r < BODIES; r++) {
        const float4 own = __ldg(bodies + min(first + r * TILE, n - 1));
        x[r] = own.x, y[r] = own.y, z[r] = own.z, sx[r] = sy[r] = sz[r] = 0.0f;
    }
    for (int64_t at = begin; at < end; at += TILE) {
        // past the end: weight 0, at the place of a body
        float4 source = __ldg(bodies + (at + threadIdx.x < end ? at + threadIdx.x : end - 1));
        if (at + threadIdx.x >= end) source.w = 0.0f;
        __syncthreads();
        tile[threadIdx.x] = source;
        __syncthreads();
#pragma unroll UNROLL
        for (int j = 0; j < TILE; j++) {
            const float4 b = tile[j];
#pragma unroll
            for (int r = 0; r < BODIES; r++) {
                const float dx = b.x - x[r], dy = b.y - y[r], dz = b.z - z[r];
                const float i = pair_reciprocal_root(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, square))));
                const float s = b.w * i * (i * i);
                sx[r] = fmaf(s, dx, sx[r]), sy[r] = fmaf(s, dy, sy[r]), sz[r] = fmaf(s, dz, sz[r]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < BODIES; r++) {
        const int64_t i = first + r * TILE;
        if (i < n) {
            float *to = part + ((int64_t)blockIdx.y * n + i) * stride;
            to[0] = sx[r], to[1] = sy[r], to[2] = sz[r];
        }
    }
}

} // namespace modal_cuda

#endif
