// SPDX-License-Identifier: Apache-2.0
// Boxes of blocks, then one block joins them and makes the view. Bound by reading the points.
#include "kernels/cuda_check.cuh"
#include "kernels/shadow_view/shadow_view_math.h"

namespace {

constexpr int THREADS = 256, BLOCKS = MODAL_SHADOW_VIEW_SCRATCH / 6;

__device__ shadow_box of_block(shadow_box mine)
{
    __shared__ shadow_box warps[THREADS / 32];
    for (int step = 16; step > 0; step /= 2) {
        float low[3], high[3];
        for (int k = 0; k < 3; k++) {
            low[k] = __shfl_xor_sync(~0u, mine.low[k], step);
            high[k] = __shfl_xor_sync(~0u, mine.high[k], step);
        }
        shadow_box_join(&mine, low, high);
    }
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 1; i < THREADS / 32; i++) shadow_box_join(&mine, warps[i].low, warps[i].high);
    return mine;
}

__global__ void __launch_bounds__(THREADS) find(const modal_shadow_view_task task)
{
    shadow_box box = shadow_box_empty();
    for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < task.n_points; i += (int64_t)gridDim.x * THREADS)
        shadow_box_add(&box, &task, task.points + 3 * i);
    box = of_block(box);
    if (threadIdx.x == 0)
        for (int k = 0; k < 3; k++) task.scratch[6 * blockIdx.x + k] = box.low[k], task.scratch[6 * blockIdx.x + 3 + k] = box.high[k];
}

__global__ void __launch_bounds__(THREADS) make(const modal_shadow_view_task task, int n_blocks)
{
    shadow_box box = shadow_box_empty();
    for (int i = threadIdx.x; i < n_blocks; i += THREADS) shadow_box_join(&box, task.scratch + 6 * i, task.scratch + 6 * i + 3);
    box = of_block(box);
    if (threadIdx.x == 0) *task.view = shadow_view_of(&task, &box);
}

} // namespace

extern "C" modal_status modal_shadow_view_cuda(const modal_shadow_view_task *task, modal_stream *stream, modal_error *err)
{
    const int64_t wanted = (task->n_points + 4 * THREADS - 1) / (4 * THREADS);
    const int blocks = (int)(wanted < 1 ? 1 : wanted < BLOCKS ? wanted : BLOCKS);
    find<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(*task);
    modal_status status = modal_cuda_launched("shadow_view", err);
    if (status != MODAL_OK) return status;
    make<<<1, THREADS, 0, (cudaStream_t)stream>>>(*task, blocks);
    return modal_cuda_launched("shadow_view", err);
}
