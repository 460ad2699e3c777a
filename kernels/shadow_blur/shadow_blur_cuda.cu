// SPDX-License-Identifier: Apache-2.0
// Both sums in one kernel: a block reads a tile of the map and a border of `radius`, sums along x into shared memory, then down. So nothing
// goes through the device's memory between them. Up to a radius of 4 the loops are unrolled.
#include "kernels/cuda_check.cuh"
#include "kernels/shadow_blur/shadow_blur.h"

namespace {

constexpr int TILE = 32, ROWS = 8, MOST = TILE + 2 * MODAL_SHADOW_RADIUS;

// RADIUS: the task's, or -1: any.
template <int RADIUS> __global__ void __launch_bounds__(TILE * ROWS) blur(const modal_shadow_blur_task task)
{
    extern __shared__ float shared[];
    const int n = task.size, r = RADIUS < 0 ? task.radius : RADIUS, side = TILE + 2 * r;
    float *depths = shared;                                             // [side, side]
    float2 *rows = reinterpret_cast<float2 *>(shared + ((side * side + 1) & ~1)); // [side, TILE]
    const int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE, lane = threadIdx.x % TILE, first = threadIdx.x / TILE;
    for (int i = threadIdx.x; i < side * side; i += TILE * ROWS) {
        const int x = min(max(x0 + i % side - r, 0), n - 1), y = min(max(y0 + i / side - r, 0), n - 1);
        depths[i] = __ldg(task.depths + (int64_t)y * n + x);
    }
    __syncthreads();
    for (int y = first; y < side; y += ROWS) {
        float2 sum = make_float2(0.0f, 0.0f);
#pragma unroll
        for (int i = 0; i <= 2 * r; i++) {
            const float d = depths[y * side + lane + i];
            sum.x += task.weights[i] * d;
            sum.y += task.weights[i] * (d * d);
        }
        rows[y * TILE + lane] = sum;
    }
    __syncthreads();
    for (int y = first; y < TILE; y += ROWS) {
        if (x0 + lane >= n || y0 + y >= n) continue;
        float2 sum = make_float2(0.0f, 0.0f);
#pragma unroll
        for (int j = 0; j <= 2 * r; j++) {
            const float2 row = rows[(y + j) * TILE + lane];
            sum.x += task.weights[j] * row.x;
            sum.y += task.weights[j] * row.y;
        }
        float *to = task.moments + 2 * ((int64_t)(y0 + y) * n + x0 + lane);
        to[0] = sum.x, to[1] = sum.y;
    }
}

} // namespace

extern "C" modal_status modal_shadow_blur_cuda(const modal_shadow_blur_task *task, modal_stream *stream, modal_error *err)
{
    const int tiles = (task->size + TILE - 1) / TILE, side = TILE + 2 * task->radius;
    const size_t bytes = (size_t)((side * side + 1) / 2 * 2 + 2 * side * TILE) * sizeof(float);
    static_assert((MOST * MOST + 1 + 2 * MOST * TILE) * sizeof(float) <= 48 * 1024, "shared memory");
    static void (*const kernels[])(modal_shadow_blur_task) = {blur<0>, blur<1>, blur<2>, blur<3>, blur<4>};
    (task->radius <= 4 ? kernels[task->radius] : blur<-1>)<<<dim3(tiles, tiles), TILE * ROWS, bytes, (cudaStream_t)stream>>>(*task);
    return modal_cuda_launched("shadow_blur", err);
}
