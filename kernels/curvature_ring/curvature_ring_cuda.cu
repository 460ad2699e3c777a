// SPDX-License-Identifier: Apache-2.0
// As kernels/curvature_tensor/curvature_tensor_cuda.cu.
#include "kernels/curvature_ring/curvature_ring.h"
#include "kernels/curvature_tensor/curvature_walk.cuh"

namespace modal_cuda {

#include "kernels/curvature_ring/curvature_ring_body.h"

__global__ void __launch_bounds__(CURVATURE_WARPS * 32, 8)
    curvature_ring(const modal_curvature_ring_task task, int64_t n_tiles, int64_t n_work)
{
    __shared__ float stages[CURVATURE_WARPS][MODAL_TILE_FLOATS];
    const modal_curvature_surface &s = task.surface;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int64_t work = (int64_t)blockIdx.x * CURVATURE_WARPS + warp; work < n_work;
         work += (int64_t)gridDim.x * CURVATURE_WARPS) {
        const int64_t tile = work % n_tiles, column = work / n_tiles, first = tile * MODAL_TILE;
        const int64_t left = s.n_vertices - first, v = lane < left ? first + lane : s.n_vertices - 1;
        curvature_vec frame[3];
        curvature_system sum = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
        curvature_walk(s, tile, column, v, frame,
                       [&](curvature_vec a, curvature_vec b, curvature_vec da, curvature_vec db, bool on) {
                           curvature_add_edges(a, b, da, db, on, &sum);
                       });
        curvature_give(task.output, column * s.n_vertices + first, left, frame, curvature_solve_system(sum), s.scale,
                       stages[warp]);
    }
}

} // namespace modal_cuda

extern "C" modal_status modal_curvature_ring_cuda(const modal_curvature_ring_task *task, modal_stream *stream,
                                                  modal_error *err)
{
    const int64_t n = task->surface.n_vertices, n_columns = task->surface.n_columns, n_tiles = modal_tile_count(n);
    modal_curvature_ring_task inner = *task;
    inner.output.areas = NULL;
    if (n <= 0 || n_columns <= 0) return MODAL_OK;
    modal_cuda::curvature_ring<<<modal_cuda::curvature_grid(n, n_columns), modal_cuda::CURVATURE_WARPS * 32, 0,
                                 (cudaStream_t)stream>>>(inner, n_tiles, n_tiles * n_columns);
    return modal_cuda_launched("curvature_ring", err);
}
