// SPDX-License-Identifier: Apache-2.0
// A thread a point.
#include "kernels/cuda_check.cuh"
#include "kernels/octree_lookup/octree_lookup.cuh"

namespace {

using namespace modal_octree_device;

constexpr int THREADS = 256;

template <modal_octree_channels CHANNELS, bool NEAREST> __global__ void __launch_bounds__(THREADS) look_up_all(const modal_octree_lookup_task task)
{
    for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < task.n_points; i += (int64_t)gridDim.x * THREADS) {
        float v[4];
        const bool found =
            look_up<CHANNELS, NEAREST>(task.grid, __ldg(task.points + 3 * i), __ldg(task.points + 3 * i + 1), __ldg(task.points + 3 * i + 2), v);
        if (task.found) task.found[i] = found;
        put_value<CHANNELS>(task.values, i, found, v, task.outside, task.outside_rgba8);
    }
}

template <modal_octree_channels CHANNELS>
__global__ void __launch_bounds__(THREADS) look_up_levels(const modal_octree_lookup_task task, const __grid_constant__ mip_set set)
{
    for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < task.n_points; i += (int64_t)gridDim.x * THREADS) {
        float v[4];
        const bool found = look_up_level<CHANNELS>(task.grid, set, __ldg(task.levels + i), __ldg(task.points + 3 * i), __ldg(task.points + 3 * i + 1),
                                                   __ldg(task.points + 3 * i + 2), v);
        if (task.found) task.found[i] = found;
        put_value<CHANNELS>(task.values, i, found, v, task.outside, task.outside_rgba8);
    }
}

template <modal_octree_channels CHANNELS> void launch(const modal_octree_lookup_task *task, unsigned grid, cudaStream_t stream)
{
    if (task->filter == MODAL_OCTREE_NEAREST) look_up_all<CHANNELS, true><<<grid, THREADS, 0, stream>>>(*task);
    else if (!task->levels) look_up_all<CHANNELS, false><<<grid, THREADS, 0, stream>>>(*task);
    else look_up_levels<CHANNELS><<<grid, THREADS, 0, stream>>>(*task, mips_of(task->n_mips, task->mips));
}

} // namespace

extern "C" modal_status modal_octree_lookup_cuda(const modal_octree_lookup_task *task, modal_stream *stream, modal_error *err)
{
    if (task->n_points <= 0) return MODAL_OK;
    const int64_t blocks = (task->n_points + THREADS - 1) / THREADS;
    const unsigned grid = (unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX);
    if (task->grid.channels == MODAL_OCTREE_RGBA8) launch<MODAL_OCTREE_RGBA8>(task, grid, (cudaStream_t)stream);
    else if (task->grid.channels == MODAL_OCTREE_FLOAT) launch<MODAL_OCTREE_FLOAT>(task, grid, (cudaStream_t)stream);
    else launch<MODAL_OCTREE_FLOAT3>(task, grid, (cudaStream_t)stream);
    return modal_cuda_launched("octree_lookup", err);
}
