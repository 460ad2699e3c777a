// SPDX-License-Identifier: Apache-2.0
// As kernels/curvature_tensor/curvature_tensor_cuda.cu.
#include "kernels/curvature_ring/curvature_ring.h"
#include "kernels/curvature_tensor/curvature_walk.cuh"
#include "kernels/modal_sum/overlap.cuh"

namespace modal_cuda {

#include "kernels/curvature_ring/curvature_ring_body.h"

template <int TURNS, int BLOCKS>
__global__ void __launch_bounds__(CURVATURE_WARPS * 32, BLOCKS)
    curvature_ring(const modal_curvature_ring_task task, int n_tiles, int64_t first_column)
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
    const curvature_points points = curvature_points{s.positions, s.normals}.of(column, s.n_vertices);
    const curvature_place place(points.at(v), s.scale);
    curvature_system sum = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    curvature_vec a, da, frame[3];
    curvature_walk<TURNS>(
        ring, points, place, [&](curvature_vec b, curvature_vec db) { a = b, da = db; },
        [&](curvature_vec b, curvature_vec db, bool on) {
            curvature_add_edges(a, b, da, db, on, &sum);
            a = b, da = db;
        });
    place.frame(frame);
    curvature_give(task.output, column * s.n_vertices + first, left, frame, curvature_solve_system(sum), s.scale, stages[warp]);
}

} // namespace modal_cuda

extern "C" modal_status modal_curvature_ring_cuda(const modal_curvature_ring_task *task, modal_stream *stream,
                                                  modal_error *err)
{
    const int64_t n = task->surface.n_vertices, n_columns = task->surface.n_columns;
    modal_curvature_ring_task inner = *task;
    inner.output.areas = NULL;
    if (n <= 0 || n_columns <= 0) return MODAL_OK;
    modal_cuda::Machine machine;
    const modal_status status = modal_cuda_machine_of(&machine, err);
    if (status != MODAL_OK) return status;
    return modal_cuda::curvature_launches(n, n_columns, [&](dim3 grid, int64_t column) {
        return modal_cuda::launch_overlapping(machine, modal_cuda::curvature_ring<2, 8>, grid, modal_cuda::CURVATURE_WARPS * 32, 0,
                                              (cudaStream_t)stream, "curvature_ring", err, inner, (int)modal_tile_count(n),
                                              column);
    });
}
