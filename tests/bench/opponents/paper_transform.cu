// SPDX-License-Identifier: Apache-2.0
// Opponent: x = T (rest + u) of many objects after section 4.4 of B. Wang and J. Barbic, CUDA Deformers
// for Model Reduction, MIG 2020 (equation 9, figure 10): four threads a vertex, one homogeneous
// component each, eight vertices a warp; two 4x4 matrices a warp and its positions go through shared
// memory. Objects begin at multiples of four vertices, so that a warp has two objects at most.
#include "kernels/cuda_check.cuh"
#include "tests/bench/opponents/opponents.h"

namespace {

constexpr int WARPS = 16;

__global__ void __launch_bounds__(WARPS * 32)
    transform(int64_t n_vertices, const int32_t *__restrict__ of_group,
              const float *__restrict__ matrices, const float *__restrict__ rest,
              const float *__restrict__ u, float *__restrict__ x)
{
    __shared__ alignas(128) float matrix_s[WARPS][32];
    __shared__ alignas(128) float position_s[WARPS][32];
    const int I = threadIdx.y, J = threadIdx.x;
    const int64_t first = ((int64_t)blockIdx.x * WARPS + I) * 8, v = first + J / 4;
    const int64_t group = first / 4 + J / 16; // whose matrix this thread loads
    if (group * 4 < n_vertices) matrix_s[I][J] = matrices[(int64_t)of_group[group] * 16 + J % 16];
    if (v < n_vertices) {
        // the fourth of u is not written by the products
        const float moved = J % 4 == 3 ? 0.0f : u[4 * v + J % 4];
        position_s[I][J] = rest[4 * v + J % 4] + moved;
    }
    __syncthreads();
    if (v >= n_vertices) return;
    const float *row = &matrix_s[I][J / 16 * 16 + J % 4 * 4], *p = &position_s[I][J / 4 * 4];
    x[4 * v + J % 4] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3] * p[3];
}

} // namespace

extern "C" modal_status paper_transform(int64_t padded_vertices, const int32_t *of_group,
                                        const float *matrices, const float *rest, const float *u,
                                        float *x, modal_stream *stream, modal_error *err)
{
    const int64_t n_blocks = (padded_vertices + 8 * WARPS - 1) / (8 * WARPS);
    transform<<<(unsigned)n_blocks, dim3(32, WARPS), 0, (cudaStream_t)stream>>>(
        padded_vertices, of_group, matrices, rest, u, x);
    return modal_cuda_launched("paper 4.4", err);
}
