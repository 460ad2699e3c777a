// SPDX-License-Identifier: Apache-2.0
// The tile product for many columns: three TF32 products on the tensor cores in place of one float32
// product, U q ~ U_high q_high + U_high q_low + U_low q_high, with x_high = x rounded to TF32's 11 bits
// and x_low = x - x_high.
//
// A block of four or eight warps keeps q of its columns in shared memory, split and in the order of the
// fragments, and walks through tiles: U comes through a ring in shared memory (cp.async), a few modes
// at a time (q, too, where it is too large to be kept); each warp multiplies a tile with its columns, transforms and
// writes. The rows of the
// fragments are vertices in such an order that a lane ends up with x y z of four consecutive vertices:
// 12 consecutive floats of a column. Why it is fast:
//  - the 16-byte pieces of a mode are permuted in the ring, so that a fragment's loads meet every bank
//    once: lane 4 g + t takes piece g of mode t or 4 + t, stored as piece g ^ 2 t;
//  - a warp writes 384 consecutive bytes of a column, through shared memory, and the warp beside it the
//    next 384: memory takes runs of 768 bytes at 4,300 GB/s, shorter ones at 3,800;
//  - blocks with the other columns of the same tiles run at the same time: U is read from memory once;
//  - what most tiles need has no conditions: whole tiles and columns take a path of their own.
// NVIDIA H200, 2026-11-21, 1e6 vertices, r = 32, 128 columns, with the transform: 0.551 ms, 82 % of a
// copy (cuBLAS sgemm without the transform: 1.00 ms). More: kernels/VERSIONS.md.
#ifndef MODAL_KERNELS_TILE_TENSOR_CUH
#define MODAL_KERNELS_TILE_TENSOR_CUH

#include "kernels/modal_sum/overlap.cuh"
#include "kernels/modal_sum/tensor_core.cuh"
#include "lib/base/tile.h"

