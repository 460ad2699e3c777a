// SPDX-License-Identifier: Apache-2.0
// A thread a vertex: a gather of ten floats a neighbour.
#include "kernels/curvature_tensor/curvature_cuda.cuh"
#include "kernels/tensor_smooth/tensor_smooth.h"

namespace modal_cuda {

#include "kernels/tensor_smooth/tensor_smooth_body.h"

__global__ void __launch_bounds__(CURVATURE_WARPS * 32)
    tensor_smooth(const modal_tensor_smooth_task task, int64_t n_tiles, int64_t n_work)
{
    __shared__ float stages[CURVATURE_WARPS][MODAL_TILE_FLOATS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float per_square = 1.0f / (task.radius * task.radius);
    for (int64_t work = (int64_t)blockIdx.x * CURVATURE_WARPS + warp; work < n_work;
         work += (int64_t)gridDim.x * CURVATURE_WARPS) {
        const int64_t tile = work % n_tiles, base = work / n_tiles * task.n_vertices, first = tile * MODAL_TILE;
        const int64_t left = task.n_vertices - first, v = lane < left ? first + lane : task.n_vertices - 1;
        const int64_t begin = __ldg(task.neighbour_offsets + tile), end = __ldg(task.neighbour_offsets + tile + 1);
        curvature_vec vertex[4] = {curvature_load(task.positions, base + v), curvature_load(task.normals, base + v)};
        curvature_share sum = {0.0f, 0.0f, 0.0f, 0.0f};
        curvature_frame(vertex[1], &vertex[2], &vertex[3]);
        for (int64_t row = begin - 1; row < end; row++) { // the first turn is the vertex itself
            const int32_t entry = row < begin ? (int32_t)v : __ldg(task.neighbours + row * MODAL_TILE + lane);
            const int64_t i = base + (entry ^ (entry >> 31));
            const curvature_vec t = curvature_load(task.tensors, i);
            curvature_add_neighbour(curvature_load(task.positions, i), curvature_load(task.normals, i),
                                    {t.x, t.y, t.z, __ldg(task.areas + i)}, vertex, per_square, entry >= 0, &sum);
        }
        const float inverse = sum.w > 0.0f ? 1.0f / sum.w : 0.0f;
        const curvature_share mean = {sum.a * inverse, sum.b * inverse, sum.c * inverse, 0.0f};
        curvature_give(task.output, base + first, left, vertex + 1, mean, 1.0f, stages[warp]);
    }
}

} // namespace modal_cuda

extern "C" modal_status modal_tensor_smooth_cuda(const modal_tensor_smooth_task *task, modal_stream *stream,
                                                 modal_error *err)
{
    const int64_t n_tiles = modal_tile_count(task->n_vertices);
    modal_tensor_smooth_task inner = *task;
    inner.output.areas = NULL;
    if (task->n_vertices <= 0 || task->n_columns <= 0) return MODAL_OK;
    modal_cuda::tensor_smooth<<<modal_cuda::curvature_grid(task->n_vertices, task->n_columns),
                                modal_cuda::CURVATURE_WARPS * 32, 0, (cudaStream_t)stream>>>(inner, n_tiles,
                                                                                            n_tiles * task->n_columns);
    return modal_cuda_launched("tensor_smooth", err);
}
