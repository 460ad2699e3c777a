// SPDX-License-Identifier: Apache-2.0
// A thread has BODIES bodies in registers, so that a source that is read from shared memory serves all of them; tiles of
// sources, as Nyland, Harris and Prins have them. The sources are divided into parts (grid.y), added in order: few bodies
// fill the device, too. A pair takes 12 float instructions and a reciprocal root.
#include "kernels/cuda_check.cuh"
#include "kernels/pair_sum/pair_sum.h"

namespace modal_cuda {

constexpr int PAIR_TILE = 128, PAIR_BODIES = 4, PAIR_UNROLL = 16;

__device__ __forceinline__ float pair_reciprocal_root(float x)
{
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

// part: 0 1 2 of [parts, n, 4], or of [n, 3] where there is one part
template <int TILE, int BODIES, int UNROLL>
__global__ void __launch_bounds__(TILE) pair_sum(const float4 *__restrict__ bodies, float *part, int n, int per, float square,
                                                 int stride)
{
    __shared__ float4 tile[TILE];
    float x[BODIES], y[BODIES], z[BODIES], sx[BODIES], sy[BODIES], sz[BODIES];
    const int first = (int)blockIdx.x * BODIES * TILE + threadIdx.x;
    const int64_t begin = (int64_t)blockIdx.y * per, end = begin + per < n ? begin + per : n;
#pragma unroll
    for (int r = 0; r < BODIES; r++) {
        const float4 own = __ldg(bodies + min(first + r * TILE, n - 1));
        x[r] = own.x, y[r] = own.y, z[r] = own.z, sx[r] = sy[r] = sz[r] = 0.0f;
    }
    for (int64_t at = begin; at < end; at += TILE) {
        // past the end: weight 0, at the place of a body
        float4 source = __ldg(bodies + (at + threadIdx.x < end ? at + threadIdx.x : end - 1));
        if (at + threadIdx.x >= end) source.w = 0.0f;
        __syncthreads();
        tile[threadIdx.x] = source;
        __syncthreads();
#pragma unroll UNROLL
        for (int j = 0; j < TILE; j++) {
            const float4 b = tile[j];
#pragma unroll
            for (int r = 0; r < BODIES; r++) {
                const float dx = b.x - x[r], dy = b.y - y[r], dz = b.z - z[r];
                const float i = pair_reciprocal_root(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, square))));
                const float s = b.w * i * (i * i);
                sx[r] = fmaf(s, dx, sx[r]), sy[r] = fmaf(s, dy, sy[r]), sz[r] = fmaf(s, dz, sz[r]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < BODIES; r++) {
        const int64_t i = first + r * TILE;
        if (i < n) {
            float *to = part + ((int64_t)blockIdx.y * n + i) * stride;
            to[0] = sx[r], to[1] = sy[r], to[2] = sz[r];
        }
    }
}

__global__ void pair_add(const float4 *__restrict__ part, float *sums, int n, int parts)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (int k = 0; k < parts; k++) {
        const float4 p = __ldg(part + (int64_t)k * n + i);
        x += p.x, y += p.y, z += p.z;
    }
    sums[3 * (int64_t)i] = x, sums[3 * (int64_t)i + 1] = y, sums[3 * (int64_t)i + 2] = z;
}

} // namespace modal_cuda

extern "C" modal_status modal_pair_sum_cuda(const modal_pair_sum_task *task, modal_stream *stream, modal_error *err)
{
    using namespace modal_cuda;
    if (task->n_bodies <= 0) return MODAL_OK;
    if (task->n_bodies > INT32_MAX / 4)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "pair_sum: %lld bodies", (long long)task->n_bodies);
    const int n = (int)task->n_bodies, parts = modal_pair_sum_parts(n);
    const int per = ((n + parts - 1) / parts + PAIR_TILE - 1) / PAIR_TILE * PAIR_TILE; // the last parts may be empty
    const int used = (n + per - 1) / per, blocks = (n + PAIR_TILE * PAIR_BODIES - 1) / (PAIR_TILE * PAIR_BODIES);
    const float square = task->softening * task->softening;
    pair_sum<PAIR_TILE, PAIR_BODIES, PAIR_UNROLL><<<dim3((unsigned)blocks, (unsigned)used), PAIR_TILE, 0, (cudaStream_t)stream>>>(
        (const float4 *)task->bodies, used > 1 ? task->work : task->sums, n, per, square, used > 1 ? 4 : 3);
    const modal_status status = modal_cuda_launched("pair_sum", err);
    if (status != MODAL_OK || used == 1) return status;
    pair_add<<<(unsigned)((n + 255) / 256), 256, 0, (cudaStream_t)stream>>>((const float4 *)task->work, task->sums, n, used);
    return modal_cuda_launched("pair_sum", err);
}