namespace modal_cuda {

constexpr int RING_THREADS = 128, RING_MODES = 16; // so many threads copy modes of one tile, 3 x 16 bytes each
constexpr int RING_STAGES = 3;
constexpr int STAGE_PITCH = 100; // floats of a column where a warp's results are staged

// A warp multiplies one tile with 8 NT columns; TILES x WN warps are a block of TILES tiles and 8 NT WN
// columns, BLOCKS of them run on a multiprocessor. STREAM: q comes through the ring, too.
template <int NT_, int TILES_, int WN_, int BLOCKS_, bool STREAM_ = false>
struct TensorShape {
    static constexpr int NT = NT_, TILES = TILES_, WN = WN_, BLOCKS = BLOCKS_;
    static constexpr bool STREAM = STREAM_;
    static constexpr int WARPS = TILES * WN, THREADS = 32 * WARPS, COLUMNS = 8 * NT * WN;
};

struct TensorPlan {
    int32_t chunk_modes, n_chunks; // modes of a tile in one stage of the ring; chunks of a tile
    int64_t n_items;               // rows of TILES tiles x groups of COLUMNS columns
    int32_t n_groups, step_rows, step_groups; // n_items in steps of gridDim
};

// The groups of a row follow each other, so that neighbouring blocks read the same U at the same time.
struct TensorItem {
    int32_t row, group;
    int64_t left; // of this block
    __device__ __forceinline__ TensorItem(const TensorPlan &plan)
        : row(blockIdx.x / plan.n_groups), group(blockIdx.x % plan.n_groups),
          left((plan.n_items - blockIdx.x + gridDim.x - 1) / gridDim.x)
    {
    }
    __device__ __forceinline__ void next(const TensorPlan &plan)
    {
        left--;
        row += plan.step_rows, group += plan.step_groups;
        if (group >= plan.n_groups) group -= plan.n_groups, row++;
    }
};

// q and T of the columns from `first` on. b_s is [modes / 8][COLUMNS / 8][32] fragments of (q_high of
// mode t, of mode 4 + t, q_low of both), frames_s [COLUMNS][12].
template <class S, Kind KIND>
__device__ __forceinline__ void load_tensor_columns(const Product &p, int64_t first, float4 *b_s,
                                                    float *poses_s)
{
    const int r = p.n_modes, count = (r + 7) / 8 * S::COLUMNS * 4;
    for (int i = threadIdx.x; i < count && !S::STREAM; i += S::THREADS) {
        const int64_t column = first + i / 32 % (S::COLUMNS / 8) * 8 + i % 32 / 4;
        const int k = i / (S::COLUMNS * 4) * 8 + i % 4;
        const float *q = p.q + column * r + k;
        const bool exists = column < p.n_columns;
        uint32_t high[2], low[2];
        split(exists && k < r ? __ldg(q) : 0.0f, high[0], low[0]);
        split(exists && k + 4 < r ? __ldg(q + 4) : 0.0f, high[1], low[1]);
        b_s[i] = make_float4(__uint_as_float(high[0]), __uint_as_float(high[1]),
                             __uint_as_float(low[0]), __uint_as_float(low[1]));
    }
    if (KIND != SUM)
        for (int i = threadIdx.x; i < S::COLUMNS * 12; i += S::THREADS)
            poses_s[i] = first + i / 12 < p.n_columns ? __ldg(p.poses + first * 12 + i) : 0.0f;
}

// Starts to bring modes [k0, k0 + modes) of the block's tiles to a stage of the ring, zeros for modes
// and tiles that do not exist, and the rest positions behind them with the last modes.
template <class S, Kind KIND>
__device__ __forceinline__ void copy_chunk(const Product &p, uint32_t to, const TensorItem &item, int k0,
                                           int modes)
{
    constexpr int TEAMS = S::THREADS / RING_THREADS; // each copies every TEAMS-th tile
    const int r = p.n_modes, tid = threadIdx.x % RING_THREADS, team = threadIdx.x / RING_THREADS;
    const int first = item.row * S::TILES;
    const bool last = k0 + modes >= r, whole = k0 + modes <= r && first + S::TILES <= p.n_tiles;
    const float *from = p.modal_matrix + ((int64_t)(first + team) * r + k0) * MODAL_TILE_FLOATS + tid * 4;
    if (S::STREAM) {
        const uint32_t q_s = to + S::TILES * (modes + 1) * 384;
#pragma unroll 1
        for (int i = threadIdx.x; i < S::COLUMNS * modes; i += S::THREADS) {
            const int c = i / modes, k = i % modes;
            const int64_t column = (int64_t)item.group * S::COLUMNS + c;
            const uint32_t at = q_s + (c * (modes + 4) + k) * 4;
            if (column < p.n_columns && k0 + k < r)
                copy_async_4(at, p.q + column * r + k0 + k);
            else
                asm volatile("st.shared.f32 [%0], 0f00000000;" ::"r"(at) : "memory");
        }
    }
    uint32_t at[3];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int piece = i * RING_THREADS + tid;
        at[i] = to + (piece ^ (piece / 24 % 4 * 2)) * 16;
    }
    if (whole) {
#pragma unroll
        for (int j = team; j < S::TILES; j += TEAMS, from += TEAMS * r * MODAL_TILE_FLOATS) {
            const uint32_t by = j * (modes + 1) * 384;
#pragma unroll
            for (int i = 0; i < 3; i++) copy_async_16(at[i] + by, from + i * RING_THREADS * 4);
            if (modes > RING_MODES)
#pragma unroll
                for (int i = 0; i < 3; i++)
                    copy_async_16(at[i] + by + RING_MODES * 384,
                                  from + i * RING_THREADS * 4 + RING_MODES * MODAL_TILE_FLOATS);
            if (KIND != SUM && last && tid < MODAL_TILE_FLOATS)
                copy_async_4(to + by + modes * 384 + tid * 4, p.rest_tiles + (int64_t)(first + j) * MODAL_TILE_FLOATS + tid);
        }
        return;
    }
#pragma unroll 1
    for (int j = team; j < S::TILES; j += TEAMS, from += TEAMS * r * MODAL_TILE_FLOATS) {
        const uint32_t by = j * (modes + 1) * 384;
        const bool exists = first + j < p.n_tiles;
#pragma unroll 1
        for (int m0 = 0; m0 < modes; m0 += RING_MODES)
#pragma unroll
            for (int i = 0; i < 3; i++) {
                const int mode = k0 + m0 + (i * RING_THREADS + tid) / 24;
                if (exists && mode < r)
                    copy_async_16(at[i] + by + m0 * 384, from + i * RING_THREADS * 4 + m0 * MODAL_TILE_FLOATS);
                else
                    store_shared(at[i] + by + m0 * 384, make_float4(0.0f, 0.0f, 0.0f, 0.0f));
            }
        if (KIND != SUM && last && exists && tid < MODAL_TILE_FLOATS)
            copy_async_4(to + by + modes * 384 + tid * 4, p.rest_tiles + (int64_t)(first + j) * MODAL_TILE_FLOATS + tid);
    }
}

