// SPDX-License-Identifier: Apache-2.0
// A thread moves one float of the output for four columns, so that writes are contiguous, a warp's
// reads touch 11 points instead of 32, the index is read once for four columns and four gathers are
// in flight. With a local permutation, and a column that fits the L2 cache, memory sees every input
// line about once. With CHECKED each float is compared on its way; a thread that finds one that is not
// finite says so, which costs a store only then.
#include <cfloat>

#include "kernels/cuda_check.cuh"
#include "kernels/reorder/reorder.h"

namespace {

constexpr int THREADS = 256, COLUMNS = 4;

template <int WIDTH, bool CHECKED>
__global__ void __launch_bounds__(THREADS) gather(const modal_reorder_task task)
{
    const int64_t floats = task.n_vertices * WIDTH, row_blocks = (floats + THREADS - 1) / THREADS;
    const int64_t n_blocks = row_blocks * ((task.n_columns + COLUMNS - 1) / COLUMNS);
    for (int64_t block = blockIdx.x; block < n_blocks; block += gridDim.x) {
        const int64_t k = block % row_blocks * THREADS + threadIdx.x;
        const int64_t first = block / row_blocks * COLUMNS;
        if (k >= floats) continue;
        const int64_t point = k / WIDTH, part = k - WIDTH * point;
        const int64_t to = task.target ? (int64_t)__ldg(task.target + point) * WIDTH + part : k;
        const int64_t from = task.source ? (int64_t)__ldg(task.source + point) * WIDTH + part : k;
        bool odd = false;
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
            if (first + j < task.n_columns) {
                const float x = __ldg(task.in + (first + j) * floats + from);
                task.out[__ldg(task.base + first + j) * WIDTH + to] = x;
                if (CHECKED) odd |= !(fabsf(x) <= FLT_MAX);
            }
        if (CHECKED && odd) *(volatile int32_t *)task.nonfinite = 1; // by whoever, the same
    }
}

template <int WIDTH>
void launch(const modal_reorder_task &task, unsigned grid, cudaStream_t stream)
{
    if (task.nonfinite)
        gather<WIDTH, true><<<grid, THREADS, 0, stream>>>(task);
    else
        gather<WIDTH, false><<<grid, THREADS, 0, stream>>>(task);
}

} // namespace

extern "C" modal_status modal_reorder_cuda(const modal_reorder_task *task, modal_stream *stream,
                                           modal_error *err)
{
    if (task->n_vertices <= 0 || task->n_columns <= 0) return MODAL_OK;
    const int64_t blocks = (task->n_vertices * task->width + THREADS - 1) / THREADS *
                           ((task->n_columns + COLUMNS - 1) / COLUMNS);
    const unsigned grid = (unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX);
    if (task->width == 3)
        launch<3>(*task, grid, (cudaStream_t)stream);
    else
        launch<4>(*task, grid, (cudaStream_t)stream);
    return modal_cuda_launched("reorder", err);
}
