// SPDX-License-Identifier: Apache-2.0
// A thread a point; a record is one sector of 32 bytes, read as two vectors.
#include "kernels/cuda_check.cuh"
#include "kernels/octree_lookup/octree_lookup.h"

namespace {

constexpr int THREADS = 256;

__device__ __forceinline__ int place_of(unsigned x, unsigned y, unsigned z, int shift)
{
    const unsigned a = x >> shift & 3, b = y >> shift & 3, c = z >> shift & 3;
    return (int)((a & 1) | (b & 1) << 1 | (c & 1) << 2 | (a & 2) << 2 | (b & 2) << 3 | (c & 2) << 4);
}

__device__ __forceinline__ int64_t find(const modal_octree_grid &g, unsigned x, unsigned y, unsigned z)
{
    const int down = 2 * g.n_levels;
    uint32_t at = __ldg(g.top + ((((uint64_t)(z >> down) << g.top_bits) + (y >> down)) << g.top_bits) + (x >> down));
    for (int level = g.n_levels - 1; level >= 0; level--) {
        if (at == UINT32_MAX) return -1;
        const uint4 m = __ldg((const uint4 *)(g.masks + at));
        const uint64_t there = m.x | (uint64_t)m.y << 32, bit = (uint64_t)1 << place_of(x, y, z, 2 * level);
        if (!(there & bit)) return -1;
        at = m.z + (uint32_t)__popcll((unsigned long long)(there & (bit - 1)));
    }
    return at;
}

template <bool NEAREST> __device__ __forceinline__ float interpolate(const float v[8], float x, float y, float z)
{
    if constexpr (NEAREST) { // no array indexed by a number of the thread
        const float a = x >= 0.5f ? v[1] : v[0], b = x >= 0.5f ? v[3] : v[2], c = x >= 0.5f ? v[5] : v[4], d = x >= 0.5f ? v[7] : v[6];
        const float e = y >= 0.5f ? b : a, f = y >= 0.5f ? d : c;
        return z >= 0.5f ? f : e;
    } else {
        float a[4];
#pragma unroll
        for (int k = 0; k < 4; k++) a[k] = fmaf(z, v[k + 4] - v[k], v[k]);
        const float b = fmaf(y, a[2] - a[0], a[0]), c = fmaf(y, a[3] - a[1], a[1]);
        return fmaf(x, c - b, b);
    }
}

__device__ __forceinline__ void read_record(const void *records, int64_t row, uint32_t v[8])
{
    const uint4 p = __ldg((const uint4 *)records + 2 * row), q = __ldg((const uint4 *)records + 2 * row + 1);
    v[0] = p.x, v[1] = p.y, v[2] = p.z, v[3] = p.w, v[4] = q.x, v[5] = q.y, v[6] = q.z, v[7] = q.w;
}

template <modal_octree_channels CHANNELS, bool NEAREST> __global__ void __launch_bounds__(THREADS) look_up(const modal_octree_lookup_task task)
{
    constexpr int WIDTH = CHANNELS == MODAL_OCTREE_FLOAT3 ? 3 : 1;
    const float side = (float)(1u << task.grid.bits);
    for (int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x; i < task.n_points; i += (int64_t)gridDim.x * THREADS) {
        const float X = __ldg(task.points + 3 * i), Y = __ldg(task.points + 3 * i + 1), Z = __ldg(task.points + 3 * i + 2);
        const bool in = X >= 0 && Y >= 0 && Z >= 0 && X < side && Y < side && Z < side;
        const unsigned x = in ? (unsigned)X : 0, y = in ? (unsigned)Y : 0, z = in ? (unsigned)Z : 0;
        const int64_t record = in ? find(task.grid, x, y, z) : -1;
        const float fx = X - (float)x, fy = Y - (float)y, fz = Z - (float)z;
        if (task.found) task.found[i] = record >= 0;
        uint32_t bits[8];
        float v[8];
        if constexpr (CHANNELS == MODAL_OCTREE_RGBA8) {
            uint32_t packed = task.outside_rgba8;
            if (record >= 0) {
                read_record(task.grid.records, record, bits);
                packed = 0;
#pragma unroll
                for (int c = 0; c < 4; c++) {
#pragma unroll
                    for (int k = 0; k < 8; k++) v[k] = (float)(int)(bits[k] >> 8 * c & 255);
                    packed |= (uint32_t)__float2int_rn(interpolate<NEAREST>(v, fx, fy, fz)) << 8 * c;
                }
            }
            ((uint32_t *)task.values)[i] = packed;
        } else {
#pragma unroll
            for (int c = 0; c < WIDTH; c++) {
                float value = task.outside;
                if (record >= 0) {
                    read_record(task.grid.records, record * WIDTH + c, bits);
#pragma unroll
                    for (int k = 0; k < 8; k++) v[k] = __uint_as_float(bits[k]);
                    value = interpolate<NEAREST>(v, fx, fy, fz);
                }
                ((float *)task.values)[WIDTH * i + c] = value;
            }
        }
    }
}

template <modal_octree_channels CHANNELS> void launch(const modal_octree_lookup_task *task, unsigned grid, cudaStream_t stream)
{
    if (task->filter == MODAL_OCTREE_NEAREST) look_up<CHANNELS, true><<<grid, THREADS, 0, stream>>>(*task);
    else look_up<CHANNELS, false><<<grid, THREADS, 0, stream>>>(*task);
}

} // namespace

extern "C" modal_status modal_octree_lookup_cuda(const modal_octree_lookup_task *task, modal_stream *stream, modal_error *err)
{
    if (task->n_points <= 0) return MODAL_OK;
    const int64_t blocks = (task->n_points + THREADS - 1) / THREADS;
    const unsigned grid = (unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX);
    if (task->grid.channels == MODAL_OCTREE_RGBA8) launch<MODAL_OCTREE_RGBA8>(task, grid, (cudaStream_t)stream);
    else if (task->grid.channels == MODAL_OCTREE_FLOAT) launch<MODAL_OCTREE_FLOAT>(task, grid, (cudaStream_t)stream);
    else launch<MODAL_OCTREE_FLOAT3>(task, grid, (cudaStream_t)stream);
    return modal_cuda_launched("octree_lookup", err);
}
