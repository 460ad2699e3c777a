// SPDX-License-Identifier: Apache-2.0
// u = U q, or x = R (xbar + U q) + p, on CUDA: what modal_sum and deform share.
//
// One thread is one vertex, one warp is one tile, so every load of U is one full 128-byte line, and
// there is no reduction across threads. Two kernels:
//
// direct: for up to 16 columns, or very many modes. U is streamed from memory once; four modes are
//   loaded at a time, 12 independent loads a thread, before they are used; q waits in shared memory.
// staged: for more columns. A block copies the U of its four tiles to shared memory once and loops
//   over the columns 16 at a time with 48 sums in registers: for four modes 12 loads of U and 16
//   broadcast loads of q feed 192 multiply-adds, so that arithmetic, not shared memory, is the limit.
//
// The second launch bound states the blocks a multiprocessor that the registers are planned for; it
// keeps every variant free of spills (ptxas -v). Results go through shared memory so that a warp writes x y z of 32 vertices as whole lines.
// Every sum runs over ascending k with one fused multiply-add a mode in both kernels, so the bytes
// of a column do not depend on the kernel that was taken.
#ifndef MODAL_KERNELS_TILE_PRODUCT_CUH
#define MODAL_KERNELS_TILE_PRODUCT_CUH

#include <cstdint>

#include "kernels/cuda_check.cuh"
#include "kernels/tile_store.cuh"

namespace modal_cuda {

// The arrays of modal_deform_task; without frames (modal_sum) positions gets u itself.
struct Product {
    int64_t n_vertices, n_tiles, n_columns;
    int32_t n_modes;
    const float *__restrict__ modal_matrix;
    const float *__restrict__ rest_tiles;
    const float *__restrict__ q;
    const float *__restrict__ frames;
    float *__restrict__ positions;
    float *__restrict__ displacement;
};

enum Kind { SUM, DEFORM, DEFORM_WITH_DISPLACEMENT };

constexpr int DIRECT_WARPS = 8, DIRECT_MODES = 64, STAGED_WARPS = 4, STAGED_COLUMNS = 16;
constexpr int STAGED_MODES_MAX = 64; // 98 KB of U a block: two blocks a multiprocessor

// Adds the products of four modes (or one) for C columns. q_s is [C][pitch].
template <int C, int MODES>
__device__ __forceinline__ void accumulate(float (&sum)[C][3], const float (&u)[MODES][3],
                                           const float *q_s, int pitch)
{
#pragma unroll
    for (int c = 0; c < C; c++) {
        float q[MODES];
        if (MODES == 4) {
            const float4 four = *reinterpret_cast<const float4 *>(q_s + c * pitch);
            q[0] = four.x, q[1 % MODES] = four.y, q[2 % MODES] = four.z, q[3 % MODES] = four.w;
        } else {
            q[0] = q_s[c * pitch];
        }
#pragma unroll
        for (int k = 0; k < MODES; k++)
#pragma unroll
            for (int i = 0; i < 3; i++) sum[c][i] = fmaf(u[k][i], q[k], sum[c][i]);
    }
}

// Transforms and writes C columns from `first` on, of which those below `end` exist. frames_s is
// [C][12], stage a warp's 96 floats.
template <int C, Kind KIND>
__device__ __forceinline__ void finish(const Product &p, float (&sum)[C][3], int64_t tile,
                                       int64_t first, int64_t end, const float *frames_s,
                                       float *stage)
{
    const int lane = threadIdx.x % 32;
    float rest[3] = {0.0f, 0.0f, 0.0f};
    if (KIND != SUM)
#pragma unroll
        for (int i = 0; i < 3; i++) rest[i] = __ldg(p.rest_tiles + tile * 96 + i * 32 + lane);
#pragma unroll
    for (int c = 0; c < C; c++) {
        if (first + c >= end) break;
        const int64_t begin = ((first + c) * p.n_vertices + tile * 32) * 3;
        const int64_t count = p.n_vertices - tile * 32;
        if (KIND == SUM) {
            store_tile(p.positions + begin, count, stage, sum[c][0], sum[c][1], sum[c][2]);
            continue;
        }
        const float4 *t = reinterpret_cast<const float4 *>(frames_s + 12 * c);
        float x[3], d[3];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const float4 row = t[i];
            x[i] = fmaf(row.x, rest[0] + sum[c][0], row.w);
            x[i] = fmaf(row.y, rest[1] + sum[c][1], x[i]);
            x[i] = fmaf(row.z, rest[2] + sum[c][2], x[i]);
            d[i] = fmaf(row.z, sum[c][2], fmaf(row.y, sum[c][1], row.x * sum[c][0]));
        }
        store_tile(p.positions + begin, count, stage, x[0], x[1], x[2]);
        if (KIND == DEFORM_WITH_DISPLACEMENT)
            store_tile(p.displacement + begin, count, stage, d[0], d[1], d[2]);
    }
}

