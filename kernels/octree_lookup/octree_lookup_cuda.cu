// SPDX-License-Identifier: Apache-2.0
// A thread two points, so that one is read while the other waits. Finer lattices than TWO_UP_TO wait for main memory,
// whose traffic two points at once only spread: a thread a point there.
#include "kernels/cuda_launch.cuh"
#include "kernels/octree_lookup/octree_lookup.cuh"

namespace {

using namespace modal_octree_device;

constexpr int THREADS = 256, TWO_UP_TO = 11; // bits

template <modal_octree_channels CHANNELS, bool NEAREST, int EACH>
__global__ void __launch_bounds__(THREADS) look_up_all(const modal_octree_lookup_task task)
{
    constexpr int64_t RUN = THREADS * EACH;
    for (int64_t first = blockIdx.x * RUN + threadIdx.x; first < task.n_points; first += (int64_t)gridDim.x * RUN) {
        float p[EACH][3], v[EACH][4];
        bool found[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++)
#pragma unroll
            for (int j = 0; j < 3; j++)
                p[k][j] =
                    first + k * THREADS < task.n_points ? __ldg(task.points + 3 * (first + k * THREADS) + j) : -1.0f;
#pragma unroll
        for (int k = 0; k < EACH; k++)
            found[k] = look_up<CHANNELS, NEAREST>(task.grid, p[k][0], p[k][1], p[k][2], v[k]);
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const int64_t i = first + k * THREADS;
            if (i >= task.n_points) break;
            if (task.found) task.found[i] = found[k];
            put_value<CHANNELS>(task.values, i, found[k], v[k], task.outside, task.outside_rgba8);
        }
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

int64_t blocks_of(int64_t n, int each)
{
    const int64_t blocks = (n + each - 1) / each;
    return blocks < INT32_MAX ? blocks : INT32_MAX;
}

template <modal_octree_channels CHANNELS, bool NEAREST>
modal_status launch_plain(const modal_octree_lookup_task *task, cudaStream_t stream, modal_error *err)
{
    const int each = task->grid.bits <= TWO_UP_TO ? 2 : 1;
    return modal_cuda::launch(each == 2 ? look_up_all<CHANNELS, NEAREST, 2> : look_up_all<CHANNELS, NEAREST, 1>, blocks_of(task->n_points, each * THREADS),
                              THREADS, stream, "octree_lookup", err, *task);
}

template <modal_octree_channels CHANNELS> modal_status launch(const modal_octree_lookup_task *task, cudaStream_t stream, modal_error *err)
{
    if (task->filter == MODAL_OCTREE_NEAREST) return launch_plain<CHANNELS, true>(task, stream, err);
    if (!task->levels) return launch_plain<CHANNELS, false>(task, stream, err);
    return modal_cuda::launch(look_up_levels<CHANNELS>, blocks_of(task->n_points, THREADS), THREADS, stream, "octree_lookup", err, *task,
                              mips_of(task->n_mips, task->mips));
}

} // namespace

extern "C" modal_status modal_octree_lookup_cuda(const modal_octree_lookup_task *task, modal_stream *stream, modal_error *err)
{
    if (task->n_points <= 0) return MODAL_OK;
    if (task->grid.channels == MODAL_OCTREE_RGBA8) return launch<MODAL_OCTREE_RGBA8>(task, (cudaStream_t)stream, err);
    if (task->grid.channels == MODAL_OCTREE_FLOAT) return launch<MODAL_OCTREE_FLOAT>(task, (cudaStream_t)stream, err);
    return launch<MODAL_OCTREE_FLOAT3>(task, (cudaStream_t)stream, err);
}
