// SPDX-License-Identifier: Apache-2.0
// Memory-bound: a thread makes one point of four columns, so that the index is read once for them and writes are
// contiguous. Every operation is rounded by itself, since the bits are the contract. Not measured yet.
#include <cfloat>

#include "kernels/cuda_check.cuh"
#include "kernels/speed/speed.h"

namespace {

constexpr int THREADS = 256, COLUMNS = 4;

__global__ void __launch_bounds__(THREADS) measure(const modal_speed_task task)
{
    const int64_t n = task.n_vertices, row_blocks = (n + THREADS - 1) / THREADS;
    const int64_t n_blocks = row_blocks * ((task.n_columns + COLUMNS - 1) / COLUMNS);
    for (int64_t block = blockIdx.x; block < n_blocks; block += gridDim.x) {
        const int64_t i = block % row_blocks * THREADS + threadIdx.x;
        const int64_t first = block / row_blocks * COLUMNS;
        if (i >= n) continue;
        const int64_t from = task.source ? (int64_t)__ldg(task.source + i) : i;
        const int64_t to = task.target ? (int64_t)__ldg(task.target + i) : i;
        bool odd = false;
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            const int64_t c = first + j;
            if (c >= task.n_columns) break;
            float v[3];
#pragma unroll
            for (int k = 0; k < 3; k++) {
                const int64_t at = 3 * (c * n + from) + k;
                v[k] = __fadd_rn(__ldg(task.a + at), task.b ? __ldg(task.b + at) : 0.0f);
            }
            const float sum = __fadd_rn(__fadd_rn(__fmul_rn(v[0], v[0]), __fmul_rn(v[1], v[1])), __fmul_rn(v[2], v[2]));
            const float speed = __fsqrt_rn(sum);
            task.speed[__ldg(task.base + c) + to] = speed;
            odd |= !(speed <= FLT_MAX);
        }
        if (odd && task.nonfinite) *(volatile int32_t *)task.nonfinite = 1; // by whoever, the same
    }
}

} // namespace

extern "C" modal_status modal_speed_cuda(const modal_speed_task *task, modal_stream *stream, modal_error *err)
{
    if (task->n_vertices <= 0 || task->n_columns <= 0) return MODAL_OK;
    const int64_t blocks = (task->n_vertices + THREADS - 1) / THREADS * ((task->n_columns + COLUMNS - 1) / COLUMNS);
    const unsigned grid = (unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX);
    measure<<<grid, THREADS, 0, (cudaStream_t)stream>>>(*task);
    return modal_cuda_launched("speed", err);
}
