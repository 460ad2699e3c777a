// SPDX-License-Identifier: Apache-2.0
// One thread a vertex, as normals_dynamic: with an order of locality the gathers come from the caches.
// What is left is the table, 24 bytes a corner; four columns at a time read it once for four.
// Measured on one H200, 2026-11-21, 455,625 vertices in the stored order: one column 38 us (2,290 GB/s
// of counted bytes), 16 columns 225 us.
#include "kernels/cuda_check.cuh"
#include "kernels/normals_dynamic/normal_parts.cuh"
#include "kernels/tangents_dynamic/tangents_dynamic.h"

namespace {

constexpr int THREADS = 256;

__device__ __forceinline__ float dot(const float (&a)[3], const float (&b)[3])
{
    return __fadd_rn(__fadd_rn(__fmul_rn(a[0], b[0]), __fmul_rn(a[1], b[1])),
                     __fmul_rn(a[2], b[2]));
}

template <bool ALIGNED>
__device__ __forceinline__ void finish(const float *normal, const float (&sum_u)[3],
                                       const float (&sum_v)[3], float *tangent)
{
    float n[3], p[3], across[3];
#pragma unroll
    for (int i = 0; i < 3; i++) n[i] = __ldg(normal + i);
    const float along = dot(n, sum_u);
    modal_cuda::cross(n, sum_u, across);
    float side = dot(across, sum_v);
#pragma unroll
    for (int i = 0; i < 3; i++) p[i] = __fsub_rn(sum_u[i], __fmul_rn(n[i], along));
    modal_cuda::normalise(p);
    if (isnan(side)) { // the products overflowed: the same side, smaller
        modal_cuda::cross(n, p, across);
        side = dot(across, sum_v);
    }
    const bool zero = p[0] == 0.0f && p[1] == 0.0f && p[2] == 0.0f;
    const float w = zero ? 0.0f : side < 0.0f ? -1.0f : side >= 0.0f ? 1.0f : side;
    if (ALIGNED) {
        *reinterpret_cast<float4 *>(tangent) = make_float4(p[0], p[1], p[2], w);
    } else {
        tangent[0] = p[0], tangent[1] = p[1], tangent[2] = p[2], tangent[3] = w;
    }
}

template <int C, bool ALIGNED>
__global__ void __launch_bounds__(THREADS)
    tangents(const modal_tangents_dynamic_task task, int64_t first_column, int64_t n_column_blocks)
{
    const int64_t n = task.n_vertices, row_blocks = (n + THREADS - 1) / THREADS, stride = 3 * n;
    for (int64_t block = blockIdx.x; block < row_blocks * n_column_blocks; block += gridDim.x) {
        const int64_t v = block % row_blocks * THREADS + threadIdx.x;
        const int64_t column = first_column + block / row_blocks * C;
        if (v >= n) continue;
        const float *__restrict__ x = task.positions + column * stride;
        float own[C][3], sum_u[C][3] = {}, sum_v[C][3] = {};
#pragma unroll
        for (int c = 0; c < C; c++)
#pragma unroll
            for (int i = 0; i < 3; i++) own[c][i] = __ldg(x + c * stride + 3 * v + i);
        const int64_t end = __ldg(task.corner_offsets + v + 1);
        for (int64_t k = __ldg(task.corner_offsets + v); k < end; k++) {
            const int2 corner = __ldg(reinterpret_cast<const int2 *>(task.corners) + k);
            const float *first = x + (int64_t)corner.x * 3, *second = x + (int64_t)corner.y * 3;
            float g[4];
            if (ALIGNED) {
                const float4 four = __ldg(reinterpret_cast<const float4 *>(task.weights) + k);
                g[0] = four.x, g[1] = four.y, g[2] = four.z, g[3] = four.w;
            } else {
#pragma unroll
                for (int i = 0; i < 4; i++) g[i] = __ldg(task.weights + 4 * k + i);
            }
#pragma unroll
            for (int c = 0; c < C; c++) {
                float a[3], b[3], area[3];
#pragma unroll
                for (int i = 0; i < 3; i++) {
                    a[i] = __fsub_rn(__ldg(first + c * stride + i), own[c][i]);
                    b[i] = __fsub_rn(__ldg(second + c * stride + i), own[c][i]);
                }
                modal_cuda::cross(a, b, area);
                if (area[0] == 0.0f && area[1] == 0.0f && area[2] == 0.0f) continue;
#pragma unroll
                for (int i = 0; i < 3; i++) {
                    sum_u[c][i] += fmaf(g[1], b[i], g[0] * a[i]);
                    sum_v[c][i] += fmaf(g[3], b[i], g[2] * a[i]);
                }
            }
        }
#pragma unroll
        for (int c = 0; c < C; c++)
            finish<ALIGNED>(task.normals + ((column + c) * n + v) * 3, sum_u[c], sum_v[c],
                            task.tangents + ((column + c) * n + v) * 4);
    }
}

template <int C>
modal_status launch(const modal_tangents_dynamic_task *task, int64_t first_column,
                    int64_t n_column_blocks, modal_stream *stream, modal_error *err)
{
    if (n_column_blocks == 0) return MODAL_OK;
    const int64_t blocks = (task->n_vertices + THREADS - 1) / THREADS * n_column_blocks;
    const unsigned grid = (unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX);
    if (((uintptr_t)task->weights | (uintptr_t)task->tangents) % 16 == 0)
        tangents<C, true><<<grid, THREADS, 0, (cudaStream_t)stream>>>(*task, first_column,
                                                                     n_column_blocks);
    else
        tangents<C, false><<<grid, THREADS, 0, (cudaStream_t)stream>>>(*task, first_column,
                                                                      n_column_blocks);
    return modal_cuda_launched("tangents_dynamic", err);
}

} // namespace

extern "C" modal_status modal_tangents_dynamic_cuda(const modal_tangents_dynamic_task *task,
                                                    modal_stream *stream, modal_error *err)
{
    if (task->n_vertices <= 0 || task->n_columns <= 0) return MODAL_OK;
    const int64_t fours = task->n_columns / 4;
    const modal_status status = launch<4>(task, 0, fours, stream, err);
    if (status != MODAL_OK) return status;
    return launch<1>(task, 4 * fours, task->n_columns % 4, stream, err);
}
