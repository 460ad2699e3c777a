// SPDX-License-Identifier: Apache-2.0
// U is read once and u never written: one column moves 12 r + 24 bytes a vertex (12 more with the
// displacement), many columns 12 bytes a vertex and column. More: kernels/modal_sum/tile_product.cuh.
#include "kernels/deform/deform.h"
#include "kernels/modal_sum/tile_product.cuh"
#include "lib/base/tile.h"

namespace {

constexpr int THREADS = 256, FLOATS = 1024, FEW_VERTICES = 4 * MODAL_TILE;

// Few vertices that do not deform, as leaflets of a plant: a tile has lanes without a vertex, 26 of 32 for 6 vertices. So a thread takes
// a float of the positions, whatever its column, and lines are written whole. The arithmetic is that of modal_cuda::transform with
// u = 0: the same bytes.
template <bool DISPLACEMENT> __global__ void __launch_bounds__(THREADS) move_few(const modal_cuda::Product p, int columns)
{
    const int width = 3 * (int)p.n_vertices;
    for (int64_t first = (int64_t)blockIdx.x * columns; first < p.n_columns; first += (int64_t)gridDim.x * columns) {
        const int64_t left = p.n_columns - first;
        const int count = (left < columns ? (int)left : columns) * width;
        for (int k = threadIdx.x; k < count; k += THREADS) {
            const int c = k / width, at = k - c * width, v = at / 3, i = at - 3 * v;
            const float *t = p.poses + 12 * (first + c) + 4 * i;
            const float *rest = p.rest_tiles + v / MODAL_TILE * MODAL_TILE_FLOATS + v % MODAL_TILE;
            const float r0 = __ldg(t), r1 = __ldg(t + 1), r2 = __ldg(t + 2);
            float x = fmaf(r0, __ldg(rest) + 0.0f, __ldg(t + 3));
            x = fmaf(r1, __ldg(rest + MODAL_TILE) + 0.0f, x);
            p.positions[first * width + k] = fmaf(r2, __ldg(rest + 2 * MODAL_TILE) + 0.0f, x);
            if (DISPLACEMENT) p.displacement[first * width + k] = fmaf(r2, 0.0f, fmaf(r1, 0.0f, r0 * 0.0f));
        }
    }
}

modal_status launch_few(const modal_cuda::Product &p, cudaStream_t stream, modal_error *err)
{
    const int width = 3 * (int)p.n_vertices, columns = FLOATS > width ? FLOATS / width : 1;
    const int64_t blocks = (p.n_columns + columns - 1) / columns;
    const unsigned grid = (unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX);
    if (p.displacement) move_few<true><<<grid, THREADS, 0, stream>>>(p, columns);
    else move_few<false><<<grid, THREADS, 0, stream>>>(p, columns);
    return modal_cuda_launched("deform", err);
}

} // namespace

extern "C" modal_status modal_deform_cuda(const modal_deform_task *task, modal_stream *stream,
                                          modal_error *err)
{
    const modal_cuda::Product product = {task->n_vertices,   (task->n_vertices + MODAL_TILE - 1) / MODAL_TILE,
                                         task->n_columns,    task->n_modes,
                                         task->modal_matrix, task->rest_tiles,
                                         task->q,            task->poses,
                                         task->positions,    task->displacement};
    if (task->n_modes == 0 && task->n_vertices > 0 && task->n_vertices <= FEW_VERTICES && task->n_columns > 0)
        return launch_few(product, (cudaStream_t)stream, err);
    if (task->displacement)
        return modal_cuda::launch_product<modal_cuda::DEFORM_WITH_DISPLACEMENT>(
            product, task->n_columns_total, stream, err);
    return modal_cuda::launch_product<modal_cuda::DEFORM>(product, task->n_columns_total, stream,
                                                          err);
}