// sum += U q of the `modes` (a multiple of 8) of one chunk. sum[3 h + c][i] is coordinate c of
// the lane's vertices 2 h and 2 h + 1 in the columns of fragment i. The order of loads and products
// is fixed here (volatile): with the next row one step ahead it needs fewer registers than the
// compiler's own order, which spills.
template <class S>
__device__ __forceinline__ void multiply(float (&sum)[6][S::NT][4], uint32_t from, uint32_t b,
                                         int modes, int q_pitch)
{
    constexpr int NT = S::NT;
#pragma unroll 1
    for (; modes > 0; modes -= 8, from += 8 * 384, b += S::STREAM ? 32 : S::COLUMNS * 64) {
        float4 u = load_shared(from), v = load_shared(from + 4 * 384), q[NT];
#pragma unroll
        for (int i = 0; i < NT; i++) {
            if (!S::STREAM) {
                q[i] = load_shared(b + i * 512);
                continue;
            }
            uint32_t h[2], l[2];
            split(load_shared_4(b + i * 8 * q_pitch), h[0], l[0]);
            split(load_shared_4(b + i * 8 * q_pitch + 16), h[1], l[1]);
            q[i] = make_float4(__uint_as_float(h[0]), __uint_as_float(h[1]), __uint_as_float(l[0]),
                               __uint_as_float(l[1]));
        }
#pragma unroll
        for (int c = 0; c < 3; c++) {
            uint32_t high[2][4], low[2][4];
            split(u.x, high[0][0], low[0][0]), split(u.y, high[0][1], low[0][1]);
            split(v.x, high[0][2], low[0][2]), split(v.y, high[0][3], low[0][3]);
            split(u.z, high[1][0], low[1][0]), split(u.w, high[1][1], low[1][1]);
            split(v.z, high[1][2], low[1][2]), split(v.w, high[1][3], low[1][3]);
            if (c < 2) {
                u = load_shared(from + 128 * (c + 1));
                v = load_shared(from + 4 * 384 + 128 * (c + 1));
            }
#pragma unroll
            for (int i = 0; i < NT; i++)
#pragma unroll
                for (int h = 0; h < 2; h++)
                    multiply_tf32(sum[3 * h + c][i], low[h], q[i].x, q[i].y);
#pragma unroll
            for (int i = 0; i < NT; i++)
#pragma unroll
                for (int h = 0; h < 2; h++)
                    multiply_tf32(sum[3 * h + c][i], high[h], q[i].z, q[i].w);
#pragma unroll
            for (int i = 0; i < NT; i++)
#pragma unroll
                for (int h = 0; h < 2; h++)
                    multiply_tf32(sum[3 * h + c][i], high[h], q[i].x, q[i].y);
        }
    }
}

// Transforms and writes the warp's columns: `out` is its first one at its tile, `columns` of them
// exist, and `limit` floats of each. frames_s is [8 NT][12].
template <class S, Kind KIND, bool VECTORS, bool DISPLACEMENT>
__device__ __forceinline__ void write_columns(const float (&sum)[6][S::NT][4], const float4 (&rest)[3],
                                              float *out, int64_t pitch, int columns, int limit,
                                              const float *poses_s, float *stage)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const bool whole = columns >= 8 * S::NT && limit == MODAL_TILE_FLOATS;
    float *to_lane[VECTORS ? 3 : 1] = {out + lane};
    if (VECTORS)
#pragma unroll
        for (int j = 0; j < 3; j++)
            to_lane[VECTORS ? j : 0] = out + (32 * j + lane) / 24 * pitch + (32 * j + lane) % 24 * 4;
