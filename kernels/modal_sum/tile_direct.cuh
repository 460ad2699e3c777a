// SPDX-License-Identifier: Apache-2.0
// The tile product for few columns: float32 multiply-adds, U streamed from memory once.
//
// One lane is one vertex, so every load of U is one full 128-byte line. A tile is shared by `split`
// warps, each with a part of the modes: with few tiles this puts all loads of U in flight at once, so
// that the latency is one round trip to memory instead of one for every 8 modes. The first loads are
// issued before q is waited for. The warps' sums are added in ascending order of the modes.
//
// Back-to-back launches overlap (programmatic dependent launch): while the kernel before is draining,
// this one asks for its part of U to be brought to the second-level cache, and waits only then.
#ifndef MODAL_KERNELS_TILE_DIRECT_CUH
#define MODAL_KERNELS_TILE_DIRECT_CUH

#include "kernels/cuda_check.cuh"
#include "kernels/tile_store.cuh"

namespace modal_cuda {

constexpr int DIRECT_WARPS = 8, DIRECT_MODES = 256; // warps a block, modes of q in shared memory

// log2 of the number of warps that share a tile: a function of the sizes of U alone, so that the order
// of a sum depends neither on the number of columns nor on the device.
inline int direct_log_split(int64_t n_tiles, int n_modes)
{
    int log = 0;
    while (log < 3 && n_tiles << (log + 1) <= 16384 && n_modes >= 16 << log) log++;
    return log;
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
            for (int i = 0; i < 3; i++) u[m][i] = __ldcs(from + m * 96 + i * 32);
    } else {
#pragma unroll
        for (int m = 0; m < MODES; m++)
#pragma unroll
            for (int i = 0; i < 3; i++)
                u[m][i] = m < left ? __ldcs(from + m * 96 + i * 32) : 0.0f;
    }
}

template <int C, int MODES, Kind KIND>
__global__ void __launch_bounds__(DIRECT_WARPS * 32, C == 1 ? 4 : 3)
    direct(const Product p, int log_split, bool prefetch)
{
    constexpr bool SINGLE = C < 4; // all columns are in one block of C
    __shared__ alignas(16) float q_s[C * DIRECT_MODES];
    __shared__ alignas(16) float frames_s[C * 12];
    __shared__ float sums_s[DIRECT_WARPS][C * 96];
    __shared__ float stages[DIRECT_WARPS][96];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int split = 1 << log_split, part = warp & (split - 1), r = p.n_modes;
    // column blocks of a tile run side by side: all but the first find U in the L2 cache
    const unsigned column_blocks = SINGLE ? 1 : (unsigned)((p.n_columns + C - 1) / C);
    const int64_t tile = ((int64_t)(blockIdx.x / column_blocks) * DIRECT_WARPS + warp) >> log_split;
    const int64_t first = (int64_t)(blockIdx.x % column_blocks) * C;
    const bool exists = tile < p.n_tiles;
    const float *u_tile = p.modal_matrix + tile * r * 96 + lane;
    asm volatile("griddepcontrol.launch_dependents;");
    if (prefetch && exists) {
        const int share = (r + split - 1) >> log_split, begin = part * share * 3;
        const int end = min(begin + min(share * 3, 96), r * 3); // of its 128-byte lines
        for (int i = begin + lane; i < end; i += 32)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(u_tile - lane + (int64_t)i * 32));
    }
    asm volatile("griddepcontrol.wait;" ::: "memory");
    float sum[C][3] = {}, rest[3] = {};
    if (KIND != SUM && exists)
