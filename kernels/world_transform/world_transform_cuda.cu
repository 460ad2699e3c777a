// SPDX-License-Identifier: Apache-2.0
// Memory-bound: 24 bytes a vertex and column. A warp takes one tile of four columns, so the rest
// positions are read once for four; points cross shared memory so that lines are read and written
// whole. A warp reads its tile before it writes it: outputs may be the input.
#include "kernels/cuda_check.cuh"
#include "kernels/tile_store.cuh"
#include "kernels/world_transform/world_transform.h"
#include "lib/base/tile.h"

namespace {

constexpr int WARPS = 8, COLUMNS = 4;

__global__ void __launch_bounds__(WARPS * 32) transform(const modal_world_transform_task task)
{
    __shared__ float stages[WARPS][MODAL_TILE_FLOATS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float *stage = stages[warp];
    const int64_t n_tiles = (task.n_vertices + MODAL_TILE - 1) / MODAL_TILE;
    const int64_t n_work = (task.n_columns + COLUMNS - 1) / COLUMNS * n_tiles;
    for (int64_t work = (int64_t)blockIdx.x * WARPS + warp; work < n_work;
         work += (int64_t)gridDim.x * WARPS) {
        const int64_t tile = work % n_tiles, first = work / n_tiles * COLUMNS;
        const int64_t count = task.n_vertices - tile * MODAL_TILE;
        float rest[3];
#pragma unroll
        for (int i = 0; i < 3; i++) rest[i] = __ldg(task.rest_tiles + tile * MODAL_TILE_FLOATS + i * MODAL_TILE + lane);
        for (int64_t c = first; c < first + COLUMNS && c < task.n_columns; c++) {
            const int64_t begin = (c * task.n_vertices + tile * MODAL_TILE) * 3;
            const float *t = task.poses + 12 * c;
            float u[3], x[3], d[3];
            modal_cuda::load_tile(task.u + begin, count, stage, u[0], u[1], u[2]);
#pragma unroll
            for (int i = 0; i < 3; i++) {
                const float r0 = __ldg(t + 4 * i), r1 = __ldg(t + 4 * i + 1);
                const float r2 = __ldg(t + 4 * i + 2), p = __ldg(t + 4 * i + 3);
                x[i] = fmaf(r0, rest[0] + u[0], p);
                x[i] = fmaf(r1, rest[1] + u[1], x[i]);
                x[i] = fmaf(r2, rest[2] + u[2], x[i]);
                d[i] = fmaf(r2, u[2], fmaf(r1, u[1], r0 * u[0]));
            }
            modal_cuda::store_tile(task.positions + begin, count, stage, x[0], x[1], x[2]);
            if (task.displacement)
                modal_cuda::store_tile(task.displacement + begin, count, stage, d[0], d[1], d[2]);
        }
    }
}

} // namespace

extern "C" modal_status modal_world_transform_cuda(const modal_world_transform_task *task,
                                                   modal_stream *stream, modal_error *err)
{
    if (task->n_vertices <= 0 || task->n_columns <= 0) return MODAL_OK;
    const int64_t work = (task->n_vertices + MODAL_TILE - 1) / MODAL_TILE * ((task->n_columns + COLUMNS - 1) / COLUMNS);
    const int64_t blocks = (work + WARPS - 1) / WARPS;
    transform<<<(unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX), WARPS * 32, 0,
                (cudaStream_t)stream>>>(*task);
    return modal_cuda_launched("world_transform", err);
}
