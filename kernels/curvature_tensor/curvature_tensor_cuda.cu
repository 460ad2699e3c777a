// SPDX-License-Identifier: Apache-2.0
// A thread a vertex: it computes the tensors of its triangles itself, each thrice over the mesh. Beside it (H200, 455,625
// vertices, 2026-11-22, prototypes): tiles that compute each triangle once in shared memory and copy their halo were
// 10 % slower, triangles to memory and a gather twice, atomics five times. What decides are the instructions of a
// vertex, not memory.
#include "kernels/curvature_tensor/curvature_walk.cuh"
#include "kernels/modal_sum/overlap.cuh"

namespace modal_cuda {

// POINTS: how points are fetched, curvature_points or curvature_records.
template <class POINTS, int TURNS, int BLOCKS>
__global__ void __launch_bounds__(CURVATURE_WARPS * 32, BLOCKS)
    curvature_tensor(const modal_curvature_tensor_task task, const POINTS all, int n_tiles, int64_t first_column)
{
    __shared__ float stages[CURVATURE_WARPS][MODAL_TILE_FLOATS];
    const modal_curvature_surface &s = task.surface;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tile = (int)blockIdx.x * CURVATURE_WARPS + warp;
    if (tile >= n_tiles) return;
    const int first = tile * MODAL_TILE, left = (int)s.n_vertices - first, v = first + (lane < left ? lane : left - 1);
    const int64_t column = first_column + blockIdx.y;
    const curvature_ring_rows ring(s.ring_offsets, s.ring, tile);
    let_next_begin();
    wait_for_previous(); // for the normals; tables are older
    const POINTS points = all.of(column, s.n_vertices);
    const curvature_place place(points.at(v), s.scale);
    curvature_share sum = {0.0f, 0.0f, 0.0f, 0.0f};
    curvature_vec a, da;
    float aa;
    curvature_walk<TURNS>(
        ring, points, place,
        [&](curvature_vec b, curvature_vec db) { a = b, da = db, aa = curvature_dot(b, b); },
        [&](curvature_vec b, curvature_vec db, bool on) {
            const float bb = curvature_dot(b, b);
            curvature_add_face(a, b, aa, bb, da, db, on, &sum);
            a = b, da = db, aa = bb;
        });
    const float inverse = sum.w > 0.0f ? curvature_reciprocal(sum.w) : 0.0f;
    const curvature_share mean = {sum.a * inverse, sum.b * inverse * 0.5f, sum.c * inverse, sum.w * 0.125f};
    curvature_vec frame[3];
    place.frame(frame);
    curvature_give(task.output, column * s.n_vertices + first, left, frame, mean, s.scale, stages[warp]);
}

template <class POINTS>
modal_status curvature_tensor_launch(const modal_curvature_tensor_task &task, const POINTS &points, cudaStream_t stream,
                                     modal_error *err)
{
    const int64_t n = task.surface.n_vertices;
    Machine machine;
    const modal_status status = modal_cuda_machine_of(&machine, err);
    if (status != MODAL_OK) return status;
    return curvature_launches(n, task.surface.n_columns, [&](dim3 grid, int64_t column) {
        return launch_overlapping(machine, curvature_tensor<POINTS, 2, 9>, grid, CURVATURE_WARPS * 32, 0, stream,
                                  "curvature_tensor", err, task, points, (int)modal_tile_count(n), column);
    });
}

} // namespace modal_cuda

extern "C" modal_status modal_curvature_tensor_cuda(const modal_curvature_tensor_task *task, modal_stream *stream,
                                                    modal_error *err)
{
    using namespace modal_cuda;
    const modal_curvature_surface &s = task->surface;
    if (s.n_vertices <= 0 || s.n_columns <= 0) return MODAL_OK;
    if (s.records) return curvature_tensor_launch(*task, curvature_records{s.records}, (cudaStream_t)stream, err);
    return curvature_tensor_launch(*task, curvature_points{s.positions, s.normals}, (cudaStream_t)stream, err);
}
