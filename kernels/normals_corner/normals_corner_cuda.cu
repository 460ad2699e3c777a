// SPDX-License-Identifier: Apache-2.0
// A thread a vertex, its ring in rows of a tile, several neighbours in flight, as kernels/normals_dynamic.
#include "kernels/curvature_tensor/curvature_cuda.cuh"
#include "kernels/modal_sum/overlap.cuh"
#include "kernels/normals_corner/corner_sum.cuh"
#include "kernels/normals_corner/normals_corner.h"

namespace modal_cuda {

struct normals_plain {
    float *normals;

    FN void put(int64_t column, int64_t n, int first, int left, float *stage, curvature_vec, curvature_vec normal) const
    {
        store_tile(normals + 3 * (column * n + first), left, stage, normal.x, normal.y, normal.z);
    }
};

template <int AHEAD, int BLOCKS, class OUT>
__global__ void __launch_bounds__(CURVATURE_WARPS * 32, BLOCKS)
    normals_corner(const modal_normals_corner_task task, const OUT out, int n_tiles)
{
    __shared__ float stages[CURVATURE_WARPS][MODAL_TILE_FLOATS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tile = (int)blockIdx.x * CURVATURE_WARPS + warp;
    if (tile >= n_tiles) return;
    const int first = tile * MODAL_TILE, left = (int)task.n_vertices - first, v = first + (lane < left ? lane : left - 1);
    const int64_t begin = __ldg(task.ring_offsets + tile);
    const int rows = (int)(__ldg(task.ring_offsets + tile + 1) - begin);
    const int32_t *const ring = task.ring + begin * MODAL_TILE + lane;
    const int32_t start = rows > 0 ? __ldg(ring) : ~v;
    const float scale = task.scale;
    int32_t early[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; k++) early[k] = k + 1 < rows ? __ldg(ring + MODAL_TILE * (k + 1)) : ~v;
    let_next_begin();
    wait_for_previous(); // for positions; tables are older
    for (int64_t column = blockIdx.y; column < task.n_columns; column += gridDim.y) {
        const float *x = task.positions + 3 * column * task.n_vertices;
        const curvature_vec at_own = curvature_point_of(x, v), own = curvature_times(-scale, at_own);
        normals_sum sum;
        const auto edge = [&](curvature_vec at) {
            // the scale is a power of two: the product rounds nothing
            return curvature_vec{fmaf(at.x, scale, own.x), fmaf(at.y, scale, own.y), fmaf(at.z, scale, own.z)};
        };
        // the first row starts a fan: no corner
        curvature_vec e = edge(curvature_point_of(x, start ^ (start >> 31)));
        float ee = curvature_dot(e, e);
        int32_t entry[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) entry[k] = early[k];
        const int32_t *row = ring + MODAL_TILE * (1 + AHEAD);
        for (int r = 1; r < rows; r += AHEAD, row += AHEAD * MODAL_TILE) {
            curvature_vec next[AHEAD];
            bool on[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                on[k] = entry[k] >= 0;
                next[k] = curvature_point_of(x, entry[k] ^ (entry[k] >> 31));
            }
#pragma unroll
            for (int k = 0; k < AHEAD; k++) entry[k] = r + AHEAD + k < rows ? __ldg(row + MODAL_TILE * k) : ~v;
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                if (k > 0 && r + k >= rows) break;
                const curvature_vec f = edge(next[k]);
                const float ff = curvature_dot(f, f);
                sum.add(e, f, ee * ff, on[k]);
                e = f, ee = ff;
            }
        }
        out.put(column, task.n_vertices, first, left, stages[warp], at_own, sum.normal());
    }
}

} // namespace modal_cuda

extern "C" modal_status modal_normals_corner_cuda(const modal_normals_corner_task *task, modal_stream *stream,
                                                  modal_error *err)
{
    if (task->n_vertices <= 0 || task->n_columns <= 0) return MODAL_OK;
    modal_cuda::Machine machine;
    const modal_status status = modal_cuda_machine_of(&machine, err);
    if (status != MODAL_OK) return status;
    const modal_cuda::normals_plain out = {task->normals};
    return modal_cuda::launch_overlapping(machine, modal_cuda::normals_corner<3, 8, modal_cuda::normals_plain>,
                                          modal_cuda::curvature_grid_2(task->n_vertices, task->n_columns),
                                          modal_cuda::CURVATURE_WARPS * 32, 0, (cudaStream_t)stream, "normals_corner", err,
                                          *task, out, (int)modal_tile_count(task->n_vertices));
}
