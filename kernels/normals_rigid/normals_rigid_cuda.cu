// SPDX-License-Identifier: Apache-2.0
// Write-bound: a warp reads 32 rest normals once for eight columns and writes 12 bytes a vertex and
// column, as whole lines through shared memory.
#include "kernels/cuda_check.cuh"
#include "kernels/normals_rigid/normals_rigid.h"
#include "kernels/tile_store.cuh"
#include "lib/base/tile.h"

namespace {

constexpr int WARPS = 8, COLUMNS = 8;

__global__ void __launch_bounds__(WARPS * 32) rotate(const modal_normals_rigid_task task)
{
    __shared__ float stages[WARPS][MODAL_TILE_FLOATS];
    const int warp = threadIdx.x / 32;
    const int64_t n_tiles = (task.n_vertices + MODAL_TILE - 1) / MODAL_TILE;
    const int64_t n_work = (task.n_columns + COLUMNS - 1) / COLUMNS * n_tiles;
    for (int64_t work = (int64_t)blockIdx.x * WARPS + warp; work < n_work;
         work += (int64_t)gridDim.x * WARPS) {
        const int64_t tile = work % n_tiles, first = work / n_tiles * COLUMNS;
        const int64_t count = task.n_vertices - tile * MODAL_TILE;
        const int64_t v = tile * MODAL_TILE + threadIdx.x % 32;
        const bool several = task.objects != nullptr;
        const int64_t object = several && v < task.n_vertices ? __ldg(task.objects + v) : 0;
        float rest[3];
        modal_cuda::load_tile(task.rest_normals + tile * MODAL_TILE_FLOATS, count, stages[warp], rest[0], rest[1],
                              rest[2]);
        for (int64_t c = first; c < first + COLUMNS && c < task.n_columns; c++) {
            const float *t = task.poses + 12 * (several ? c * task.n_objects + object : c);
            float x[3];
#pragma unroll
            for (int i = 0; i < 3; i++)
                x[i] = fmaf(__ldg(t + 4 * i + 2), rest[2],
                            fmaf(__ldg(t + 4 * i + 1), rest[1], __ldg(t + 4 * i) * rest[0]));
            modal_cuda::store_tile(task.normals + (c * task.n_vertices + tile * MODAL_TILE) * 3, count,
                                   stages[warp], x[0], x[1], x[2]);
        }
    }
}

} // namespace

extern "C" modal_status modal_normals_rigid_cuda(const modal_normals_rigid_task *task,
                                                 modal_stream *stream, modal_error *err)
{
    if (task->n_vertices <= 0 || task->n_columns <= 0) return MODAL_OK;
    const int64_t work = (task->n_vertices + MODAL_TILE - 1) / MODAL_TILE * ((task->n_columns + COLUMNS - 1) / COLUMNS);
    const int64_t blocks = (work + WARPS - 1) / WARPS;
    rotate<<<(unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX), WARPS * 32, 0,
             (cudaStream_t)stream>>>(*task);
    return modal_cuda_launched("normals_rigid", err);
}
