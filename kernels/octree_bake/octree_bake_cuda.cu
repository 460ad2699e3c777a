// SPDX-License-Identifier: Apache-2.0
// A warp a triangle; triangles with many texels wait in a queue, and the whole device goes through each. Then a thread a texel: its
// triangle's point, the look-up, and a bit of 32 by a vote.
#include <climits>

#include "kernels/cuda_check.cuh"
#include "kernels/octree_bake/octree_bake.h"
#include "kernels/octree_lookup/octree_lookup.cuh"

namespace {

using namespace modal_octree_device;

constexpr int THREADS = 256, WARPS = THREADS / 32, BLOCKS_AT_ONCE = 4,
              QUEUED = 16384; // texels of a box from which on a triangle waits

__global__ void __launch_bounds__(THREADS) clear(const modal_octree_bake_task t)
{
    const int64_t n = (int64_t)t.width * t.height, first = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    for (int64_t i = first; i < n; i += (int64_t)gridDim.x * THREADS) t.owner[i] = UINT64_MAX;
    if (first == 0) {
        *t.counts = {};
        t.queue[t.n_triangles] = 0;
    }
}

__device__ __forceinline__ void start(const modal_octree_bake_task &t, int64_t i, modal_bake_triangle *triangle)
{
    float uv[6];
#pragma unroll
    for (int k = 0; k < 6; k++) uv[k] = __ldg(t.uv + 6 * i + k);
    modal_bake_start(uv, t.reach, t.width, t.height, triangle);
}

// 1 where the texel overlaps another triangle that came before.
__device__ __forceinline__ unsigned offer(const modal_octree_bake_task &t, const modal_bake_triangle &triangle, int64_t i, int64_t x, int64_t y)
{
    modal_bake_place place;
    if (!modal_bake_find(&triangle, x, y, t.reach, &place)) return 0;
    const unsigned bits = __float_as_uint(place.square);
    const unsigned long long mine = (unsigned long long)bits << 32 | (unsigned long long)i;
    const unsigned long long there = atomicMin((unsigned long long *)t.owner + y * t.width + x, mine);
    return bits == 0 && there >> 32 == 0;
}

__device__ __forceinline__ void add_overlaps(const modal_octree_bake_task &t, unsigned overlapping)
{
    if (overlapping) atomicAdd((unsigned long long *)&t.counts->overlapping, (unsigned long long)overlapping);
}

__global__ void __launch_bounds__(THREADS, BLOCKS_AT_ONCE) offer_small(const modal_octree_bake_task t)
{
    const int lane = threadIdx.x % 32;
    unsigned overlapping = 0;
    for (int64_t i = blockIdx.x * (int64_t)WARPS + threadIdx.x / 32; i < t.n_triangles; i += (int64_t)gridDim.x * WARPS) {
        modal_bake_triangle triangle;
        start(t, i, &triangle);
        const int64_t w = triangle.high[0] - triangle.low[0], h = triangle.high[1] - triangle.low[1];
        if (w <= 0 || h <= 0) continue;
        if (w * h > QUEUED) {
            if (lane == 0) t.queue[atomicAdd(t.queue + t.n_triangles, 1)] = (int32_t)i;
            continue;
        }
        const int row = (int)w, right = 32 % row, down = 32 / row; // 32 texels on
        for (int x = lane % row, y = lane / row; y < (int)h;) {
            overlapping += offer(t, triangle, i, triangle.low[0] + x, triangle.low[1] + y);
            x += right, y += down;
            if (x >= row) x -= row, y++;
        }
    }
    add_overlaps(t, overlapping);
}

__global__ void __launch_bounds__(THREADS) offer_queued(const modal_octree_bake_task t)
{
    unsigned overlapping = 0;
    const int n = t.queue[t.n_triangles];
    for (int q = 0; q < n; q++) {
        const int64_t i = t.queue[q];
        modal_bake_triangle triangle;
        start(t, i, &triangle);
        const unsigned row = (unsigned)(triangle.high[0] - triangle.low[0]), all = row * (unsigned)(triangle.high[1] - triangle.low[1]);
        for (unsigned k = blockIdx.x * THREADS + threadIdx.x; k < all; k += gridDim.x * THREADS)
            overlapping += offer(t, triangle, i, triangle.low[0] + k % row, triangle.low[1] + k / row);
    }
    add_overlaps(t, overlapping);
}

template <modal_octree_channels CHANNELS, bool LEVELS>
__global__ void __launch_bounds__(THREADS, BLOCKS_AT_ONCE)
    look_up_texels(const modal_octree_bake_task t, const __grid_constant__ mip_set set)
{
    const int words = (t.width + 31) / 32, lane = threadIdx.x % 32;
    const int64_t n = (int64_t)words * t.height; // words of 32 texels, a warp each
    unsigned n_covered = 0, outside = 0;
    for (int64_t word = blockIdx.x * (int64_t)WARPS + threadIdx.x / 32; word < n; word += (int64_t)gridDim.x * WARPS) {
        const int64_t y = word / words, x = word % words * 32 + lane, at = y * t.width + x;
        const bool in = x < t.width;
        const uint64_t owner = in ? t.owner[at] : UINT64_MAX;
        const bool covered = owner != UINT64_MAX;
        const unsigned mask = __ballot_sync(~0u, covered);
        if (lane == 0) t.covered[word] = mask;
        bool found = false;
        float v[4];
        if (covered) {
            const int64_t i = (int64_t)(owner & UINT32_MAX);
            modal_bake_triangle triangle;
            modal_bake_place place;
            start(t, i, &triangle);
            modal_bake_find(&triangle, x, y, t.reach, &place);
            const float b = (float)place.weights[0], c = (float)place.weights[1], *p = t.points + 9 * i;
            float q[3];
#pragma unroll
            for (int k = 0; k < 3; k++) {
                const float p0 = __ldg(p + k);
                q[k] = fmaf(c, __ldg(p + 6 + k) - p0, fmaf(b, __ldg(p + 3 + k) - p0, p0));
            }
            if constexpr (LEVELS) found = look_up_level<CHANNELS>(t.grid, set, __ldg(t.levels + i), q[0], q[1], q[2], v);
            else found = look_up<CHANNELS, false>(t.grid, q[0], q[1], q[2], v);
            n_covered++;
            outside += !found;
        }
        if (in) put_value<CHANNELS>(t.values, at, found, v, t.outside, t.outside_rgba8);
    }
    for (int step = 16; step > 0; step /= 2) {
        n_covered += __shfl_down_sync(~0u, n_covered, step);
        outside += __shfl_down_sync(~0u, outside, step);
    }
    if (lane == 0 && n_covered) atomicAdd((unsigned long long *)&t.counts->covered, (unsigned long long)n_covered);
    if (lane == 0 && outside) atomicAdd((unsigned long long *)&t.counts->outside, (unsigned long long)outside);
}

template <modal_octree_channels CHANNELS> void launch(const modal_octree_bake_task *t, unsigned grid, cudaStream_t stream)
{
    if (t->levels) look_up_texels<CHANNELS, true><<<grid, THREADS, 0, stream>>>(*t, mips_of(t->n_mips, t->mips));
    else look_up_texels<CHANNELS, false><<<grid, THREADS, 0, stream>>>(*t, mips_of(0, nullptr));
}

} // namespace

