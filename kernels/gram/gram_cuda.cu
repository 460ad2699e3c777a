// SPDX-License-Identifier: Apache-2.0
// A block of 256 threads makes a tile of 64 x 64 products, a thread 4 x 4 of them. Slices of 16 rows of
// the two sets of 64 columns go through shared memory, the next slice being loaded into registers while
// this one is multiplied: 16 multiply-adds for 8 values read. Tiles above the diagonal are left out.
// A product is one thread's and its rows come in order: the same bytes in every run.
#include "kernels/cuda_check.cuh"
#include "kernels/gram/gram.h"

namespace {

constexpr int TILE = 64, SLICE = 16, THREADS = 256, PART = 4;
constexpr int LOADS = TILE * SLICE / THREADS; // values a thread and set

// Values of the slice that begins at row `row`; 0 beyond rows and columns.
__device__ void load(const modal_gram_task &task, int64_t column, int64_t row, double values[LOADS])
{
#pragma unroll
    for (int m = 0; m < LOADS; m++) {
        const int at = threadIdx.x + m * THREADS;
        const int64_t c = column + at / SLICE, k = row + at % SLICE;
        values[m] = c < task.n_columns && k < task.n_rows ? __ldg(task.x + c * task.n_rows + k) : 0;
    }
}

__device__ void store(const double values[LOADS], double shared[SLICE][TILE + 1])
{
#pragma unroll
    for (int m = 0; m < LOADS; m++) {
        const int at = threadIdx.x + m * THREADS;
        shared[at % SLICE][at / SLICE] = values[m];
    }
}

__global__ void __launch_bounds__(THREADS) multiply(const modal_gram_task task)
{
    __shared__ double left[SLICE][TILE + 1], right[SLICE][TILE + 1];
    if (blockIdx.x < blockIdx.y) return;
    const int64_t i0 = (int64_t)blockIdx.x * TILE, j0 = (int64_t)blockIdx.y * TILE;
    const int ti = threadIdx.x % (TILE / PART), tj = threadIdx.x / (TILE / PART);
    double sums[PART][PART] = {}, next_left[LOADS], next_right[LOADS];
    load(task, i0, 0, next_left);
    load(task, j0, 0, next_right);
    for (int64_t row = 0; row < task.n_rows; row += SLICE) {
        store(next_left, left);
        store(next_right, right);
        __syncthreads();
        if (row + SLICE < task.n_rows) {
            load(task, i0, row + SLICE, next_left);
            load(task, j0, row + SLICE, next_right);
        }
#pragma unroll
        for (int k = 0; k < SLICE; k++) {
            double a[PART], b[PART];
#pragma unroll
            for (int p = 0; p < PART; p++) {
                a[p] = left[k][ti + p * (TILE / PART)];
                b[p] = right[k][tj + p * (TILE / PART)];
            }
#pragma unroll
            for (int p = 0; p < PART; p++)
#pragma unroll
                for (int q = 0; q < PART; q++) sums[p][q] += a[p] * b[q];
        }
        __syncthreads();
    }
#pragma unroll
    for (int q = 0; q < PART; q++)
#pragma unroll
        for (int p = 0; p < PART; p++) {
            const int64_t i = i0 + ti + p * (TILE / PART), j = j0 + tj + q * (TILE / PART);
            if (i < task.n_columns && j <= i) task.products[j * task.n_columns + i] += sums[p][q];
        }
}

} // namespace

extern "C" modal_status modal_gram_cuda(const modal_gram_task *task, modal_stream *stream,
                                        modal_error *err)
{
    if (task->n_columns <= 0 || task->n_rows <= 0) return MODAL_OK;
    const int64_t side = (task->n_columns + TILE - 1) / TILE;
    if (side > 65535)
        return modal_error_set(err, MODAL_ERROR_USAGE, "gram: %lld columns",
                               (long long)task->n_columns);
    multiply<<<dim3((unsigned)side, (unsigned)side), THREADS, 0, (cudaStream_t)stream>>>(*task);
    return modal_cuda_launched("gram", err);
}
