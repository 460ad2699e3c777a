// SPDX-License-Identifier: Apache-2.0
// A block a tile of 64 x 64 texels, a thread 4 x 4 of them in registers, levels from 4 texels a side up in shared memory. A tile with something
// covered needs nothing from outside: one pass reads texels and writes the rows that have gaps. The levels above the tiles, 4096 sums
// of an image of 4096^2, are made by one block; then tiles without anything are filled.
#include "kernels/cuda_check.cuh"
#include "kernels/push_pull/push_pull.h"

namespace {

constexpr int TILE = MODAL_PUSH_PULL_TILE, THREADS = 256, TOP_THREADS = 1024;

struct small_sum {
    unsigned n, c[4];
};

// Sums over at most 4 x 4 texels: 12 bits of each number, two of them in a word.
struct packed_sum {
    unsigned n, even, odd; // numbers 0 and 2, 1 and 3, in halves
};

__device__ __forceinline__ void add_texel(packed_sum &s, unsigned texel)
{
    s.n++;
    s.even += texel & 0x00ff00ff;
    s.odd += texel >> 8 & 0x00ff00ff;
}

__device__ __forceinline__ void add_sum(packed_sum &s, const packed_sum &a)
{
    s.n += a.n, s.even += a.even, s.odd += a.odd;
}

__device__ __forceinline__ small_sum unpack(const packed_sum &s)
{
    return {s.n, {s.even & 0xffff, s.odd & 0xffff, s.even >> 16, s.odd >> 16}};
}

// Of 1 to 4 texels: (2 sum + n) / (2 n) without a division. What is divided is 2044 at most, and 65536 / 6 rounded up
// is exact up to 32767.
__device__ __forceinline__ unsigned mean_of_four(const packed_sum &s)
{
    const unsigned inverse = s.n == 1 ? 32768 : s.n == 2 ? 16384 : s.n == 3 ? 10923 : 8192;
    const unsigned even = 2 * s.even + s.n * 0x10001, odd = 2 * s.odd + s.n * 0x10001;
    return (even & 0xffff) * inverse >> 16 | ((odd & 0xffff) * inverse >> 16) << 8 |
           ((even >> 16) * inverse >> 16) << 16 | ((odd >> 16) * inverse >> 16) << 24;
}

__device__ __forceinline__ void add_sum(small_sum &s, const small_sum &a)
{
    s.n += a.n;
#pragma unroll
    for (int c = 0; c < 4; c++) s.c[c] += a.c[c];
}

__device__ __forceinline__ unsigned mean_of(const small_sum &s)
{
    unsigned mean = 0;
#pragma unroll
    for (int c = 0; c < 4; c++) mean |= ((2 * s.c[c] + s.n) / (2 * s.n)) << 8 * c;
    return mean;
}

// Four texels of a row; beyond the image 0. VECTOR: rows begin at multiples of 16 bytes and have whole fours.
template <bool VECTOR> __device__ __forceinline__ void read_four(const modal_push_pull_task &t, int x, int y, unsigned v[4])
{
    const unsigned *row = t.texels + (int64_t)y * t.width;
    if (VECTOR && x < t.width) {
        const uint4 q = *(const uint4 *)(row + x);
        v[0] = q.x, v[1] = q.y, v[2] = q.z, v[3] = q.w;
    } else {
        for (int k = 0; k < 4; k++) v[k] = x + k < t.width ? row[x + k] : 0;
    }
}

template <bool VECTOR> __global__ void __launch_bounds__(THREADS, 4) fill_tiles(const modal_push_pull_task t)
{
    __shared__ small_sum s[256 + 64 + 16 + 4 + 1]; // 4, 8, 16, 32, 64 texels a side
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, x0 = blockIdx.x * TILE + 4 * tx, y0 = blockIdx.y * TILE + 4 * ty;
    unsigned v[4][4], bits[4];
    packed_sum quarter[4] = {}, whole = {};
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const bool in = y0 + r < t.height && x0 < t.width;
        bits[r] = in ? __ldg(t.covered + (int64_t)(y0 + r) * ((t.width + 31) / 32) + x0 / 32) >> x0 % 32 & 15 : 0;
        v[r][0] = v[r][1] = v[r][2] = v[r][3] = 0;
        if (bits[r] || (VECTOR && in)) read_four<VECTOR>(t, x0, y0 + r, v[r]);
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (bits[r] >> k & 1) add_texel(quarter[r / 2 * 2 + k / 2], v[r][k]);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) add_sum(whole, quarter[k]);
    s[threadIdx.x] = unpack(whole);
    __syncthreads();
    for (int from = 0, to = 256, side = 8; side > 0; from = to, to += side * side, side /= 2) {
        if (threadIdx.x < side * side) {
            const int at = from + threadIdx.x / side * 2 * (2 * side) + threadIdx.x % side * 2;
            small_sum up = s[at];
            add_sum(up, s[at + 1]), add_sum(up, s[at + 2 * side]), add_sum(up, s[at + 2 * side + 1]);
            s[to + threadIdx.x] = up;
        }
        __syncthreads();
    }
    const small_sum &all = s[340];
    if (threadIdx.x == 0) {
        modal_push_pull_sum *to = t.scratch + (int64_t)blockIdx.y * gridDim.x + blockIdx.x;
        to->n = all.n;
        for (int c = 0; c < 4; c++) to->sum[c] = all.c[c];
    }
    if (all.n == 0) return;
    if ((bits[0] & bits[1] & bits[2] & bits[3]) == 15 || x0 >= t.width) return;
    unsigned above = 0; // what a gap gets in whose 2 x 2 texels nothing is covered
    if (quarter[0].n == 0 || quarter[1].n == 0 || quarter[2].n == 0 || quarter[3].n == 0) {
        int at = threadIdx.x, side = 16, first = 0, x = tx, y = ty;
        while (s[at].n == 0) {
            first += side * side, side /= 2, x /= 2, y /= 2;
            at = first + y * side + x;
        }
        above = mean_of(s[at]);
    }
    unsigned mean[4];
#pragma unroll
    for (int k = 0; k < 4; k++) mean[k] = quarter[k].n ? mean_of_four(quarter[k]) : above;
#pragma unroll
    for (int r = 0; r < 4; r++) {
        if (y0 + r >= t.height || x0 >= t.width || bits[r] == 15) continue;
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (!(bits[r] >> k & 1)) v[r][k] = mean[r / 2 * 2 + k / 2];
        unsigned *row = t.texels + (int64_t)(y0 + r) * t.width + x0;
        if (VECTOR) {
            *(uint4 *)row = make_uint4(v[r][0], v[r][1], v[r][2], v[r][3]);
        } else {
            for (int k = 0; k < 4 && x0 + k < t.width; k++)
                if (!(bits[r] >> k & 1)) row[k] = v[r][k];
        }
    }
}

