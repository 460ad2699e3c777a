// SPDX-License-Identifier: Apache-2.0
// The sources are divided into parts (grid.y), added in order: few bodies fill the device, too.
#include "kernels/cuda_check.cuh"
#include "kernels/pair_sum/pair_sum.h"
#include "kernels/pair_sum/pair_tiles.cuh"

namespace modal_cuda {

constexpr int PAIR_UNROLL = 16;

__global__ void pair_add(const float4 *__restrict__ part, float *sums, int n, int parts)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (int k = 0; k < parts; k++) {
        const float4 p = __ldg(part + (int64_t)k * n + i);
        x += p.x, y += p.y, z += p.z;
    }
    sums[3 * (int64_t)i] = x, sums[3 * (int64_t)i + 1] = y, sums[3 * (int64_t)i + 2] = z;
}

template <int TILE, int BODIES> modal_status pair_launch(const modal_pair_sum_task &task, cudaStream_t stream, modal_error *err)
{
    const int n = (int)task.n_bodies, parts = modal_pair_sum_parts(n);
    const int per = ((n + parts - 1) / parts + TILE - 1) / TILE * TILE; // the last parts may be empty
    const int used = (n + per - 1) / per, blocks = (n + TILE * BODIES - 1) / (TILE * BODIES);
    const float square = task.softening * task.softening;
    pair_sum<TILE, BODIES, PAIR_UNROLL><<<dim3((unsigned)blocks, (unsigned)used), TILE, 0, stream>>>(
        (const float4 *)task.bodies, used > 1 ? task.work : task.sums, n, per, square, used > 1 ? 4 : 3);
    const modal_status status = modal_cuda_launched("pair_sum", err);
    if (status != MODAL_OK || used == 1) return status;
    pair_add<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>((const float4 *)task.work, task.sums, n, used);
    return modal_cuda_launched("pair_sum", err);
}

} // namespace modal_cuda

extern "C" modal_status modal_pair_sum_cuda(const modal_pair_sum_task *task, modal_stream *stream, modal_error *err)
{
    using namespace modal_cuda;
    if (task->n_bodies <= 0) return MODAL_OK;
    if (task->n_bodies > INT32_MAX / 4)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "pair_sum: %lld bodies", (long long)task->n_bodies);
    // by n alone, so that sums have one order on every device: few bodies fill it with small blocks, many read less with large
    if (task->n_bodies < 2048) return pair_launch<32, 1>(*task, (cudaStream_t)stream, err);
    if (task->n_bodies < 12288) return pair_launch<128, 2>(*task, (cudaStream_t)stream, err);
    return pair_launch<512, 4>(*task, (cudaStream_t)stream, err);
}