#pragma unroll
        for (int i = 0; i < 3; i++) rest[i] = __ldg(p.rest_tiles + tile * 96 + i * 32 + lane);
    for (int k0 = 0; k0 < r || k0 == 0; k0 += DIRECT_MODES) {
        const int count = min(DIRECT_MODES, r - k0);
        const int share = (((count + split - 1) >> log_split) + 3) / 4 * 4;
        int k = part * share;
        const int end = exists ? min(k + share, count) : 0;
        const float *from = u_tile + (int64_t)(k0 + k) * 96;
        float u[MODES][3];
        load_modes(u, from, end - k);
        if (k0 > 0) __syncthreads();
        for (int i = threadIdx.x; i < C * DIRECT_MODES; i += DIRECT_WARPS * 32) {
            const int c = i / DIRECT_MODES, m = i % DIRECT_MODES;
            q_s[i] = m < count && first + c < p.n_columns
                         ? __ldg(p.q + (first + c) * r + k0 + m)
                         : 0.0f;
        }
        if (KIND != SUM && k0 == 0)
            for (int i = threadIdx.x; i < C * 12; i += DIRECT_WARPS * 32)
                frames_s[i] =
                    first + i / 12 < p.n_columns ? __ldg(p.frames + first * 12 + i) : 0.0f;
        __syncthreads();
        while (k < end) {
            accumulate<C, MODES>(sum, u, q_s + k);
            k += MODES;
            from += MODES * 96;
            if (k < end) load_modes(u, from, end - k);
        }
    }
    if (split > 1) {
#pragma unroll
        for (int c = 0; c < C; c++)
#pragma unroll
            for (int i = 0; i < 3; i++) sums_s[warp][c * 96 + i * 32 + lane] = sum[c][i];
        __syncthreads();
    }
    if (!exists) return;
    const int64_t count = p.n_vertices - tile * 32;
#pragma unroll
    for (int c = 0; c < C; c++) {
        if (first + c >= p.n_columns || (c & (split - 1)) != part) continue;
        float total[3] = {sum[c][0], sum[c][1], sum[c][2]}, x[3], d[3];
        if (split > 1) {
#pragma unroll
            for (int i = 0; i < 3; i++) total[i] = 0.0f;
            for (int j = 0; j < split; j++)
#pragma unroll
                for (int i = 0; i < 3; i++)
                    total[i] += sums_s[warp - part + j][c * 96 + i * 32 + lane];
        }
        const float4 *rows = reinterpret_cast<const float4 *>(frames_s + 12 * c);
        const float4 t[3] = {rows[0], rows[1], rows[2]};
        transform<KIND>(t, rest, total, x, d);
        const int64_t out = ((first + c) * p.n_vertices + tile * 32) * 3;
        store_tile(p.positions + out, count, stages[warp], x[0], x[1], x[2]);
        if (KIND == DEFORM_WITH_DISPLACEMENT)
            store_tile(p.displacement + out, count, stages[warp], d[0], d[1], d[2]);
    }
}

template <int C, int MODES, Kind KIND>
modal_status launch_direct_columns(const Product &p, cudaStream_t stream, modal_error *err)
{
    const int log_split = direct_log_split(p.n_tiles, p.n_modes);
    const int64_t tile_blocks = ((p.n_tiles << log_split) + DIRECT_WARPS - 1) / DIRECT_WARPS;
    const int64_t blocks = tile_blocks * ((p.n_columns + C - 1) / C);
    if (blocks > INT32_MAX)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "CUDA: %lld vertices are too many",
                               (long long)p.n_vertices);
    const bool prefetch = tile_blocks <= 1024; // what runs at once
    cudaLaunchAttribute overlap = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(DIRECT_WARPS * 32);
    config.stream = stream;
    config.attrs = &overlap;
    config.numAttrs = 1;
    return modal_cuda_status(cudaLaunchKernelEx(&config, direct<C, MODES, KIND>, p, log_split,
                                                prefetch),
                             "tile product, direct", err);
}

template <Kind KIND>
modal_status launch_direct(const Product &p, cudaStream_t stream, modal_error *err)
{
    if (p.n_columns == 1) return launch_direct_columns<1, 8, KIND>(p, stream, err);
    if (p.n_columns == 2) return launch_direct_columns<2, 8, KIND>(p, stream, err);
    return launch_direct_columns<4, 4, KIND>(p, stream, err);
}

} // namespace modal_cuda

#endif
