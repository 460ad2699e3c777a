// SPDX-License-Identifier: Apache-2.0
// One thread a vertex, a warp 32 neighbours in the stored order. The table of corners is read in
// order and the gathered positions are those of near neighbours, so with vertices in an order of
// locality they come from the L1 and L2 caches, and memory sees each position about once. Four
// columns at a time read the table once for four and keep four gathers in flight. No atomics, no
// intermediate face normals. Products are rounded one by one, never fused: the cross product of an
// edge with itself must be exactly zero.
#include "kernels/cuda_check.cuh"
#include "kernels/normals_dynamic/normals_dynamic.h"
#include "kernels/tile_store.cuh"

namespace {

constexpr int WARPS = 8;

__device__ __forceinline__ float difference_of_products(float a, float b, float c, float d)
{
    return __fsub_rn(__fmul_rn(a, b), __fmul_rn(c, d));
}

template <int C>
__global__ void __launch_bounds__(WARPS * 32)
    normals(const modal_normals_dynamic_task task, int64_t first_column, int64_t n_column_blocks)
{
    __shared__ float stages[WARPS][96];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t n = task.n_vertices, n_tiles = (n + 31) / 32, n_work = n_tiles * n_column_blocks;
    const int2 *__restrict__ corners = reinterpret_cast<const int2 *>(task.corners);
    for (int64_t work = (int64_t)blockIdx.x * WARPS + warp; work < n_work;
         work += (int64_t)gridDim.x * WARPS) {
        const int64_t tile = work % n_tiles, v = tile * 32 + lane;
        const int64_t column = first_column + work / n_tiles * C;
        const float *__restrict__ x = task.positions + column * n * 3;
        float own[C][3], sum[C][3] = {};
        int64_t k = 0, end = 0;
        if (v < n) {
            k = __ldg(task.corner_offsets + v);
            end = __ldg(task.corner_offsets + v + 1);
#pragma unroll
            for (int c = 0; c < C; c++)
#pragma unroll
                for (int i = 0; i < 3; i++) own[c][i] = __ldg(x + (c * n + v) * 3 + i);
        }
        for (; k < end; k++) {
            const int2 corner = __ldg(corners + k);
            const float *first = x + (int64_t)corner.x * 3, *second = x + (int64_t)corner.y * 3;
#pragma unroll
            for (int c = 0; c < C; c++) {
                float a[3], b[3];
#pragma unroll
                for (int i = 0; i < 3; i++) {
                    a[i] = __fsub_rn(__ldg(first + c * n * 3 + i), own[c][i]);
                    b[i] = __fsub_rn(__ldg(second + c * n * 3 + i), own[c][i]);
                }
                sum[c][0] += difference_of_products(a[1], b[2], a[2], b[1]);
                sum[c][1] += difference_of_products(a[2], b[0], a[0], b[2]);
                sum[c][2] += difference_of_products(a[0], b[1], a[1], b[0]);
            }
        }
#pragma unroll
        for (int c = 0; c < C; c++) {
            // scaled by the largest component first: squares neither overflow nor underflow
            const float largest =
                fmaxf(fabsf(sum[c][0]), fmaxf(fabsf(sum[c][1]), fabsf(sum[c][2])));
            float n0 = 0.0f, n1 = 0.0f, n2 = 0.0f;
            if (largest > 0.0f) {
                n0 = sum[c][0] / largest, n1 = sum[c][1] / largest, n2 = sum[c][2] / largest;
                const float inverse = 1.0f / sqrtf(n0 * n0 + n1 * n1 + n2 * n2);
                n0 *= inverse, n1 *= inverse, n2 *= inverse;
            }
            modal_cuda::store_tile(task.normals + ((column + c) * n + tile * 32) * 3,
                                   n - tile * 32, stages[warp], n0, n1, n2);
        }
    }
}

template <int C>
modal_status launch(const modal_normals_dynamic_task *task, int64_t first_column,
                    int64_t n_column_blocks, modal_stream *stream, modal_error *err)
{
    if (n_column_blocks == 0) return MODAL_OK;
    const int64_t blocks = ((task->n_vertices + 31) / 32 * n_column_blocks + WARPS - 1) / WARPS;
    normals<C><<<(unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX), WARPS * 32, 0,
                 (cudaStream_t)stream>>>(*task, first_column, n_column_blocks);
    return modal_cuda_launched("normals_dynamic", err);
}

} // namespace

extern "C" modal_status modal_normals_dynamic_cuda(const modal_normals_dynamic_task *task,
                                                   modal_stream *stream, modal_error *err)
{
    if (task->n_vertices <= 0 || task->n_columns <= 0) return MODAL_OK;
    const int64_t fours = task->n_columns / 4;
    const modal_status status = launch<4>(task, 0, fours, stream, err);
    if (status != MODAL_OK) return status;
    return launch<1>(task, 4 * fours, task->n_columns % 4, stream, err);
}
