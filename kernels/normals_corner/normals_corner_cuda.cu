// SPDX-License-Identifier: Apache-2.0
// A thread a vertex, its ring in rows of a tile, four neighbours in flight, as kernels/normals_dynamic. Sums are
// doubles: normals that are off by their rounding alone halve the error of curvature; six instructions of 60 a neighbour.
#include "kernels/curvature_tensor/curvature_cuda.cuh"
#include "kernels/normals_corner/normals_corner.h"

namespace modal_cuda {

constexpr int NORMALS_AHEAD = 4;

__global__ void __launch_bounds__(CURVATURE_WARPS * 32)
    normals_corner(const modal_normals_corner_task task, int64_t n_tiles, int64_t n_work)
{
    __shared__ float stages[CURVATURE_WARPS][MODAL_TILE_FLOATS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int64_t work = (int64_t)blockIdx.x * CURVATURE_WARPS + warp; work < n_work;
         work += (int64_t)gridDim.x * CURVATURE_WARPS) {
        const int64_t tile = work % n_tiles, column = work / n_tiles, first = tile * MODAL_TILE;
        const int64_t left = task.n_vertices - first, v = lane < left ? first + lane : task.n_vertices - 1;
        const float *x = task.positions + 3 * column * task.n_vertices;
        const int64_t begin = __ldg(task.ring_offsets + tile);
        const int rows = (int)(__ldg(task.ring_offsets + tile + 1) - begin);
        const int32_t *row = task.ring + begin * MODAL_TILE + lane;
        const curvature_vec own = curvature_load(x, v);
        curvature_vec e = {0.0f, 0.0f, 0.0f};
        float ee = 0.0f;
        double sum[3] = {0.0, 0.0, 0.0};
        for (int r = 0; r < rows; r += NORMALS_AHEAD) {
            int32_t entry[NORMALS_AHEAD];
            curvature_vec next[NORMALS_AHEAD];
#pragma unroll
            for (int k = 0; k < NORMALS_AHEAD; k++) {
                entry[k] = r + k < rows ? __ldg(row + MODAL_TILE * (r + k)) : ~(int32_t)v;
                next[k] = curvature_load(x, entry[k] ^ (entry[k] >> 31));
            }
#pragma unroll
            for (int k = 0; k < NORMALS_AHEAD; k++) {
                const curvature_vec f = curvature_times(task.scale, curvature_minus(next[k], own));
                const float ff = curvature_dot(f, f), product = ee * ff;
                if (entry[k] >= 0 && product > 0.0f) {
                    const float weight = 1.0f / product;
                    const curvature_vec c = curvature_cross(e, f);
                    sum[0] += (double)(weight * c.x), sum[1] += (double)(weight * c.y), sum[2] += (double)(weight * c.z);
                }
                e = f, ee = ff;
            }
        }
        // the length in float32: a common factor of all three does not turn the normal
        const curvature_vec near = {(float)sum[0], (float)sum[1], (float)sum[2]};
        const float square = curvature_dot(near, near);
        const double inverse = square == 0.0f ? 0.0 : (double)rsqrtf(square);
        store_tile(task.normals + 3 * (column * task.n_vertices + first), left, stages[warp], (float)(sum[0] * inverse),
                   (float)(sum[1] * inverse), (float)(sum[2] * inverse));
    }
}

} // namespace modal_cuda

extern "C" modal_status modal_normals_corner_cuda(const modal_normals_corner_task *task, modal_stream *stream,
                                                  modal_error *err)
{
    if (task->n_vertices <= 0 || task->n_columns <= 0) return MODAL_OK;
    const int64_t n_tiles = modal_tile_count(task->n_vertices);
    modal_cuda::normals_corner<<<modal_cuda::curvature_grid(task->n_vertices, task->n_columns),
                                 modal_cuda::CURVATURE_WARPS * 32, 0, (cudaStream_t)stream>>>(
        *task, n_tiles, n_tiles * task->n_columns);
    return modal_cuda_launched("normals_corner", err);
}
