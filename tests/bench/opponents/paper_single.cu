// SPDX-License-Identifier: Apache-2.0
// Opponent: u = U q of one object after section 4.1 of B. Wang and J. Barbic, CUDA Deformers for Model
// Reduction, MIG 2020 (equations 3 to 7, figures 3 and 4; table 1 for other k): blocks of 16 warps,
// q in shared memory at ((i mod k) 32 + floor(i / k)), K products and their sum a thread, the partial
// sums of a row in shared memory, added by the row's first thread; u in groups of four. For K = 1 the
// thread reads one float of U, else K / 4 vectors of four.
#include "kernels/cuda_check.cuh"
#include "tests/bench/opponents/opponents.h"

namespace {

constexpr int WARPS = 16;

template <int K>
__global__ void __launch_bounds__(WARPS * 32)
    product(const paper_layout l, int64_t n_rows, const float *__restrict__ U,
            const float *__restrict__ q, float *__restrict__ u)
{
    __shared__ alignas(128) float q_s[K * 32];
    __shared__ float part[WARPS][32];
    const int I = threadIdx.y, J = threadIdx.x;
    for (int at = I * 32 + J; at < K * 32; at += WARPS * 32) {
        const int i = at % 32 * K + at / 32;
        q_s[at] = i < l.n_modes ? q[i] : 0.0f;
    }
    __syncthreads();
    const int64_t warp = (int64_t)blockIdx.x * WARPS + I;
    const int of_row = J % l.threads_per_row;
    const int64_t row = warp * l.rows_per_warp + J / l.threads_per_row;
    const bool active = J < l.threads_per_row * l.rows_per_warp && row < n_rows;
    float sum = 0.0f;
    if (active) {
        const float *from =
            U + warp * l.warp_floats + J / l.threads_per_row * l.row_floats + of_row * K;
        if (K == 1) {
            sum = from[0] * q_s[of_row];
        } else {
#pragma unroll
            for (int i = 0; i < K; i += 4)
                if (of_row * K + i < l.row_floats) {
                    const float4 a = *reinterpret_cast<const float4 *>(from + i);
                    sum += a.x * q_s[i * 32 + of_row] + a.y * q_s[(i + 1) % K * 32 + of_row] +
                           a.z * q_s[(i + 2) % K * 32 + of_row] +
                           a.w * q_s[(i + 3) % K * 32 + of_row];
                }
        }
    }
    part[I][J] = sum;
    __syncwarp();
    if (active && of_row == 0) {
        float total = 0.0f;
        for (int i = 0; i < l.threads_per_row; i++) total += part[I][J + i];
        const int64_t v = row / 3;
        u[4 * v + (row - 3 * v)] = total;
    }
}

} // namespace

extern "C" modal_status paper_single(const paper_layout *layout, int64_t n_vertices, const float *U,
                                     const float *q, float *u, modal_stream *queue,
                                     modal_error *err)
{
    const int64_t n_rows = 3 * n_vertices;
    const int64_t n_warps = (n_rows + layout->rows_per_warp - 1) / layout->rows_per_warp;
    const unsigned blocks = (unsigned)((n_warps + WARPS - 1) / WARPS);
    const dim3 threads(32, WARPS);
    const cudaStream_t stream = (cudaStream_t)queue;
    switch (layout->k) {
    case 1: product<1><<<blocks, threads, 0, stream>>>(*layout, n_rows, U, q, u); break;
    case 4: product<4><<<blocks, threads, 0, stream>>>(*layout, n_rows, U, q, u); break;
    case 8: product<8><<<blocks, threads, 0, stream>>>(*layout, n_rows, U, q, u); break;
    case 16: product<16><<<blocks, threads, 0, stream>>>(*layout, n_rows, U, q, u); break;
    case 32: product<32><<<blocks, threads, 0, stream>>>(*layout, n_rows, U, q, u); break;
    default: return modal_error_set(err, MODAL_ERROR_USAGE, "paper: k, %d", layout->k);
    }
    return modal_cuda_launched("paper 4.1", err);
}
