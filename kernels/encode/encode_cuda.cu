// SPDX-License-Identifier: Apache-2.0
// Two kernels: the ranges of the columns, in PARTS parts each; then the numbers. There a thread makes a word of 32 bits
// of a column: a warp writes whole lines, which the bus to pinned main memory wants as much as the memory does. A
// number whose bits lie in two words is computed twice; at 8 to 16 bits a value that is a third more, of a few operations
// in float64. Every one of these is rounded by itself: the bytes are the contract. Measured on one H200: 708 to 872 GB/s of
// input into device memory, 88 to 142 into pinned main memory, 18 to 11 bits a value (kernels/VERSIONS.md).
#include <cfloat>

#include "kernels/cuda_check.cuh"
#include "kernels/encode/encode.h"

namespace {

constexpr int THREADS = 256, PARTS = MODAL_ENCODE_SCRATCH / 3;
constexpr int MOST_BLOCKS = 2048; // of the second kernel: 16 a multiprocessor, more only wait for memory

struct range {
    float low, high, odd; // odd: not 0 where a value is not finite
};

__device__ __forceinline__ range join(const range &a, const range &b)
{
    return {fminf(a.low, b.low), fmaxf(a.high, b.high), fmaxf(a.odd, b.odd)};
}

// Of the 32 lanes, in all of them.
__device__ __forceinline__ range join_lanes(range mine)
{
    for (int step = 16; step > 0; step /= 2)
        mine = join(mine, {__shfl_xor_sync(~0u, mine.low, step), __shfl_xor_sync(~0u, mine.high, step),
                           __shfl_xor_sync(~0u, mine.odd, step)});
    return mine;
}

// Part p of column c, block c PARTS + p.
__global__ void __launch_bounds__(THREADS) find_ranges(const modal_encode_task task)
{
    __shared__ range warps[THREADS / 32];
    for (int64_t block = blockIdx.x; block < task.n_columns * PARTS; block += gridDim.x) {
        const float *x = task.in + block / PARTS * task.n_values;
        range mine = {FLT_MAX, -FLT_MAX, 0.0f};
        for (int64_t i = block % PARTS * THREADS + threadIdx.x; i < task.n_values; i += (int64_t)PARTS * THREADS) {
            const float value = __ldg(x + i);
            mine = join(mine, {value, value, fabsf(value) <= FLT_MAX ? 0.0f : 1.0f});
        }
        mine = join_lanes(mine);
        __syncthreads(); // of the block before
        if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int i = 1; i < THREADS / 32; i++) mine = join(mine, warps[i]);
            float *part = task.scratch + block * 3;
            part[0] = mine.low, part[1] = mine.high, part[2] = mine.odd;
        }
    }
}

// What the numbers of a column are made of.
struct plan {
    double least, scale;
    float low, most;
    int bits; // -1: not all finite
};

__device__ plan plan_column(const float *parts, double scale)
{
    range all = {FLT_MAX, -FLT_MAX, 0.0f};
    for (int i = threadIdx.x; i < PARTS; i += 32) all = join(all, {parts[3 * i], parts[3 * i + 1], parts[3 * i + 2]});
    all = join_lanes(all);
    const float low = __fadd_rn(all.low, 0.0f); // -0 becomes 0
    plan p = {(double)low, scale, low, fmaxf(fabsf(low), fabsf(all.high)), 0};
    const double largest = __dadd_rn(__dmul_rn(__dsub_rn((double)all.high, p.least), scale), 0.5);
    while (p.bits < 32 && largest >= (double)(1ull << p.bits)) p.bits++;
    if (!(largest < 2147483647.0)) p.bits = 32;
    if (all.odd != 0.0f) p.bits = -1;
    return p;
}

__device__ __forceinline__ uint32_t number(const plan &p, float x)
{
    return (uint32_t)__double2int_rz(__dadd_rn(__dmul_rn(__dsub_rn((double)x, p.least), p.scale), 0.5));
}

