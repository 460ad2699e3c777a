// SPDX-License-Identifier: Apache-2.0
// A thread a sample. What is gathered lies in Morton order and is mostly in the first cache. The loop over the 26 ways
// is unrolled: a way's share is an addition or two, where the way of a bit of the mask took 40 instructions to find.
#include "kernels/cuda_check.cuh"
#include "kernels/surface_flow/surface_flow.h"

namespace {

constexpr int THREADS = MODAL_FLOW_BLOCK, AHEAD = 3;

__global__ void __launch_bounds__(THREADS) steer(const modal_surface_flow_task task)
{
    const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (i < task.n_samples) modal_flow_steer(&task, i);
}

// e is -1, 0 or 1.
__device__ __forceinline__ float along_axis(float sum, int e, float x)
{
    return e > 0 ? sum + x : e < 0 ? sum - x : sum;
}

// modal_flow_gather with the same bytes. A share's rounding to multiples of 2^-24: floats from 1/2 on are such
// multiples, and sums of 1/2 and one below are rounded to them.
template <bool DIRT>
__device__ __forceinline__ void gather(const modal_surface_flow_task &t, int64_t i, uint32_t mask, float area,
                                       double *liquid, double *dirt)
{
    const int32_t *row = modal_flow_row(&t, i);
    const float weights[3] = {area, 0.5f * area, 0.33333334f * area}; // modal_flow_weight
    double in = 0, carried = 0;
    int left = __popc(mask) - AHEAD,
        ahead[AHEAD]; // indices come from main memory: they are read some neighbours before
#pragma unroll
    for (int k = 0; k < AHEAD; k++) ahead[k] = left + AHEAD > k ? __ldg(row + k * MODAL_FLOW_TILE) : 0;
    row += AHEAD * MODAL_FLOW_TILE;
#pragma unroll
    for (int b = 0; b < 26; b++) {
        if (!(mask >> b & 1)) continue;
        const int from = 25 - b, k = from < 13 ? from : from + 1, ex = k % 3 - 1, ey = k / 3 % 3 - 1,
                  ez = k / 9 - 1; // from there to here
        const int64_t j = ahead[0];
        const float4 steer = __ldg((const float4 *)t.steer + j);
#pragma unroll
        for (int m = 0; m + 1 < AHEAD; m++) ahead[m] = ahead[m + 1];
        if (left > 0) ahead[AHEAD - 1] = __ldg(row);
        row += MODAL_FLOW_TILE, left--;
        const float along = along_axis(along_axis(along_axis(0.0f, ex, steer.x), ey, steer.y), ez, steer.z);
        if (!(along > 0.0f)) continue; // a share of 0
        const float exact = __fmul_rn(along, weights[ex * ex + ey * ey + ez * ez - 1]);
        const float share = exact < 0.5f ? __fadd_rn(__fadd_rn(exact, 0.5f), -0.5f) : exact;
        in += (double)__ldg(t.liquid + j) * (double)share;
        if (DIRT) carried += (double)__ldg(t.moving + j) * (double)share;
    }
    *liquid = in;
    *dirt = carried;
}

// Pairs, in the same order every time.
__device__ double sum_of_warp(double x)
{
    for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
    return x;
}

template <bool DIRT> __global__ void __launch_bounds__(THREADS) flow(const modal_surface_flow_task task)
{
    __shared__ double warps[THREADS / 32][MODAL_FLOW_SUMS];
    const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    double sums[MODAL_FLOW_SUMS] = {0.0, 0.0};
    if (i < task.n_samples) {
        double in, carried;
        gather<DIRT>(task, i, (uint32_t)task.masks[i], task.areas[i], &in, &carried);
        modal_flow_settle(&task, i, in, carried, sums);
    }
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
    if (task->dirt)
        flow<true><<<(unsigned)blocks, THREADS, 0, (cudaStream_t)stream>>>(*task);
    else
        flow<false><<<(unsigned)blocks, THREADS, 0, (cudaStream_t)stream>>>(*task);
    return modal_cuda_launched("surface_flow", err);
}
