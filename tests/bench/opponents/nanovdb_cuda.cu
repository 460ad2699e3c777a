// SPDX-License-Identifier: Apache-2.0
// Opponent: NanoVDB's sampler on a GPU, an accessor a thread.
#include "tests/bench/opponents/nanovdb_look_up.h"

#include "kernels/cuda_check.cuh"
#include "tests/bench/opponents/octree_opponents.h"

namespace {

constexpr int THREADS = 256;

template <typename VALUE> __global__ void __launch_bounds__(THREADS) look_up(const nanovdb::NanoGrid<VALUE> *grid, octree_points p)
{
    const auto accessor = grid->getAccessor();
    for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < p.n; i += (int64_t)gridDim.x * THREADS) {
        const float at[3] = {__ldg(p.points + 3 * i), __ldg(p.points + 3 * i + 1), __ldg(p.points + 3 * i + 2)};
        if constexpr (std::is_same<VALUE, float>::value) ((float *)p.values)[i] = nanovdb_float(accessor, at);
        else ((uint32_t *)p.values)[i] = nanovdb_rgba8(accessor, at);
    }
}

} // namespace

extern "C" modal_status nanovdb_cuda(const void *d_data, const octree_points *p, modal_stream *stream, modal_error *err)
{
    const int64_t blocks = (p->n + THREADS - 1) / THREADS;
    const unsigned grid = (unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX);
    if (p->channels == MODAL_OCTREE_RGBA8)
        look_up<<<grid, THREADS, 0, (cudaStream_t)stream>>>((const nanovdb::NanoGrid<uint32_t> *)d_data, *p);
    else look_up<<<grid, THREADS, 0, (cudaStream_t)stream>>>((const nanovdb::NanoGrid<float> *)d_data, *p);
    return modal_cuda_launched("NanoVDB", err);
}
