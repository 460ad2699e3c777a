// SPDX-License-Identifier: Apache-2.0
// The kernels of normals_dynamic (its .cu file says why they are fast), for all that is done with a tile's normals:
// normals_dynamic writes them as they lie, normals_placed puts them and the positions in their places.
#ifndef MODAL_KERNELS_NORMALS_TILES_CUH
#define MODAL_KERNELS_NORMALS_TILES_CUH

#include "kernels/cuda_check.cuh"
#include "kernels/normals_dynamic/normal_parts.cuh"
#include "kernels/normals_dynamic/normals_dynamic.h"
#include "kernels/tile_store.cuh"
#include "lib/base/tile.h"

namespace {

constexpr int WARPS = 8;

// What is done with a tile's normals where they are written in the order of the rows.
struct normals_of_rows {
    float *normals;

    template <int C>
    __device__ __forceinline__ void put(int64_t n, const float (&)[C][3], float (&sum)[C][3], int64_t tile, int64_t column,
                                        float *stage) const
    {
#pragma unroll
        for (int c = 0; c < C; c++) {
            modal_cuda::normalise(sum[c]);
            modal_cuda::store_tile(normals + ((column + c) * n + tile * MODAL_TILE) * 3, n - tile * MODAL_TILE, stage,
                                   sum[c][0], sum[c][1], sum[c][2]);
        }
    }
};

// ROWS rows of a tile's ring: all loads first.
template <int C, int ROWS>
__device__ __forceinline__ void add_rows(const int32_t *row, const float *x, int64_t stride,
                                         const float (&own)[C][3], float (&edge)[C][3],
                                         float (&sum)[C][3])
{
    int32_t entry[ROWS];
    float next[ROWS][C][3];
#pragma unroll
    for (int k = 0; k < ROWS; k++) entry[k] = __ldg(row + MODAL_TILE * k);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const float *at = x + (int64_t)(entry[k] ^ (entry[k] >> 31)) * 3;
#pragma unroll
        for (int c = 0; c < C; c++)
#pragma unroll
            for (int i = 0; i < 3; i++) next[k][c][i] = __ldg(at + c * stride + i);
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++)
#pragma unroll
        for (int c = 0; c < C; c++) {
            float to[3], product[3];
#pragma unroll
            for (int i = 0; i < 3; i++) to[i] = __fsub_rn(next[k][c][i], own[c][i]);
            modal_cuda::cross(edge[c], to, product);
#pragma unroll
            for (int i = 0; i < 3; i++) {
                if (entry[k] >= 0) sum[c][i] = __fadd_rn(sum[c][i], product[i]);
                edge[c][i] = to[i];
            }
        }
}

