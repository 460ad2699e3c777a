// SPDX-License-Identifier: Apache-2.0
// A thread a vertex, its ring in rows of a tile, several neighbours in flight, as kernels/normals_dynamic. Sums carry what
// float32 rounds off (two multiply-adds and two sums a component): normals that are off by their rounding alone halve the
// error of curvature, and conversions to float64 are slow.
#include "kernels/curvature_tensor/curvature_cuda.cuh"
#include "kernels/normals_corner/normals_corner.h"

namespace modal_cuda {

// sum + rest += w c, as if in twice the digits
FN void normals_add(float w, float c, float *sum, float *rest)
{
    const float s = fmaf(w, c, *sum), added = __fsub_rn(s, *sum);
    *rest = __fadd_rn(*rest, fmaf(w, c, -added));
    *sum = s;
}

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
    const float scale = task.scale;
    for (int64_t column = blockIdx.y; column < task.n_columns; column += gridDim.y) {
        const float *x = task.positions + 3 * column * task.n_vertices;
        const int32_t *row = task.ring + begin * MODAL_TILE + lane;
        const curvature_vec at_own = curvature_point_of(x, v), own = curvature_times(-scale, at_own);
        curvature_vec e = {0.0f, 0.0f, 0.0f};
        float ee = 0.0f, sum[3] = {0.0f, 0.0f, 0.0f}, rest[3] = {0.0f, 0.0f, 0.0f};
        const auto edge = [&](curvature_vec at) {
            // the scale is a power of two: the product rounds nothing
            return curvature_vec{fmaf(at.x, scale, own.x), fmaf(at.y, scale, own.y), fmaf(at.z, scale, own.z)};
        };
        if (rows > 0) { // the first row starts a fan: no corner
            const int32_t entry = __ldg(row);
            e = edge(curvature_point_of(x, entry ^ (entry >> 31)));
            ee = curvature_dot(e, e);
            row += MODAL_TILE;
        }
        for (int r = 1; r < rows; r += AHEAD, row += AHEAD * MODAL_TILE) {
            int32_t entry[AHEAD];
            curvature_vec next[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                entry[k] = k == 0 || r + k < rows ? __ldg(row + MODAL_TILE * k) : ~v;
                next[k] = curvature_point_of(x, entry[k] ^ (entry[k] >> 31));
            }
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                if (k > 0 && r + k >= rows) break;
                const curvature_vec f = edge(next[k]), c = curvature_cross(e, f);
                const float ff = curvature_dot(f, f), product = ee * ff;
                const float weight = entry[k] >= 0 && product > 0.0f ? curvature_reciprocal(product) : 0.0f;
                normals_add(weight, c.x, &sum[0], &rest[0]);
                normals_add(weight, c.y, &sum[1], &rest[1]);
                normals_add(weight, c.z, &sum[2], &rest[2]);
                e = f, ee = ff;
            }
        }
        // the length in float32: a common factor of all three does not turn the normal
        const float square = sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2];
        const float inverse = square > 0.0f ? rsqrtf(square) : 0.0f;
        out.put(column, task.n_vertices, first, left, stages[warp], at_own,
                {fmaf(sum[0], inverse, rest[0] * inverse), fmaf(sum[1], inverse, rest[1] * inverse),
                 fmaf(sum[2], inverse, rest[2] * inverse)});
    }
}

} // namespace modal_cuda

extern "C" modal_status modal_normals_corner_cuda(const modal_normals_corner_task *task, modal_stream *stream,
                                                  modal_error *err)
{
    if (task->n_vertices <= 0 || task->n_columns <= 0) return MODAL_OK;
    modal_cuda::normals_corner<3, 8, modal_cuda::normals_plain>
        <<<modal_cuda::curvature_grid_2(task->n_vertices, task->n_columns), modal_cuda::CURVATURE_WARPS * 32, 0,
           (cudaStream_t)stream>>>(*task, {task->normals}, (int)modal_tile_count(task->n_vertices));
    return modal_cuda_launched("normals_corner", err);
}