// Bits 32 w .. 32 w + 31 of a column's numbers, zeros after the last one; the first bit is the highest.
__device__ __forceinline__ uint32_t word_of(const plan &p, const float *x, int64_t n, int64_t w)
{
    // Exact: the quotient is at least 1/31 from the next whole number. A division of 64-bit integers takes four times as long.
    int64_t i = __double2ll_rd(__ddiv_rn((double)(32 * w), (double)p.bits));
    const int past = (int)(32 * w - i * p.bits); // bits of the first number that are in the word before
    if (i >= n) return 0;
    uint64_t held = number(p, __ldg(x + i)) & ((1u << (p.bits - past)) - 1);
    int n_held = p.bits - past;
    for (i++; n_held < 32; i++) {
        held = held << p.bits | (i < n ? number(p, __ldg(x + i)) : 0u);
        n_held += p.bits;
    }
    return (uint32_t)(held >> (n_held - 32));
}

// Blocks b, b + n_blocks, ... of a column; block c n_blocks + b.
__global__ void __launch_bounds__(THREADS) pack(const modal_encode_task task, int n_blocks)
{
    __shared__ plan shared;
    const int64_t column = blockIdx.x / n_blocks, n = task.n_values;
    const float *x = task.in + column * n;
    unsigned char *head = task.out + column * task.stride + MODAL_ENCODE_FIRST;
    uint32_t *words = reinterpret_cast<uint32_t *>(head + MODAL_ENCODED_HEAD);
    if (threadIdx.x < 32) {
        const plan mine = plan_column(task.scratch + column * MODAL_ENCODE_SCRATCH, task.scale);
        if (threadIdx.x == 0) shared = mine;
    }
    __syncthreads();
    const plan p = shared;
    const bool first = blockIdx.x % n_blocks == 0 && threadIdx.x == 0;
    if (p.bits < 0) {
        if (first) task.encoded[column] = {0, nanf("")};
        return;
    }
    const int64_t n_bytes = n * p.bits / 8 + 1, n_words = (n_bytes + 3) / 4;
    if (first) {
        const uint32_t low = __float_as_uint(p.low);
        for (int i = 0; i < MODAL_ENCODED_HEAD; i++)
            head[i] = i == 0 ? p.bits : i == 4 ? 8 : i >= 5 && i < 9 ? low >> 8 * (i - 5) & 255 : 0;
        task.encoded[column] = {MODAL_ENCODED_HEAD + n_bytes, p.most};
    }
    for (int64_t w = blockIdx.x % n_blocks * (int64_t)THREADS + threadIdx.x; w < n_words; w += (int64_t)n_blocks * THREADS) {
        if (p.bits == 32)
            words[w] = w < n ? __float_as_uint(__ldg(x + w)) : 0u;
        else
            words[w] = p.bits == 0 ? 0u : __byte_perm(word_of(p, x, n, w), 0, 0x0123);
    }
}

} // namespace

extern "C" modal_status modal_encode_cuda(const modal_encode_task *task, modal_stream *stream, modal_error *err)
{
    if (task->n_columns <= 0) return MODAL_OK;
    const int64_t parts = task->n_columns * PARTS;
    find_ranges<<<(unsigned)(parts < INT32_MAX ? parts : INT32_MAX), THREADS, 0, (cudaStream_t)stream>>>(*task);
    modal_status status = modal_cuda_launched("encode", err);
    if (status != MODAL_OK) return status;
    const int64_t most = (task->n_values + THREADS - 1) / THREADS, share = MOST_BLOCKS / task->n_columns;
    const int64_t blocks = share < 1 ? 1 : share < most ? share : most;
    pack<<<(unsigned)(task->n_columns * blocks), THREADS, 0, (cudaStream_t)stream>>>(*task, (int)blocks);
    return modal_cuda_launched("encode", err);
}