__global__ void __launch_bounds__(TOP_THREADS) sum_top(modal_push_pull_sum *from, int w, int h)
{
    while (w * h > 1) {
        modal_push_pull_sum *to = from + w * h;
        const int tw = (w + 1) / 2, th = (h + 1) / 2;
        for (int i = threadIdx.x; i < tw * th; i += TOP_THREADS) {
            modal_push_pull_sum up = {};
            for (int k = 0; k < 4; k++) {
                const int x = 2 * (i % tw) + k % 2, y = 2 * (i / tw) + k / 2;
                if (x >= w || y >= h) continue;
                const modal_push_pull_sum a = from[y * w + x];
                up.n += a.n;
                for (int c = 0; c < 4; c++) up.sum[c] += a.sum[c];
            }
            to[i] = up;
        }
        __syncthreads();
        from = to, w = tw, h = th;
    }
}

template <bool VECTOR> __global__ void __launch_bounds__(THREADS) fill_empty(const modal_push_pull_task t)
{
    const modal_push_pull_sum *level = t.scratch;
    int x = blockIdx.x, y = blockIdx.y, w = gridDim.x, h = gridDim.y;
    if (level[(int64_t)y * w + x].n) return;
    while (level[(int64_t)y * w + x].n == 0 && w * h > 1) {
        level += (int64_t)w * h;
        x /= 2, y /= 2, w = (w + 1) / 2, h = (h + 1) / 2;
    }
    const modal_push_pull_sum s = level[(int64_t)y * w + x];
    if (s.n == 0) return;
    unsigned mean = 0;
    for (int c = 0; c < 4; c++) mean |= (unsigned)((2 * s.sum[c] + s.n) / (2 * s.n)) << 8 * c;
    const int x0 = blockIdx.x * TILE + threadIdx.x % 16 * 4;
    for (int r = threadIdx.x / 16; r < TILE; r += 16) {
        const int y0 = blockIdx.y * TILE + r;
        if (y0 >= t.height || x0 >= t.width) return;
        unsigned *row = t.texels + (int64_t)y0 * t.width + x0;
        if (VECTOR) *(uint4 *)row = make_uint4(mean, mean, mean, mean);
        else
            for (int k = 0; k < 4 && x0 + k < t.width; k++) row[k] = mean;
    }
}

} // namespace

extern "C" modal_status modal_push_pull_cuda(const modal_push_pull_task *t, modal_stream *stream, modal_error *err)
{
    if (t->width <= 0 || t->height <= 0) return MODAL_OK;
    const dim3 grid((unsigned)((t->width + TILE - 1) / TILE), (unsigned)((t->height + TILE - 1) / TILE));
    const cudaStream_t s = (cudaStream_t)stream;
    const bool vector = t->width % 4 == 0 && (uintptr_t)t->texels % 16 == 0;
    if (vector) fill_tiles<true><<<grid, THREADS, 0, s>>>(*t);
    else fill_tiles<false><<<grid, THREADS, 0, s>>>(*t);
    modal_status status = modal_cuda_launched("push_pull", err);
    if (status != MODAL_OK || grid.x * grid.y == 1) return status;
    sum_top<<<1, TOP_THREADS, 0, s>>>(t->scratch, (int)grid.x, (int)grid.y);
    status = modal_cuda_launched("push_pull: sums", err);
    if (status != MODAL_OK) return status;
    if (vector) fill_empty<true><<<grid, THREADS, 0, s>>>(*t);
    else fill_empty<false><<<grid, THREADS, 0, s>>>(*t);
    return modal_cuda_launched("push_pull: empty tiles", err);
}
