// SPDX-License-Identifier: Apache-2.0
// A thread a vertex: it computes the tensors of its triangles itself, each thrice over the mesh. Beside it (H200, 455,625
// vertices, 2026-11-22, prototypes): tiles that compute each triangle once in shared memory and copy their halo were
// 10 % slower, triangles to memory and a gather twice, atomics five times. What decides are about 1,200 instructions a
// vertex, not memory.
#include "kernels/curvature_tensor/curvature_walk.cuh"

namespace modal_cuda {

__global__ void __launch_bounds__(CURVATURE_WARPS * 32, 8)
    curvature_tensor(const modal_curvature_tensor_task task, int64_t n_tiles, int64_t n_work)
{
    __shared__ float stages[CURVATURE_WARPS][MODAL_TILE_FLOATS];
    const modal_curvature_surface &s = task.surface;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int64_t work = (int64_t)blockIdx.x * CURVATURE_WARPS + warp; work < n_work;
         work += (int64_t)gridDim.x * CURVATURE_WARPS) {
        const int64_t tile = work % n_tiles, column = work / n_tiles, first = tile * MODAL_TILE;
        const int64_t left = s.n_vertices - first, v = lane < left ? first + lane : s.n_vertices - 1;
        curvature_vec frame[3];
        curvature_share sum = {0.0f, 0.0f, 0.0f, 0.0f};
        curvature_walk(s, tile, column, v, frame,
                       [&](curvature_vec a, curvature_vec b, curvature_vec da, curvature_vec db, bool on) {
                           curvature_add_triangle(a, b, da, db, on, &sum);
                       });
        const float inverse = sum.w > 0.0f ? 1.0f / sum.w : 0.0f;
        const curvature_share mean = {sum.a * inverse, sum.b * inverse, sum.c * inverse, sum.w};
        curvature_give(task.output, column * s.n_vertices + first, left, frame, mean, s.scale, stages[warp]);
    }
}

} // namespace modal_cuda

extern "C" modal_status modal_curvature_tensor_cuda(const modal_curvature_tensor_task *task, modal_stream *stream,
                                                    modal_error *err)
{
    const int64_t n = task->surface.n_vertices, n_columns = task->surface.n_columns, n_tiles = modal_tile_count(n);
    if (n <= 0 || n_columns <= 0) return MODAL_OK;
    modal_cuda::curvature_tensor<<<modal_cuda::curvature_grid(n, n_columns), modal_cuda::CURVATURE_WARPS * 32, 0,
                                   (cudaStream_t)stream>>>(*task, n_tiles, n_tiles * n_columns);
    return modal_cuda_launched("curvature_tensor", err);
}
