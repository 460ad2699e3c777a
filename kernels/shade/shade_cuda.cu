// SPDX-License-Identifier: Apache-2.0
// A thread a pixel, a warp 8 x 4 of them: neighbours see the same triangles, whose corners are then in the cache. Registers for eight
// blocks a multiprocessor: with more of them a pixel the time is 1.14 times as long, with fewer 1.2.
#include "kernels/cuda_check.cuh"
#include "kernels/shade/shade_math.h"

namespace {

template <int SAMPLES, int HAS> __global__ void __launch_bounds__(128, HAS ? 4 : 8) shade(const modal_shade_task task, int first, int end, int left, int right)
{
    const int x = blockIdx.x * 16 + threadIdx.x % 8 + threadIdx.x / 64 * 8, y = first + blockIdx.y * 8 + threadIdx.x / 8 % 8;
    const bool inside = x >= left && x < right && y < end;
    const int64_t pixel = (int64_t)y * task.width + x;
    float limited[3], full[3];
    uint32_t counts[MODAL_SHADE_SOURCES] = {};
    if (inside) {
        const modal_raster_view view = *task.view;
        shade_pixel(&task, &view, pixel, SAMPLES, HAS, limited, full, counts);
    }
    if constexpr (HAS & SHADE_SOLIDS)
        for (int k = 0; task.sources && k < MODAL_SHADE_SOURCES; k++) { // whole numbers: in any order the same
            const unsigned sum = __reduce_add_sync(~0u, counts[k]);
            if (threadIdx.x % 32 == 0 && sum) atomicAdd(reinterpret_cast<unsigned long long *>(task.sources + k), (unsigned long long)sum);
        }
    if (!inside) return;
    if (task.picture)
        reinterpret_cast<uchar4 *>(task.picture)[pixel] =
            make_uchar4(shade_srgb(limited[0]), shade_srgb(limited[1]), shade_srgb(limited[2]), 255);
    if (task.deep)
        reinterpret_cast<ushort4 *>(task.deep)[pixel] =
            make_ushort4(shade_deep(limited[0]), shade_deep(limited[1]), shade_deep(limited[2]), 65535);
}

// By itself, so that pictures without it keep their registers.
__global__ void __launch_bounds__(128) motion(const modal_shade_task task, int first, int end, int left, int right)
{
    const int x = blockIdx.x * 16 + threadIdx.x % 8 + threadIdx.x / 64 * 8, y = first + blockIdx.y * 8 + threadIdx.x / 8 % 8;
    if (x < left || x >= right || y >= end) return;
    shade_motion(&task, task.view, task.view_before, (int64_t)y * task.width + x, task.samples);
}

template <int SAMPLES> void launch(const modal_shade_task &task, dim3 blocks, const int of[4], cudaStream_t in)
{
    const int has = shade_has(&task);
    if (has == 0) shade<SAMPLES, 0><<<blocks, 128, 0, in>>>(task, of[0], of[1], of[2], of[3]);
    if (has == SHADE_IMAGES) shade<SAMPLES, SHADE_IMAGES><<<blocks, 128, 0, in>>>(task, of[0], of[1], of[2], of[3]);
    constexpr int SOLIDS = SHADE_IMAGES | SHADE_SOLIDS;
    if (has & SHADE_SOLIDS && has & SHADE_LAYERS) shade<SAMPLES, SOLIDS | SHADE_LAYERS><<<blocks, 128, 0, in>>>(task, of[0], of[1], of[2], of[3]);
    else if (has & SHADE_SOLIDS) shade<SAMPLES, SOLIDS><<<blocks, 128, 0, in>>>(task, of[0], of[1], of[2], of[3]);
    else if (has & SHADE_LAYERS) shade<SAMPLES, SHADE_IMAGES | SHADE_LAYERS><<<blocks, 128, 0, in>>>(task, of[0], of[1], of[2], of[3]);
}

} // namespace

extern "C" modal_status modal_shade_cuda(const modal_shade_task *task, modal_stream *stream, modal_error *err)
{
    int32_t of[4]; // rows, columns
    shade_rows(task, &of[0], &of[1]);
    shade_columns(task, &of[2], &of[3]);
    const dim3 blocks((task->width + 15) / 16, (of[1] - of[0] + 7) / 8);
    const cudaStream_t in = (cudaStream_t)stream;
    if (task->samples == 1) launch<1>(*task, blocks, of, in);
    if (task->samples == 4) launch<4>(*task, blocks, of, in);
    if (task->samples == 8) launch<8>(*task, blocks, of, in);
    if (task->motion) motion<<<blocks, 128, 0, in>>>(*task, of[0], of[1], of[2], of[3]);
    return modal_cuda_launched("shade", err);
}