template <int C, class OUT>
__global__ void __launch_bounds__(WARPS * 32)
    ring(const modal_normals_dynamic_task task, const OUT out, int64_t first_column, int64_t n_column_blocks)
{
    constexpr int ROWS = C == 1 ? 8 : C == 2 ? 4 : 2;
    __shared__ float stages[WARPS][MODAL_TILE_FLOATS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t n = out.rows(task.n_vertices), n_tiles = (n + MODAL_TILE - 1) / MODAL_TILE, n_work = n_tiles * n_column_blocks;
    for (int64_t work = (int64_t)blockIdx.x * WARPS + warp; work < n_work;
         work += (int64_t)gridDim.x * WARPS) {
        const int64_t tile = work % n_tiles, place = tile * MODAL_TILE + lane < n ? tile * MODAL_TILE + lane : n - 1;
        const int64_t v = out.vertex(place);
        const int64_t column = first_column + work / n_tiles * C, stride = task.n_vertices * 3;
        const float *__restrict__ x = task.positions + column * stride;
        const int64_t begin = __ldg(task.ring_offsets + tile);
        int rows = (int)(__ldg(task.ring_offsets + tile + 1) - begin);
        const int32_t *row = task.ring + begin * MODAL_TILE + lane;
        float own[C][3], edge[C][3] = {}, sum[C][3] = {};
#pragma unroll
        for (int c = 0; c < C; c++)
#pragma unroll
            for (int i = 0; i < 3; i++) own[c][i] = __ldg(x + c * stride + v * 3 + i);
        for (; rows >= ROWS; rows -= ROWS, row += MODAL_TILE * ROWS)
            add_rows<C, ROWS>(row, x, stride, own, edge, sum);
        if (ROWS > 4 && rows >= 4) {
            add_rows<C, 4>(row, x, stride, own, edge, sum);
            rows -= 4, row += 128;
        }
        if (ROWS > 2 && rows >= 2) {
            add_rows<C, 2>(row, x, stride, own, edge, sum);
            rows -= 2, row += 64;
        }
        if (rows >= 1) add_rows<C, 1>(row, x, stride, own, edge, sum);
        out.put(n, own, sum, tile, column, stages[warp]);
    }
}

template <int C, class OUT>
__global__ void __launch_bounds__(WARPS * 32)
    corners(const modal_normals_dynamic_task task, const OUT out, int64_t first_column, int64_t n_column_blocks)
{
    __shared__ float stages[WARPS][MODAL_TILE_FLOATS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t n = out.rows(task.n_vertices), n_tiles = (n + MODAL_TILE - 1) / MODAL_TILE, n_work = n_tiles * n_column_blocks;
    const int64_t stride = task.n_vertices * 3;
    const int2 *__restrict__ pairs = reinterpret_cast<const int2 *>(task.corners);
    for (int64_t work = (int64_t)blockIdx.x * WARPS + warp; work < n_work;
         work += (int64_t)gridDim.x * WARPS) {
        const int64_t tile = work % n_tiles, v = tile * MODAL_TILE + lane;
        const int64_t column = first_column + work / n_tiles * C;
        const float *__restrict__ x = task.positions + column * stride;
        float own[C][3], sum[C][3] = {};
        int64_t k = 0, end = 0;
        if (v < n) {
            k = __ldg(task.corner_offsets + v);
            end = __ldg(task.corner_offsets + v + 1);
#pragma unroll
            for (int c = 0; c < C; c++)
#pragma unroll
                for (int i = 0; i < 3; i++) own[c][i] = __ldg(x + c * stride + out.vertex_of_corners(v) * 3 + i);
        }
        for (; k < end; k++) {
            const int2 corner = __ldg(pairs + k);
            const float *first = x + (int64_t)corner.x * 3, *second = x + (int64_t)corner.y * 3;
#pragma unroll
            for (int c = 0; c < C; c++) {
                float a[3], b[3], product[3];
#pragma unroll
                for (int i = 0; i < 3; i++) {
                    a[i] = __fsub_rn(__ldg(first + c * stride + i), own[c][i]);
                    b[i] = __fsub_rn(__ldg(second + c * stride + i), own[c][i]);
                }
                modal_cuda::cross(a, b, product);
#pragma unroll
                for (int i = 0; i < 3; i++) sum[c][i] = __fadd_rn(sum[c][i], product[i]);
            }
        }
        out.put(n, own, sum, tile, column, stages[warp]);
    }
}

template <int C, class OUT>
modal_status launch(const modal_normals_dynamic_task *task, const OUT &out, const char *name, int64_t first_column,
                    int64_t n_column_blocks, int64_t n_rows, modal_stream *stream, modal_error *err)
{
    if (n_column_blocks == 0) return MODAL_OK;
    const int64_t blocks = ((n_rows + MODAL_TILE - 1) / MODAL_TILE * n_column_blocks + WARPS - 1) / WARPS;
    const unsigned grid = (unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX);
    if (task->ring)
        ring<C><<<grid, WARPS * 32, 0, (cudaStream_t)stream>>>(*task, out, first_column, n_column_blocks);
    else
        corners<C><<<grid, WARPS * 32, 0, (cudaStream_t)stream>>>(*task, out, first_column, n_column_blocks);
    return modal_cuda_launched(name, err);
}

// All columns, four at a time and then one by one. OUT::put takes what a warp has made of a tile: C positions and sums of
// cross products a lane. OUT::vertex is the vertex whose walk a lane of the ring is, OUT::vertex_of_corners whose corners are a row of the table.
// n_rows, OUT::rows: of the output; the vertices but for wedges.
template <class OUT>
modal_status launch_all(const modal_normals_dynamic_task *task, const OUT &out, const char *name, int64_t n_rows, modal_stream *stream,
                        modal_error *err)
{
    if (n_rows <= 0 || task->n_columns <= 0) return MODAL_OK;
    const int64_t fours = task->n_columns / 4;
    const modal_status status = launch<4>(task, out, name, 0, fours, n_rows, stream, err);
    if (status != MODAL_OK) return status;
    return launch<1>(task, out, name, 4 * fours, task->n_columns % 4, n_rows, stream, err);
}

} // namespace

#endif
