// SPDX-License-Identifier: Apache-2.0
// A thread a vertex, its ring in rows of a tile (kernels/curvature_tensor/curvature_walk.cuh).
#include "kernels/curvature_tensor/curvature_walk.cuh"
#include "kernels/modal_sum/overlap.cuh"
#include "kernels/normals_corner/corner_sum.cuh"
#include "kernels/normals_corner/normals_corner.h"

namespace modal_cuda {

template <int TURNS, int BLOCKS, bool RECORDS>
__global__ void __launch_bounds__(CURVATURE_WARPS * 32, BLOCKS)
    normals_corner(const modal_normals_corner_task task, int n_tiles, int64_t first_column)
{
    __shared__ float stages[CURVATURE_WARPS][MODAL_TILE_FLOATS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tile = (int)blockIdx.x * CURVATURE_WARPS + warp;
    if (tile >= n_tiles) return;
    const int first = tile * MODAL_TILE, left = (int)task.n_vertices - first, v = first + (lane < left ? lane : left - 1);
    const int64_t column = first_column + blockIdx.y;
    const curvature_ring_rows ring(task.ring_offsets, task.ring, tile);
    let_next_begin();
    wait_for_previous(); // for positions; tables are older
    const float *const x = task.positions + 3 * column * task.n_vertices;
    const float scale = task.scale;
    const curvature_vec at_own = curvature_point_of(x, v), own = curvature_times(-scale, at_own);
    normals_sum sum;
    if (ring.rows > 0) {
        const auto edge = [&](int32_t entry) {
            const curvature_vec at = curvature_point_of(x, curvature_vertex_of(entry));
            // the scale is a power of two: the product rounds nothing
            return curvature_vec{fmaf(at.x, scale, own.x), fmaf(at.y, scale, own.y), fmaf(at.z, scale, own.z)};
        };
        // the first row starts a fan: no corner
        curvature_vec e = edge(ring.entry[0]);
        float ee = curvature_dot(e, e);
        int32_t entry = ring.entry[1];
#pragma unroll 1
        for (int row = 1; row < ring.rows; row += TURNS) {
#pragma unroll
            for (int k = 0; k < TURNS; k++) {
                const bool on = entry >= 0 && (k == 0 || row + k < ring.rows);
                const curvature_vec f = edge(entry);
                entry = ring.at(row + k + 1);
                const float ff = curvature_dot(f, f);
                sum.add(e, f, ee * ff, on);
                e = f, ee = ff;
            }
        }
    }
    const curvature_vec normal = sum.normal();
    store_tile(task.normals + 3 * (column * task.n_vertices + first), left, stages[warp], normal.x, normal.y, normal.z);
    if (RECORDS && lane < left) {
        float4 *const record = (float4 *)task.records + 2 * (column * task.n_vertices + v);
        record[0] = make_float4(at_own.x, at_own.y, at_own.z, 0.0f);
        record[1] = make_float4(normal.x, normal.y, normal.z, 0.0f);
    }
}

} // namespace modal_cuda

extern "C" modal_status modal_normals_corner_cuda(const modal_normals_corner_task *task, modal_stream *stream,
                                                  modal_error *err)
{
    using namespace modal_cuda;
    const int64_t n = task->n_vertices;
    if (n <= 0 || task->n_columns <= 0) return MODAL_OK;
    Machine machine;
    const modal_status status = modal_cuda_machine_of(&machine, err);
    if (status != MODAL_OK) return status;
    const auto kernel = task->records ? normals_corner<2, 12, true> : normals_corner<2, 12, false>;
    return curvature_launches(n, task->n_columns, [&](dim3 grid, int64_t column) {
        return launch_overlapping(machine, kernel, grid, CURVATURE_WARPS * 32, 0, (cudaStream_t)stream, "normals_corner", err,
                                  *task, (int)modal_tile_count(n), column);
    });
}
