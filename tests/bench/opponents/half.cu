// SPDX-License-Identifier: Apache-2.0
// Opponent: u = U q with U in float16, half the bytes, sums in float32. A warp has 128 vertices, a lane four of them: 8 bytes a row of U.
#include <cuda_fp16.h>

#include "kernels/cuda_check.cuh"
#include "tests/bench/opponents/opponents.h"

namespace {

constexpr int WIDTH = 128, THREADS = 256;

__global__ void pack(int64_t n, int r, const float *__restrict__ U, __half *__restrict__ half)
{
    const int64_t count = n * 3 * r;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x) {
        const int64_t row = i / WIDTH; // (tile, mode, component)
        const int64_t tile = row / (3 * r), v = tile * WIDTH + i % WIDTH;
        half[i] = __float2half_rn(U[(v / 32 * 3 * r + row % (3 * r)) * 32 + v % 32]);
    }
}

__global__ void __launch_bounds__(THREADS) product(int64_t n_tiles, int r, const uint2 *__restrict__ half, const float *__restrict__ q, float *__restrict__ u)
{
    const int64_t tile = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (tile >= n_tiles) return;
    const uint2 *from = half + tile * 3 * r * 32 + lane;
    float sum[3][4] = {};
#pragma unroll 4
    for (int k = 0; k < r; k++) {
        const float w = q[k];
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const uint2 four = __ldcs(from + (3 * k + c) * 32);
            const float2 a = __half22float2(*reinterpret_cast<const __half2 *>(&four.x)), b = __half22float2(*reinterpret_cast<const __half2 *>(&four.y));
            sum[c][0] = fmaf(a.x, w, sum[c][0]);
            sum[c][1] = fmaf(a.y, w, sum[c][1]);
            sum[c][2] = fmaf(b.x, w, sum[c][2]);
            sum[c][3] = fmaf(b.y, w, sum[c][3]);
        }
    }
    float4 *to = reinterpret_cast<float4 *>(u + 3 * (tile * WIDTH + 4 * lane));
    to[0] = make_float4(sum[0][0], sum[1][0], sum[2][0], sum[0][1]);
    to[1] = make_float4(sum[1][1], sum[2][1], sum[0][2], sum[1][2]);
    to[2] = make_float4(sum[2][2], sum[0][3], sum[1][3], sum[2][3]);
}

} // namespace

extern "C" modal_status half_pack(int64_t n, int r, const float *U, void *half, modal_stream *stream, modal_error *err)
{
    pack<<<4096, THREADS, 0, (cudaStream_t)stream>>>(n, r, U, (__half *)half);
    return modal_cuda_launched("half", err);
}

extern "C" modal_status half_product(int64_t n, int r, const void *half, const float *q, float *u, modal_stream *stream, modal_error *err)
{
    const unsigned blocks = (unsigned)((n / WIDTH * 32 + THREADS - 1) / THREADS);
    product<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(n / WIDTH, r, (const uint2 *)half, q, u);
    return modal_cuda_launched("half", err);
}