#pragma unroll
    for (int i = 0; i < S::NT; i++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int c = 8 * i + 2 * t + half;
            float4 pose[3];
            if (KIND != SUM)
#pragma unroll
                for (int j = 0; j < 3; j++)
                    pose[j] = reinterpret_cast<const float4 *>(poses_s)[3 * c + j];
            float o[12];
#pragma unroll
            for (int v = 0; v < 4; v++) {
                const int h = v / 2, f = v % 2 * 2 + half;
                const float u[3] = {sum[3 * h][i][f], sum[3 * h + 1][i][f], sum[3 * h + 2][i][f]};
                const float at_rest[3] = {component(rest[0], v), component(rest[1], v),
                                          component(rest[2], v)};
                float x[3], d[3];
                transform<DISPLACEMENT ? DEFORM_WITH_DISPLACEMENT : KIND>(pose, at_rest, u, x, d);
#pragma unroll
                for (int j = 0; j < 3; j++) o[3 * v + j] = DISPLACEMENT ? d[j] : x[j];
            }
            float4 *to = reinterpret_cast<float4 *>(stage + (2 * t + half) * STAGE_PITCH) + 3 * g;
            to[0] = make_float4(o[0], o[1], o[2], o[3]);
            to[1] = make_float4(o[4], o[5], o[6], o[7]);
            to[2] = make_float4(o[8], o[9], o[10], o[11]);
        }
        __syncwarp();
        if (VECTORS && whole) { // 96 vectors of 16 bytes, three a lane, are four columns
            float4 v[2][3];
#pragma unroll
            for (int k = 0; k < 2; k++)
#pragma unroll
                for (int j = 0; j < 3; j++) {
                    const int c = (32 * j + lane) / 24, piece = (32 * j + lane) % 24;
                    v[k][j] = *reinterpret_cast<const float4 *>(stage + (4 * k + c) * STAGE_PITCH +
                                                                4 * piece);
                }
#pragma unroll
            for (int k = 0; k < 2; k++)
#pragma unroll
                for (int j = 0; j < 3; j++) {
                    float *&to = to_lane[VECTORS ? j : 0];
                    __stcs(reinterpret_cast<float4 *>(to), v[k][j]);
                    to += 4 * pitch;
                }
        } else if (whole) {
            float v[8][3];
#pragma unroll
            for (int c = 0; c < 8; c++)
#pragma unroll
                for (int j = 0; j < 3; j++) v[c][j] = stage[c * STAGE_PITCH + 32 * j + lane];
#pragma unroll
            for (int c = 0; c < 8; c++, to_lane[0] += pitch)
#pragma unroll
                for (int j = 0; j < 3; j++) __stcs(to_lane[0] + 32 * j, v[c][j]);
        } else {
#pragma unroll 1
            for (int c = 0; c < 8 && 8 * i + c < columns; c++)
#pragma unroll 1
                for (int at = lane; at < limit; at += 32)
                    __stcs(out + (8 * i + c) * pitch + at, stage[c * STAGE_PITCH + at]);
        }
        __syncwarp();
    }
}

// Bytes of one stage of the ring.
template <class S>
__host__ __device__ constexpr uint32_t tensor_stage(int modes)
{
    return S::TILES * (modes + 1) * 384 + (S::STREAM ? S::COLUMNS * (modes + 4) * 4 : 0);
}