// Copies q[first .. first + C)[k0 .. k0 + count) to q_s [C][pitch] and the frames to frames_s; zeros
// for columns past the end. All threads of the block.
template <int C, Kind KIND>
__device__ __forceinline__ void load_columns(const Product &p, int64_t first, int64_t end, int k0,
                                             int count, float *q_s, int pitch, float *frames_s)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, n_warps = blockDim.x / 32;
    for (int c = warp; c < C; c += n_warps)
        for (int k = lane; k < count; k += 32)
            q_s[c * pitch + k] =
                first + c < end ? __ldg(p.q + (first + c) * p.n_modes + k0 + k) : 0.0f;
    if (KIND != SUM && k0 == 0)
        for (int i = threadIdx.x; i < C * 12; i += blockDim.x)
            frames_s[i] = first + i / 12 < end ? __ldg(p.frames + first * 12 + i) : 0.0f;
}

template <int C, Kind KIND>
__global__ void __launch_bounds__(DIRECT_WARPS * 32, C <= 4 ? 4 : C <= 8 ? 3 : 2)
    direct(const Product p)
{
    __shared__ alignas(16) float q_s[C * DIRECT_MODES];
    __shared__ alignas(16) float frames_s[C * 12];
    __shared__ float stages[DIRECT_WARPS][96];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t column_blocks = (p.n_columns + C - 1) / C;
    const int64_t n_blocks = (p.n_tiles + DIRECT_WARPS - 1) / DIRECT_WARPS * column_blocks;
    // column blocks of a tile run side by side: all but the first find U in the L2 cache
    for (int64_t block = blockIdx.x; block < n_blocks; block += gridDim.x) {
        const int64_t tile = block / column_blocks * DIRECT_WARPS + warp;
        const int64_t first = block % column_blocks * C;
        const float *u_tile = p.modal_matrix + tile * p.n_modes * 96 + lane;
        float sum[C][3] = {};
        for (int k0 = 0; k0 < p.n_modes || k0 == 0; k0 += DIRECT_MODES) {
            const int count = min(DIRECT_MODES, p.n_modes - k0);
            __syncthreads();
            load_columns<C, KIND>(p, first, p.n_columns, k0, count, q_s, DIRECT_MODES, frames_s);
            __syncthreads();
            if (tile >= p.n_tiles) continue;
            const float *u_chunk = u_tile + (int64_t)k0 * 96;
            int k = 0;
#pragma unroll(C <= 2 ? 2 : 1)
            for (; k + 4 <= count; k += 4) {
                float u[4][3];
#pragma unroll
                for (int m = 0; m < 4; m++)
#pragma unroll
                    for (int i = 0; i < 3; i++) {
                        const float *from = u_chunk + (k + m) * 96 + i * 32;
                        u[m][i] = C < 16 ? __ldcs(from) : __ldg(from);
                    }
                accumulate<C, 4>(sum, u, q_s + k, DIRECT_MODES);
            }
            for (; k < count; k++) {
                float u[1][3];
#pragma unroll
                for (int i = 0; i < 3; i++) u[0][i] = __ldg(u_chunk + k * 96 + i * 32);
                accumulate<C, 1>(sum, u, q_s + k, DIRECT_MODES);
            }
        }
        if (tile < p.n_tiles)
            finish<C, KIND>(p, sum, tile, first, p.n_columns, frames_s, stages[warp]);
    }
}

