// SPDX-License-Identifier: Apache-2.0
// The tile product for many columns of at most 16 modes: U stays in registers, columns stream past it.
//
// The products, and their order, are those of tile_tensor.cuh, so the bytes are, too. Each of a block's four
// warps splits a tile of U once and keeps the fragments; eight columns are a step. Why it is fast:
//  - a step is 18 or 36 products a warp, the transform, and one barrier: U is never split again, and q and T
//    of a step are asked for two steps ahead;
//  - the four tiles of a column are written by one warp, through shared memory, as one run of 1,536 bytes,
//    in requests that begin on lines wherever the column begins;
//  - the columns of one step of all blocks are neighbours, and all blocks end together.
// NVIDIA H200, 2026-11-21, 10,000 columns of 1,000 vertices, r = 16: 34.7 us with the transform, 30.5 without;
// a memset of as many bytes takes 29.0. More: kernels/VERSIONS.md.
#ifndef MODAL_KERNELS_TILE_RESIDENT_CUH
#define MODAL_KERNELS_TILE_RESIDENT_CUH

#include "kernels/modal_sum/overlap.cuh"
#include "kernels/modal_sum/tensor_core.cuh"
#include "lib/base/tile.h"

namespace modal_cuda {

constexpr int RESIDENT_WARPS = 4, RESIDENT_THREADS = 32 * RESIDENT_WARPS, RESIDENT_MODES = 16;
constexpr int RESIDENT_COLUMNS = 8;               // of a step
constexpr int RESIDENT_RUN = MODAL_TILE_FLOATS * RESIDENT_WARPS; // floats of a column in a block
constexpr int RESIDENT_PITCH = RESIDENT_RUN + 4;  // no two lanes of a store meet in a bank

// A block's shared memory; STEPS x 8 modes.
template <int STEPS>
struct ResidentShared {
    float4 q[2][STEPS][32]; // fragments (q_high of mode t, of mode 4 + t, q_low of both)
    float poses[2][RESIDENT_COLUMNS * 12];
    float stages[2][RESIDENT_COLUMNS * RESIDENT_PITCH];
};
constexpr int resident_blocks(int steps) { return steps == 1 ? 3 : 2; } // on a multiprocessor

struct ResidentPlan {
    int64_t n_items;          // rows of RESIDENT_WARPS tiles x slices
    int32_t n_rows, n_slices; // a slice takes every n_slices-th step
};

__device__ __forceinline__ float load_where(bool there, const float *from)
{
    float v = 0.0f; // volatile: the load stays where it is
    asm volatile("{.reg .pred p; setp.ne.b32 p, %2, 0; @p ld.global.nc.f32 %0, [%1];}"
                 : "+f"(v)
                 : "l"(from), "r"((int)there));
    return v;
}

// A warp writes the first `count` of RESIDENT_RUN floats in vectors of W, every request within lines of
// 128 bytes. W = 4: `to` is a multiple of 16 bytes and count one of 4.
template <int W>
__device__ __forceinline__ void write_run(float *to, const float *run, int count)
{
    const int first = W * ((int)threadIdx.x % 32 - (int)((uintptr_t)to / (4 * W) % (32 / W)));
    to += first, run += first;
#pragma unroll
    for (int j = 0; j < (RESIDENT_RUN / W + 32 / W - 1 + 31) / 32; j++)
        if ((unsigned)(first + 32 * W * j) < (unsigned)count) {
            if (W == 4)
                __stcs(reinterpret_cast<float4 *>(to + 32 * W * j),
                       *reinterpret_cast<const float4 *>(run + 32 * W * j));
            else
                __stcs(to + 32 * W * j, run[32 * W * j]);
        }
}

template <int STEPS, Kind KIND, bool VECTORS>
__global__ void __launch_bounds__(RESIDENT_THREADS, resident_blocks(STEPS))
    resident(const Product p, const ResidentPlan plan)
{
    extern __shared__ float4 shared[];
    auto &s = *reinterpret_cast<ResidentShared<STEPS> *>(shared);
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, g = lane / 4, t = lane % 4;
    const int r = p.n_modes, stride = plan.n_slices * RESIDENT_COLUMNS;
    const int64_t pitch = p.n_vertices * 3;
    let_next_begin();
    wait_for_previous();
    int input = 0, output = 0; // which of the two buffers
#pragma unroll 1
    for (int64_t item = blockIdx.x; item < plan.n_items; item += gridDim.x) {
        const int64_t row = item % plan.n_rows, column = item / plan.n_rows * RESIDENT_COLUMNS;
        const int64_t tile = row * RESIDENT_WARPS + warp;
        const bool exists = tile < p.n_tiles;
        int left = (int)(p.n_columns - column);
        // of a step this thread brings a fragment, two numbers of q, and a number of T; left for it:
        const bool brings_q = warp < STEPS, brings_pose = thread < RESIDENT_COLUMNS * 12;
        const int k = warp * 8 + t, none = INT32_MIN / 2;
        int left_q[2] = {k < r ? left - g : none, k + 4 < r ? left - g : none};
        int left_pose = brings_pose ? left - thread / 12 : none;
        const float *q_from = p.q + (column + g) * r + k, *pose_from = p.poses + column * 12 + thread;
        float q_next[2], pose_next, q_after[2] = {}, pose_after = 0.0f;
        const auto load_columns = [&] { // what was asked for the last time is next
            q_next[0] = q_after[0], q_next[1] = q_after[1], pose_next = pose_after;
            if (brings_q) {
                q_after[0] = load_where(left_q[0] > 0, q_from);
                q_after[1] = load_where(left_q[1] > 0, q_from + 4);
                q_from += (int64_t)stride * r, left_q[0] -= stride, left_q[1] -= stride;
            }
            if (KIND != SUM) {
                pose_after = load_where(left_pose > 0, pose_from);
                pose_from += (int64_t)stride * 12, left_pose -= stride;
            }
        };
        const auto store_columns = [&](int to) {
            if (brings_q) {
                uint32_t high[2], low[2];
                split(q_next[0], high[0], low[0]), split(q_next[1], high[1], low[1]);
                s.q[to][warp][lane] = make_float4(__uint_as_float(high[0]), __uint_as_float(high[1]),
                                                  __uint_as_float(low[0]), __uint_as_float(low[1]));
            }
            if (KIND != SUM && brings_pose) s.poses[to][thread] = pose_next;
        };
        load_columns();
        load_columns();
        uint32_t high[STEPS][3][2][4], low[STEPS][3][2][4];
        const float *from = p.modal_matrix + (tile * r + t) * MODAL_TILE_FLOATS + 4 * g;
#pragma unroll
        for (int m = 0; m < STEPS * 8; m += 4)
#pragma unroll
            for (int c = 0; c < 3; c++) {
                float4 u = {};
                if (exists && m + t < r) u = __ldg(reinterpret_cast<const float4 *>(from + m * MODAL_TILE_FLOATS + c * MODAL_TILE));
#pragma unroll
                for (int v = 0; v < 4; v++)
                    split(component(u, v), high[m / 8][c][v / 2][m / 4 % 2 * 2 + v % 2],
                          low[m / 8][c][v / 2][m / 4 % 2 * 2 + v % 2]);
            }
        float rest[3][4] = {};
        if (KIND != SUM && exists)
#pragma unroll
            for (int c = 0; c < 3; c++)
#pragma unroll
                for (int v = 0; v < 4; v++) rest[c][v] = __ldg(p.rest_tiles + tile * MODAL_TILE_FLOATS + c * MODAL_TILE + 4 * g + v);
        store_columns(input);
        load_columns();
        __syncthreads(); // the first columns are there
        const int count = (int)min(pitch - row * RESIDENT_RUN, (int64_t)RESIDENT_RUN);
        float *to = p.positions + (column + warp) * pitch + row * RESIDENT_RUN;
#pragma unroll 1
        for (; left > 0; left -= stride, to += stride * pitch, input ^= 1) {
            float sum[3][2][4] = {};
#pragma unroll
            for (int step = 0; step < STEPS; step++) {
                const float4 q = s.q[input][step][lane];
#pragma unroll
                for (int product = 0; product < 3; product++)
#pragma unroll
                    for (int c = 0; c < 3; c++)
#pragma unroll
                        for (int h = 0; h < 2; h++)
                            multiply_tf32(sum[c][h], product == 0 ? low[step][c][h] : high[step][c][h],
                                          product == 1 ? q.z : q.x, product == 1 ? q.w : q.y);
            }
#pragma unroll
            for (int displaced = 0; displaced <= (KIND == DEFORM_WITH_DISPLACEMENT); displaced++, output ^= 1) {
                float *const stage = s.stages[output];
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const int c = 2 * t + half;
                    float4 pose[3];
                    if (KIND != SUM)
#pragma unroll
                        for (int j = 0; j < 3; j++)
                            pose[j] = reinterpret_cast<const float4 *>(s.poses[input])[3 * c + j];
                    float o[12];
#pragma unroll
                    for (int v = 0; v < 4; v++) {
                        const int f = v % 2 * 2 + half;
                        const float u[3] = {sum[0][v / 2][f], sum[1][v / 2][f], sum[2][v / 2][f]};
                        const float at_rest[3] = {rest[0][v], rest[1][v], rest[2][v]};
                        float x[3], d[3];
                        transform<KIND>(pose, at_rest, u, x, d);
#pragma unroll
                        for (int j = 0; j < 3; j++) o[3 * v + j] = displaced ? d[j] : x[j];
                    }
                    float4 *at = reinterpret_cast<float4 *>(stage + c * RESIDENT_PITCH + warp * MODAL_TILE_FLOATS) + 3 * g;
#pragma unroll
                    for (int j = 0; j < 3; j++)
                        at[j] = make_float4(o[4 * j], o[4 * j + 1], o[4 * j + 2], o[4 * j + 3]);
                }
                if (!displaced) {
                    store_columns(input ^ 1);
                    load_columns();
                }
                __syncthreads(); // staged, and nobody is at the buffers of the time before any more
                float *out = displaced ? p.displacement + (to - p.positions) : to;
#pragma unroll 1
                for (int c = warp; c < min(left, RESIDENT_COLUMNS); c += RESIDENT_WARPS, out += RESIDENT_WARPS * pitch)
                    write_run<VECTORS ? 4 : 1>(out, stage + c * RESIDENT_PITCH, count);
            }
        }
    }
}