template <class S, Kind KIND, bool VECTORS>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS)
    tensor(const Product p, const TensorPlan plan)
{
    extern __shared__ float4 shared[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wn = warp % S::WN, wm = warp / S::WN;
    const int r8 = (p.n_modes + 7) / 8 * 8, modes = plan.chunk_modes;
    const uint32_t tile_bytes = (modes + 1) * 384, stage_bytes = tensor_stage<S>(modes);
    float4 *b_s = shared;
    float *poses_s = &shared[S::STREAM ? 0 : r8 / 8 * (S::COLUMNS * 4)].x;
    float *ring_s = poses_s + S::COLUMNS * 12;
    float *stage = ring_s + RING_STAGES * stage_bytes / 4 + warp * 8 * STAGE_PITCH;
    const uint32_t ring = shared_address(ring_s);
    const int g = lane / 4, t = lane % 4;
    const uint32_t lane_at = wm * tile_bytes + t * 384 + (g ^ (2 * t)) * 16;

    TensorItem item(plan), ahead = item;
    int chunk_ahead = 0, slot_ahead = 0, slot = 0;
    const auto copy_next = [&] {
        if (ahead.left > 0)
            copy_chunk<S, KIND>(p, ring + slot_ahead * stage_bytes, ahead, chunk_ahead * modes, modes);
        copy_async_commit();
        if (++slot_ahead == RING_STAGES) slot_ahead = 0;
        if (++chunk_ahead == plan.n_chunks) chunk_ahead = 0, ahead.next(plan);
    };
#pragma unroll 1
    for (int i = 0; i < RING_STAGES - 1; i++) copy_next();
    int32_t group = -1;
#pragma unroll 1
    for (; item.left > 0; item.next(plan)) {
        if (group != item.group) {
            __syncthreads(); // nobody uses the last columns any more
            group = item.group;
            load_tensor_columns<S, KIND>(p, (int64_t)group * S::COLUMNS, b_s, poses_s);
        }
        float sum[6][S::NT][4] = {};
        uint32_t b = shared_address(b_s + wn * S::NT * 32 + lane), at = 0;
#pragma unroll 1
        for (int left = r8; left > 0; left -= modes) {
            copy_async_wait<RING_STAGES - 2>();
            __syncthreads(); // this chunk is there for all, and all are done with the one before
            copy_next();
            at = slot * stage_bytes;
            if (S::STREAM)
                b = ring + at + S::TILES * tile_bytes + (wn * S::NT * 8 + g) * (modes + 4) * 4 + t * 4;
            multiply<S>(sum, ring + at + lane_at, b, min(modes, left), (modes + 4) * 4);
            b += modes * (S::COLUMNS * 8);
            if (++slot == RING_STAGES) slot = 0;
        }
        const int64_t pitch = p.n_vertices * 3, tile = (int64_t)item.row * S::TILES + wm;
        const int64_t column = (int64_t)group * S::COLUMNS + wn * S::NT * 8;
        const int columns = (int)min(p.n_columns - column, (int64_t)S::NT * 8);
        const int limit = (int)min(pitch - tile * MODAL_TILE_FLOATS, (int64_t)MODAL_TILE_FLOATS); // <= 0: no such tile
        float4 rest[3] = {};
        if (KIND != SUM)
#pragma unroll
            for (int j = 0; j < 3; j++)
                rest[j] = load_shared(ring + at + (wm + 1) * tile_bytes - 384 + j * 128 + g * 16);
        write_columns<S, KIND, VECTORS, false>(sum, rest, p.positions + column * pitch + tile * MODAL_TILE_FLOATS,
                                               pitch, columns, limit,
                                               poses_s + wn * S::NT * MODAL_TILE_FLOATS, stage);
        if (KIND == DEFORM_WITH_DISPLACEMENT)
            write_columns<S, KIND, VECTORS, true>(sum, rest,
                                                  p.displacement + column * pitch + tile * MODAL_TILE_FLOATS, pitch,
                                                  columns, limit, poses_s + wn * S::NT * MODAL_TILE_FLOATS, stage);
    }
}

// Bytes of shared memory of a block.
template <class S>
size_t tensor_bytes(int n_modes, int chunk_modes)
{
    return sizeof(float) * ((S::STREAM ? 0 : (size_t)(n_modes + 7) / 8 * S::COLUMNS * 16) +
                            S::COLUMNS * 12 + S::WARPS * 8 * STAGE_PITCH) +
           RING_STAGES * tensor_stage<S>(chunk_modes);
}

// What each of `blocks` blocks on a multiprocessor may have.
inline size_t tensor_room(const Machine &machine, int blocks) // 1 KB a block is CUDA's
{
    return (size_t)machine.shared / blocks - 1024;
}
template <class S>
bool tensor_fits(const Product &p, const Machine &machine, int blocks)
{
    return tensor_bytes<S>(p.n_modes, RING_MODES) <= tensor_room(machine, blocks);
}

template <class S, Kind KIND>
modal_status launch_tensor_shape(const Product &p, const Machine &machine, cudaStream_t stream, modal_error *err)
{
    int blocks = S::BLOCKS;
    while (blocks > 1 && !tensor_fits<S>(p, machine, blocks)) blocks--;
    TensorPlan plan = {};
    plan.chunk_modes = RING_MODES;
    if (p.n_modes > RING_MODES && tensor_bytes<S>(p.n_modes, 2 * RING_MODES) <= tensor_room(machine, blocks))
        plan.chunk_modes = 2 * RING_MODES;
    plan.n_chunks = (p.n_modes + plan.chunk_modes - 1) / plan.chunk_modes;
    const int64_t n_rows = (p.n_tiles + S::TILES - 1) / S::TILES;
    const int64_t n_groups = (p.n_columns + S::COLUMNS - 1) / S::COLUMNS;
    if (p.n_tiles > INT32_MAX - 4096 || n_groups > INT32_MAX - 1024)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "CUDA: %lld vertices in %lld columns are too many",
                               (long long)p.n_vertices, (long long)p.n_columns);
    plan.n_items = n_rows * n_groups;
    int64_t grid = machine.n_multiprocessors * blocks;
    if (grid > plan.n_items) grid = plan.n_items;
    if (grid > n_groups) grid -= grid % n_groups; // a block keeps its columns
    plan.n_groups = (int32_t)n_groups;
    plan.step_rows = (int32_t)(grid / n_groups);
    plan.step_groups = (int32_t)(grid % n_groups);
    const size_t size = tensor_bytes<S>(p.n_modes, plan.chunk_modes);
    const auto kernel = vectors(p) ? tensor<S, KIND, true> : tensor<S, KIND, false>;
    const cudaError_t code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)size);
    if (code != cudaSuccess) return modal_cuda_status(code, "tile product, shared memory", err);
    kernel<<<(unsigned)grid, S::THREADS, size, stream>>>(p, plan);
    return modal_cuda_launched("tile product, tensor cores", err);
}

} // namespace modal_cuda

#endif
