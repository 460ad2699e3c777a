// SPDX-License-Identifier: Apache-2.0
// A thread a vertex: it computes the tensors of its triangles itself, each thrice over the mesh. Beside it (H200, 455,625
// vertices, 2026-11-22, prototypes): tiles that compute each triangle once in shared memory and copy their halo were
// 10 % slower, triangles to memory and a gather twice, atomics five times. What decides are the instructions of a
// vertex, not memory.
#include "kernels/curvature_tensor/curvature_walk.cuh"
#include "kernels/modal_sum/overlap.cuh"

namespace modal_cuda {

// POINTS: how points are fetched, curvature_points or another.
template <class POINTS, int AHEAD, int BLOCKS>
__global__ void __launch_bounds__(CURVATURE_WARPS * 32, BLOCKS)
    curvature_tensor(const modal_curvature_tensor_task task, const POINTS all, int n_tiles)
{
    __shared__ float stages[CURVATURE_WARPS][MODAL_TILE_FLOATS];
    const modal_curvature_surface &s = task.surface;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tile = (int)blockIdx.x * CURVATURE_WARPS + warp;
    if (tile >= n_tiles) return;
    const int first = tile * MODAL_TILE, left = (int)s.n_vertices - first, v = first + (lane < left ? lane : left - 1);
    const int64_t begin = __ldg(s.ring_offsets + tile);
    const int rows = (int)(__ldg(s.ring_offsets + tile + 1) - begin);
    const int32_t *row = s.ring + begin * MODAL_TILE + lane;
    wait_for_previous(); // the normals; tables are older
    for (int64_t column = blockIdx.y; column < s.n_columns; column += gridDim.y) {
        const POINTS points = all.of(column, s.n_vertices);
        const curvature_place place(points.at(v), s.scale);
        curvature_share sum = {0.0f, 0.0f, 0.0f, 0.0f};
        curvature_vec a, da;
        float aa;
        curvature_walk<AHEAD>(
            row, rows, points, v, place,
            [&](curvature_vec b, curvature_vec db) { a = b, da = db, aa = curvature_dot(b, b); },
            [&](curvature_vec b, curvature_vec db, bool on) {
                const float bb = curvature_dot(b, b);
                curvature_add_face(a, b, aa, bb, da, db, on, &sum);
                a = b, da = db, aa = bb;
            });
        const float inverse = sum.w > 0.0f ? 1.0f / sum.w : 0.0f;
        const curvature_share mean = {sum.a * inverse, sum.b * inverse * 0.5f, sum.c * inverse, sum.w * 0.125f};
        const curvature_vec frame[3] = {place.n, place.p, place.q};
        curvature_give(task.output, column * s.n_vertices + first, left, frame, mean, s.scale, stages[warp]);
    }
}

} // namespace modal_cuda

extern "C" modal_status modal_curvature_tensor_cuda(const modal_curvature_tensor_task *task, modal_stream *stream,
                                                    modal_error *err)
{
    const int64_t n = task->surface.n_vertices, n_columns = task->surface.n_columns;
    if (n <= 0 || n_columns <= 0) return MODAL_OK;
    modal_cuda::curvature_tensor<modal_cuda::curvature_points, 2, 7>
        <<<modal_cuda::curvature_grid_2(n, n_columns), modal_cuda::CURVATURE_WARPS * 32, 0, (cudaStream_t)stream>>>(
            *task, {task->surface.positions, task->surface.normals}, (int)modal_tile_count(n));
    return modal_cuda_launched("curvature_tensor", err);
}