// Each block owns STAGED_WARPS tiles and one of n_ranges ranges of columns.
template <Kind KIND>
__global__ void __launch_bounds__(STAGED_WARPS * 32, 4)
    staged(const Product p, int64_t n_ranges, int64_t range_columns)
{
    constexpr int C = STAGED_COLUMNS;
    extern __shared__ float4 shared[]; // float4 for its alignment
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, r = p.n_modes;
    const int pitch = (r + 3) / 4 * 4;
    float *u_s = &shared[0].x, *q_s = u_s + STAGED_WARPS * 96 * r, *frames_s = q_s + C * pitch;
    float *stage = frames_s + C * 12 + warp * 96;
    const int64_t n_blocks = (p.n_tiles + STAGED_WARPS - 1) / STAGED_WARPS * n_ranges;
    for (int64_t block = blockIdx.x; block < n_blocks; block += gridDim.x) {
        const int64_t tile0 = block / n_ranges * STAGED_WARPS, tile = tile0 + warp;
        const int64_t begin = block % n_ranges * range_columns;
        const int64_t end = min(begin + range_columns, p.n_columns);
        const int n_vectors = (int)min((int64_t)STAGED_WARPS, p.n_tiles - tile0) * r * 24;
        const float4 *from =
            reinterpret_cast<const float4 *>(p.modal_matrix + tile0 * r * 96);
        __syncthreads();
#pragma unroll 8
        for (int i = threadIdx.x; i < n_vectors; i += STAGED_WARPS * 32)
            reinterpret_cast<float4 *>(u_s)[i] = __ldg(from + i);
        const float *u_tile = u_s + warp * 96 * r + lane;
        for (int64_t first = begin; first < end; first += C) {
            if (first > begin) __syncthreads();
            load_columns<C, KIND>(p, first, end, 0, r, q_s, pitch, frames_s);
            __syncthreads();
            if (tile >= p.n_tiles) continue;
            float sum[C][3] = {};
            int k = 0;
#pragma unroll 1
            for (; k + 4 <= r; k += 4) {
                float u[4][3];
#pragma unroll
                for (int m = 0; m < 4; m++)
#pragma unroll
                    for (int i = 0; i < 3; i++) u[m][i] = u_tile[(k + m) * 96 + i * 32];
                accumulate<C, 4>(sum, u, q_s + k, pitch);
            }
            for (; k < r; k++) {
                float u[1][3];
#pragma unroll
                for (int i = 0; i < 3; i++) u[0][i] = u_tile[k * 96 + i * 32];
                accumulate<C, 1>(sum, u, q_s + k, pitch);
            }
            finish<C, KIND>(p, sum, tile, first, end, frames_s, stage);
        }
    }
}

inline unsigned grid_size(int64_t n_blocks)
{
    return (unsigned)(n_blocks < INT32_MAX ? n_blocks : INT32_MAX);
}

template <int C, Kind KIND>
modal_status launch_direct(const Product &p, cudaStream_t stream, modal_error *err)
{
    const int64_t blocks = (p.n_tiles + DIRECT_WARPS - 1) / DIRECT_WARPS *
                           ((p.n_columns + C - 1) / C);
    direct<C, KIND><<<grid_size(blocks), DIRECT_WARPS * 32, 0, stream>>>(p);
    return modal_cuda_launched("tile product, direct", err);
}

template <Kind KIND>
modal_status launch_staged(const Product &p, cudaStream_t stream, modal_error *err)
{
    const int pitch = (p.n_modes + 3) / 4 * 4;
    const size_t bytes = sizeof(float) * ((size_t)STAGED_WARPS * 96 * p.n_modes +
                                          STAGED_COLUMNS * (pitch + 12) + STAGED_WARPS * 96);
    const modal_status status = modal_cuda_status(
        cudaFuncSetAttribute(staged<KIND>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)bytes),
        "tile product, shared memory", err);
    if (status != MODAL_OK) return status;
    // few tiles: the columns are divided, too, until about 2,000 blocks keep the device busy
    const int64_t tile_blocks = (p.n_tiles + STAGED_WARPS - 1) / STAGED_WARPS;
    const int64_t column_blocks = (p.n_columns + STAGED_COLUMNS - 1) / STAGED_COLUMNS;
    int64_t ranges = (2047 + tile_blocks) / tile_blocks;
    if (ranges > column_blocks) ranges = column_blocks;
    const int64_t range_columns = (column_blocks + ranges - 1) / ranges * STAGED_COLUMNS;
    ranges = (p.n_columns + range_columns - 1) / range_columns;
    staged<KIND><<<grid_size(tile_blocks * ranges), STAGED_WARPS * 32, bytes, stream>>>(
        p, ranges, range_columns);
    return modal_cuda_launched("tile product, staged", err);
}

template <Kind KIND>
modal_status launch_product(const Product &p, modal_stream *queue, modal_error *err)
{
    const cudaStream_t stream = (cudaStream_t)queue;
    if (p.n_vertices <= 0 || p.n_columns <= 0) return MODAL_OK;
    if (p.n_columns == 1) return launch_direct<1, KIND>(p, stream, err);
    if (p.n_columns == 2) return launch_direct<2, KIND>(p, stream, err);
    if (p.n_columns <= 4) return launch_direct<4, KIND>(p, stream, err);
    if (p.n_columns <= 8) return launch_direct<8, KIND>(p, stream, err);
    if (p.n_columns <= 16 || p.n_modes > STAGED_MODES_MAX)
        return launch_direct<16, KIND>(p, stream, err);
    return launch_staged<KIND>(p, stream, err);
}

} // namespace modal_cuda

#endif
