// SPDX-License-Identifier: Apache-2.0
// A thread a node: neighbouring threads read neighbouring children.
#include "kernels/cuda_check.cuh"
#include "kernels/octree_mipmap/octree_mipmap.h"

namespace {

constexpr int THREADS = 256;

// The byte by eight halvings of the table.
__device__ __forceinline__ unsigned byte_of(const float *limits, float linear)
{
    int value = 0;
#pragma unroll
    for (int step = 128; step > 0; step /= 2) value += linear >= __ldg(limits + value + step) ? step : 0;
    return (unsigned)value;
}

template <bool SAMPLES> __global__ void __launch_bounds__(THREADS) colours(const modal_octree_mipmap_task t)
{
    const int64_t node = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (node >= t.n_nodes) return;
    const int end = __ldg(t.first + node + 1);
    float4 sum = make_float4(0, 0, 0, 0);
    int count = 0;
    for (int64_t i = __ldg(t.first + node); i < end; i++) {
        if constexpr (SAMPLES) {
            const unsigned rgba = __ldg((const unsigned *)t.samples + i);
            const float w = (float)(rgba >> 24) * (1 / 255.0f) + MODAL_OCTREE_CLEAR;
            sum.x += w * __ldg(t.srgb->linear + (rgba & 255));
            sum.y += w * __ldg(t.srgb->linear + (rgba >> 8 & 255));
            sum.z += w * __ldg(t.srgb->linear + (rgba >> 16 & 255));
            sum.w += w;
            count++;
        } else {
            const float *add = t.child_sums + 4 * i;
            sum.x += __ldg(add), sum.y += __ldg(add + 1), sum.z += __ldg(add + 2), sum.w += __ldg(add + 3);
            count += __ldg(t.child_counts + i);
        }
    }
    float *to = t.sums + 4 * node;
    to[0] = sum.x, to[1] = sum.y, to[2] = sum.z, to[3] = sum.w;
    const float alpha = fminf(fmaxf(255 * (sum.w / (float)count - MODAL_OCTREE_CLEAR) + 0.5f, 0.0f), 255.0f);
    const float *limits = t.srgb->limits;
    ((unsigned *)t.means)[node] = byte_of(limits, sum.x / sum.w) | byte_of(limits, sum.y / sum.w) << 8 | byte_of(limits, sum.z / sum.w) << 16 |
                                  (unsigned)alpha << 24;
    t.counts[node] = count;
}

template <int N, bool SAMPLES> __global__ void __launch_bounds__(THREADS) numbers(const modal_octree_mipmap_task t)
{
    constexpr int WIDTH = N == 1 ? 1 : 4;
    const int64_t node = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (node >= t.n_nodes) return;
    const int end = __ldg(t.first + node + 1);
    const float *from = SAMPLES ? (const float *)t.samples : t.child_sums;
    float sum[4] = {0, 0, 0, 0};
    int count = 0;
    for (int64_t i = __ldg(t.first + node); i < end; i++) {
#pragma unroll
        for (int c = 0; c < N; c++) sum[c] += __ldg(from + (SAMPLES ? N : WIDTH) * i + c);
        count += SAMPLES ? 1 : __ldg(t.child_counts + i);
    }
#pragma unroll
    for (int c = 0; c < WIDTH; c++) t.sums[WIDTH * node + c] = sum[c];
#pragma unroll
    for (int c = 0; c < N; c++) ((float *)t.means)[N * node + c] = sum[c] / (float)count;
    t.counts[node] = count;
}

} // namespace

extern "C" modal_status modal_octree_mipmap_cuda(const modal_octree_mipmap_task *t, modal_stream *stream, modal_error *err)
{
    if (t->n_nodes <= 0) return MODAL_OK;
    const unsigned grid = (unsigned)((t->n_nodes + THREADS - 1) / THREADS); // fewer than 2^30 nodes
    const cudaStream_t s = (cudaStream_t)stream;
    if (t->channels == MODAL_OCTREE_RGBA8) {
        if (t->samples) colours<true><<<grid, THREADS, 0, s>>>(*t);
        else colours<false><<<grid, THREADS, 0, s>>>(*t);
    } else if (t->channels == MODAL_OCTREE_FLOAT) {
        if (t->samples) numbers<1, true><<<grid, THREADS, 0, s>>>(*t);
        else numbers<1, false><<<grid, THREADS, 0, s>>>(*t);
    } else {
        if (t->samples) numbers<3, true><<<grid, THREADS, 0, s>>>(*t);
        else numbers<3, false><<<grid, THREADS, 0, s>>>(*t);
    }
    return modal_cuda_launched("octree_mipmap", err);
}
