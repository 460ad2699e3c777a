// SPDX-License-Identifier: Apache-2.0
// A thread a sample. Rows of 32 neighbours are read whole; what is gathered lies in Morton order and is mostly in the first cache.
#include "kernels/cuda_check.cuh"
#include "kernels/surface_flow/surface_flow.h"

namespace {

constexpr int THREADS = MODAL_FLOW_BLOCK;

__global__ void __launch_bounds__(THREADS) steer(const modal_surface_flow_task task)
{
    const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (i < task.n_samples) modal_flow_steer(&task, i);
}

// Pairs, in the same order every time.
__device__ double sum_of_warp(double x)
{
    for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
    return x;
}

__global__ void __launch_bounds__(THREADS) flow(const modal_surface_flow_task task)
{
    __shared__ double warps[THREADS / 32][MODAL_FLOW_SUMS];
    const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    double sums[MODAL_FLOW_SUMS] = {0.0, 0.0};
    if (i < task.n_samples) modal_flow_step(&task, i, sums);
    for (int k = 0; k < MODAL_FLOW_SUMS; k++) {
        const double sum = sum_of_warp(sums[k]);
        if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32][k] = sum;
    }
    __syncthreads();
    if (threadIdx.x >= MODAL_FLOW_SUMS) return;
    double sum = 0.0;
    for (int w = 0; w < THREADS / 32; w++) sum += warps[w][threadIdx.x];
    task.sums[MODAL_FLOW_SUMS * (int64_t)blockIdx.x + threadIdx.x] += sum;
}

} // namespace

extern "C" modal_status modal_surface_flow_cuda(const modal_surface_flow_task *task, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (task->n_samples <= 0) return MODAL_OK;
    const int64_t blocks = (task->n_samples + THREADS - 1) / THREADS; // fewer than 2^31 / 256
    if (task->steers) {
        steer<<<(unsigned)blocks, THREADS, 0, (cudaStream_t)stream>>>(*task);
        status = modal_cuda_launched("surface_flow, steer", err);
    }
    if (status != MODAL_OK) return status;
    flow<<<(unsigned)blocks, THREADS, 0, (cudaStream_t)stream>>>(*task);
    return modal_cuda_launched("surface_flow", err);
}