extern "C" modal_status modal_octree_bake_cuda(const modal_octree_bake_task *t, modal_stream *stream, modal_error *err)
{
    constexpr int64_t MOST = 1 << 16; // blocks; sums of a thread's texels fit 32 bits
    const cudaStream_t s = (cudaStream_t)stream;
    const int64_t words = (int64_t)((t->width + 31) / 32) * t->height, texels = (int64_t)t->width * t->height;
    const auto blocks = [](int64_t n, int64_t each) { return (unsigned)(n <= 0 ? 1 : (n + each - 1) / each < MOST ? (n + each - 1) / each : MOST); };
    clear<<<blocks(texels, THREADS), THREADS, 0, s>>>(*t);
    modal_status status = modal_cuda_launched("octree_bake: clear", err);
    if (status != MODAL_OK || texels <= 0) return status;
    offer_small<<<blocks(t->n_triangles, WARPS), THREADS, 0, s>>>(*t);
    status = modal_cuda_launched("octree_bake: triangles", err);
    if (status != MODAL_OK) return status;
    offer_queued<<<1024, THREADS, 0, s>>>(*t);
    status = modal_cuda_launched("octree_bake: large triangles", err);
    if (status != MODAL_OK) return status;
    if (t->grid.channels == MODAL_OCTREE_RGBA8) launch<MODAL_OCTREE_RGBA8>(t, blocks(words, WARPS), s);
    else if (t->grid.channels == MODAL_OCTREE_FLOAT) launch<MODAL_OCTREE_FLOAT>(t, blocks(words, WARPS), s);
    else launch<MODAL_OCTREE_FLOAT3>(t, blocks(words, WARPS), s);
    return modal_cuda_launched("octree_bake", err);
}
