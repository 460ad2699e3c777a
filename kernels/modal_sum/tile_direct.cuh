// SPDX-License-Identifier: Apache-2.0
// The tile product for few columns: float32 multiply-adds, U streamed from memory once.
//
// One lane is one vertex, so every load of U is one full 128-byte line. The modes of a tile are divided
// into parts whose number depends on r alone; each part is summed by itself, and the sums are added in
// ascending order. Where tiles are few, every part is the work of a warp of its own: all loads of U are
// in flight at once, and the latency is one round trip to memory instead of one for every 8 modes. Where
// they are many, one warp does all parts: the same sums, the same bytes, however a shape is cut.
//
// Back-to-back launches overlap where they can (overlap.cuh): while the kernel before is draining,
// this one asks for its part of U to be brought to the second-level cache, and waits only then. (The
// cache is coherent: a line that an earlier kernel still writes is not read stale later.)
// NVIDIA H200, 2026-11-21, one column, 1e6 vertices, r = 32: 94 us, 98 to 105 % of a copy; 1e4, r = 30:
// 3.1 us (an empty kernel: 2.8). More: kernels/VERSIONS.md.
#ifndef MODAL_KERNELS_TILE_DIRECT_CUH
#define MODAL_KERNELS_TILE_DIRECT_CUH

#include "kernels/modal_sum/overlap.cuh"
#include "kernels/tile_store.cuh"
#include "lib/base/tile.h"

namespace modal_cuda {

constexpr int DIRECT_WARPS = 8, DIRECT_LOG_MODES = 8; // warps a block, modes of q in shared memory
constexpr int DIRECT_MODES = 1 << DIRECT_LOG_MODES;

// Log2 of the number of parts of a sum, and the modes of each but the last; functions of r alone.
__host__ __device__ inline int direct_log_parts(int n_modes)
{
    return n_modes < 16 ? 0 : n_modes < 32 ? 1 : n_modes < 128 ? 2 : 3;
}
__host__ __device__ inline int direct_share(int n_modes)
{
    const int log_parts = direct_log_parts(n_modes);
    return (((n_modes + (1 << log_parts) - 1) >> log_parts) + 7) / 8 * 8;
}

template <int C, int MODES>
__device__ __forceinline__ void accumulate(float (&sum)[C][3], const float (&u)[MODES][3],
                                           const float *q_s)
{
#pragma unroll
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int k = 0; k < MODES; k += 4) {
            const float4 q = *reinterpret_cast<const float4 *>(q_s + c * DIRECT_MODES + k);
#pragma unroll
            for (int i = 0; i < 3; i++) {
                sum[c][i] = fmaf(u[k][i], q.x, sum[c][i]);
                sum[c][i] = fmaf(u[k + 1][i], q.y, sum[c][i]);
                sum[c][i] = fmaf(u[k + 2][i], q.z, sum[c][i]);
                sum[c][i] = fmaf(u[k + 3][i], q.w, sum[c][i]);
            }
        }
}

// The next MODES modes of a tile, of which `left` exist; zeros behind.
template <int MODES>
__device__ __forceinline__ void load_modes(float (&u)[MODES][3], const float *from, int left)
{
    if (left >= MODES) {
#pragma unroll
        for (int m = 0; m < MODES; m++)
#pragma unroll
            for (int i = 0; i < 3; i++) u[m][i] = __ldcs(from + m * MODAL_TILE_FLOATS + i * MODAL_TILE);
    } else {
#pragma unroll
        for (int m = 0; m < MODES; m++)
#pragma unroll
            for (int i = 0; i < 3; i++)
                u[m][i] = m < left ? __ldcs(from + m * MODAL_TILE_FLOATS + i * MODAL_TILE) : 0.0f;
    }
}

// total += sum, sum = 0
template <int C>
__device__ __forceinline__ void end_part(float (&total)[C][3], float (&sum)[C][3])
{
#pragma unroll
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int i = 0; i < 3; i++) total[c][i] += sum[c][i], sum[c][i] = 0.0f;
}