// As many slices as make all blocks end together; beginning one costs about three steps.
inline int64_t resident_slices(int64_t n_rows, int64_t n_steps, int64_t blocks)
{
    int64_t least = INT64_MAX, slices = 1;
    for (int64_t i = 1; i <= n_steps && (i == 1 || n_rows * i <= 2 * blocks); i++) {
        const int64_t time = (n_rows * i + blocks - 1) / blocks * ((n_steps + i - 1) / i + 3);
        if (time < least) least = time, slices = i;
    }
    return slices;
}

template <int STEPS, Kind KIND>
modal_status launch_resident_steps(const Product &p, const Machine &machine, cudaStream_t stream, modal_error *err)
{
    const int64_t blocks = machine.n_multiprocessors * resident_blocks(STEPS);
    ResidentPlan plan = {};
    plan.n_rows = (int32_t)((p.n_tiles + RESIDENT_WARPS - 1) / RESIDENT_WARPS);
    plan.n_slices = (int32_t)resident_slices(
        plan.n_rows, (p.n_columns + RESIDENT_COLUMNS - 1) / RESIDENT_COLUMNS, blocks);
    plan.n_items = (int64_t)plan.n_rows * plan.n_slices;
    // so much shared memory that no more blocks fit: the next launch would begin in the room, and leave
    // some multiprocessors more to do than others
    int bytes = (int)(machine.shared / (resident_blocks(STEPS) + 1));
    if (bytes < (int)sizeof(ResidentShared<STEPS>)) bytes = (int)sizeof(ResidentShared<STEPS>);
    const auto kernel = vectors(p) ? resident<STEPS, KIND, true> : resident<STEPS, KIND, false>;
    const cudaError_t code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (code != cudaSuccess) return modal_cuda_status(code, "tile product, shared memory", err);
    return launch_overlapping(machine, kernel, (unsigned)(plan.n_items < blocks ? plan.n_items : blocks),
                              RESIDENT_THREADS, (size_t)bytes, stream, "tile product, resident", err, p, plan);
}

template <Kind KIND>
modal_status launch_resident(const Product &p, const Machine &machine, cudaStream_t stream, modal_error *err)
{
    return p.n_modes <= 8 ? launch_resident_steps<1, KIND>(p, machine, stream, err)
                          : launch_resident_steps<2, KIND>(p, machine, stream, err);
}

} // namespace modal_cuda

#endif
