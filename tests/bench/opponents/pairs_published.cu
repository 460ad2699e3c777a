// SPDX-License-Identifier: Apache-2.0
// Opponent: all pairs as L. Nyland, M. Harris and J. Prins have them (Fast N-Body Simulation with CUDA, 2007): a body a thread,
// tiles as large as a block, all sources in one go. And what float32 multiply-adds the device reaches.
#include "kernels/cuda_check.cuh"
#include "kernels/pair_sum/pair_sum.h"
#include "kernels/pair_sum/pair_tiles.cuh"
#include "tests/bench/opponents/ring_patterns.h"

namespace {

constexpr int CHAINS = 8, THREADS = 256; // of multiply-adds, each waiting for itself alone

__global__ void multiply_adds(float *out, int count)
{
    float a[CHAINS], x = (float)threadIdx.x * 1e-9f, sum = 0.0f;
#pragma unroll
    for (int k = 0; k < CHAINS; k++) a[k] = (float)k + x;
    for (int i = 0; i < count; i++)
#pragma unroll
        for (int k = 0; k < CHAINS; k++) a[k] = fmaf(a[k], 0.999f, x);
#pragma unroll
    for (int k = 0; k < CHAINS; k++) sum += a[k];
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

template <int TILE> void launch(const modal_pair_sum_task *task, cudaStream_t stream)
{
    const int n = (int)task->n_bodies;
    modal_cuda::pair_sum<TILE, 1, 16><<<(unsigned)((n + TILE - 1) / TILE), TILE, 0, stream>>>(
        (const float4 *)task->bodies, task->sums, n, n, task->softening * task->softening, 3);
}

} // namespace

extern "C" modal_status pairs_published(const modal_pair_sum_task *task, int tile, modal_stream *stream, modal_error *err)
{
    if (tile == 32)
        launch<32>(task, (cudaStream_t)stream);
    else
        launch<256>(task, (cudaStream_t)stream);
    return modal_cuda_launched("published pairs", err);
}

extern "C" modal_status pairs_multiply_adds(float *out, int blocks, int count, modal_stream *stream, modal_error *err)
{
    multiply_adds<<<(unsigned)blocks, THREADS, 0, (cudaStream_t)stream>>>(out, count / CHAINS);
    return modal_cuda_launched("multiply-adds", err);
}