// SPLIT: a warp a part; else a warp does all parts of a tile. BLOCKS on a multiprocessor: with 3 nothing
// is spilled and latency is short, with 4 long streams of few modes are 7 % faster where they need not spill.
template <int C, int MODES, bool SPLIT, int BLOCKS, Kind KIND>
__global__ void __launch_bounds__(DIRECT_WARPS * 32, BLOCKS)
    direct(const Product p, bool prefetch)
{
    constexpr bool SINGLE = C < 4; // all columns are in one block of C
    __shared__ alignas(16) float q_s[C * DIRECT_MODES];
    __shared__ alignas(16) float poses_s[C * 12];
    __shared__ float sums_s[SPLIT ? DIRECT_WARPS : 1][C * MODAL_TILE_FLOATS];
    __shared__ float stages[DIRECT_WARPS][MODAL_TILE_FLOATS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, r = p.n_modes;
    const int share = direct_share(r), log_split = SPLIT ? direct_log_parts(r) : 0;
    const int part = warp & ((1 << log_split) - 1);
    const int log_room = DIRECT_LOG_MODES - log_split, room = 1 << log_room; // modes of a warp in q_s
    const int begin = part * share, end = SPLIT ? min(begin + share, r) : r;
    // column blocks of a tile run side by side: all but the first find U in the L2 cache
    const unsigned column_blocks = SINGLE ? 1 : (unsigned)((p.n_columns + C - 1) / C);
    const int64_t tile = ((int64_t)(blockIdx.x / column_blocks) * DIRECT_WARPS + warp) >> log_split;
    const int64_t first = (int64_t)(blockIdx.x % column_blocks) * C;
    const bool exists = tile < p.n_tiles;
    const float *u_tile = p.modal_matrix + tile * r * MODAL_TILE_FLOATS;
    let_next_begin();
    if (prefetch && exists) // of its 128-byte lines
        for (int i = begin * 3 + lane; i < min(end, begin + 32) * 3; i += 32)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(u_tile + (int64_t)i * 32));
    wait_for_previous();
    float total[C][3] = {}, sum[C][3] = {}, rest[3] = {};
    if (KIND != SUM && exists)
#pragma unroll
        for (int i = 0; i < 3; i++) rest[i] = __ldg(p.rest_tiles + tile * MODAL_TILE_FLOATS + i * MODAL_TILE + lane);
    const int rounds = max(((SPLIT ? share : r) + room - 1) >> log_room, 1);
    for (int round = 0; round < rounds; round++) {
        int k = begin + round * room;
        const int stop = exists ? min(k + room, end) : 0;
        const float *from = u_tile + (int64_t)k * MODAL_TILE_FLOATS + lane, *q = q_s + part * room;
        float u[MODES][3];
        load_modes(u, from, stop - k);
        if (round > 0) __syncthreads();
        for (int i = threadIdx.x; i < C * DIRECT_MODES; i += DIRECT_WARPS * 32) {
            const int c = i / DIRECT_MODES, of = i % DIRECT_MODES >> log_room;
            const int at = round * room + (i & (room - 1)), m = of * share + at;
            q_s[i] = (!SPLIT || at < share) && m < r && first + c < p.n_columns
                         ? __ldg(p.q + (first + c) * r + m)
                         : 0.0f;
        }
        if (KIND != SUM && round == 0)
            for (int i = threadIdx.x; i < C * 12; i += DIRECT_WARPS * 32)
                poses_s[i] =
                    first + i / 12 < p.n_columns ? __ldg(p.poses + first * 12 + i) : 0.0f;
        __syncthreads();
        for (; k < stop; k += MODES, q += MODES) {
            if (!SPLIT && k > 0 && k % share == 0) end_part(total, sum);
            accumulate<C, MODES>(sum, u, q);
            from += MODES * MODAL_TILE_FLOATS;
            if (k + MODES < stop) load_modes(u, from, stop - k - MODES);
        }
    }
    if (SPLIT) {
#pragma unroll
        for (int c = 0; c < C; c++)
#pragma unroll
            for (int i = 0; i < 3; i++) sums_s[warp][c * MODAL_TILE_FLOATS + i * MODAL_TILE + lane] = sum[c][i];
        __syncthreads();
    } else {
        end_part(total, sum);
    }
    if (!exists) return;
    const int64_t count = p.n_vertices - tile * MODAL_TILE;
#pragma unroll
    for (int c = 0; c < C; c++) {
        if (first + c >= p.n_columns || (c & ((1 << log_split) - 1)) != part) continue;
        float x[3], d[3];
        if (SPLIT)
            for (int j = 0; j < 1 << log_split; j++)
#pragma unroll
                for (int i = 0; i < 3; i++)
                    total[c][i] += sums_s[SPLIT ? warp - part + j : 0][c * MODAL_TILE_FLOATS + i * MODAL_TILE + lane];
        const float4 *rows = reinterpret_cast<const float4 *>(poses_s + 12 * c);
        const float4 t[3] = {rows[0], rows[1], rows[2]};
        transform<KIND>(t, rest, total[c], x, d);
        const int64_t out = ((first + c) * p.n_vertices + tile * MODAL_TILE) * 3;
        store_tile(p.positions + out, count, stages[warp], x[0], x[1], x[2]);
        if (KIND == DEFORM_WITH_DISPLACEMENT)
            store_tile(p.displacement + out, count, stages[warp], d[0], d[1], d[2]);
    }
}

constexpr int64_t DIRECT_SPLIT_WARPS = 32768; // more than these keep the device busy without a split
constexpr int64_t DIRECT_STREAM_TILES = 16384;

template <int C, int MODES, Kind KIND>
modal_status launch_direct_columns(const Product &p, const Machine &machine, cudaStream_t stream, modal_error *err)
{
    const int log_parts = direct_log_parts(p.n_modes);
    const bool split = log_parts > 0 && p.n_tiles << log_parts <= DIRECT_SPLIT_WARPS;
    const int64_t n_warps = p.n_tiles << (split ? log_parts : 0);
    const int64_t tile_blocks = (n_warps + DIRECT_WARPS - 1) / DIRECT_WARPS;
    const int64_t blocks = tile_blocks * ((p.n_columns + C - 1) / C);
    if (blocks > INT32_MAX)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "CUDA: %lld vertices are too many",
                               (long long)p.n_vertices);
    const bool prefetch = tile_blocks <= 1024; // what runs at once
    constexpr int MANY = C == 1 && KIND == SUM ? 4 : 3;
    const auto kernel = split                        ? direct<C, MODES, true, 3, KIND>
                        : p.n_tiles > DIRECT_STREAM_TILES ? direct<C, MODES, false, MANY, KIND>
                                                          : direct<C, MODES, false, 3, KIND>;
    return launch_overlapping(machine, kernel, (unsigned)blocks, DIRECT_WARPS * 32, 0, stream,
                              "tile product, direct", err, p, prefetch);
}

template <Kind KIND>
modal_status launch_direct(const Product &p, const Machine &machine, cudaStream_t stream, modal_error *err)
{
    if (p.n_columns == 1) return launch_direct_columns<1, 8, KIND>(p, machine, stream, err);
    if (p.n_columns == 2) return launch_direct_columns<2, 8, KIND>(p, machine, stream, err);
    return launch_direct_columns<4, 4, KIND>(p, machine, stream, err);
}

} // namespace modal_cuda

#endif
