// SPDX-License-Identifier: Apache-2.0
// A thread a pixel, a warp 8 x 4 of them: neighbours see the same triangles, whose corners are then in the cache. Registers for eight
// blocks a multiprocessor: with more of them a pixel the time is 1.14 times as long, with fewer 1.2.
#include "kernels/cuda_check.cuh"
#include "kernels/shade/shade_math.h"

namespace {

template <int SAMPLES> __global__ void __launch_bounds__(128, 8) shade(const modal_shade_task task)
{
    const int x = blockIdx.x * 16 + threadIdx.x % 8 + threadIdx.x / 64 * 8, y = blockIdx.y * 8 + threadIdx.x / 8 % 8;
    if (x >= task.width || y >= task.height) return;
    const modal_raster_view view = *task.view;
    const int64_t pixel = (int64_t)y * task.width + x;
    float limited[3], full[3];
    shade_pixel(&task, &view, pixel, SAMPLES, limited, full);
    if (task.picture)
        reinterpret_cast<uchar4 *>(task.picture)[pixel] =
            make_uchar4(shade_srgb(limited[0]), shade_srgb(limited[1]), shade_srgb(limited[2]), 255);
}

} // namespace

extern "C" modal_status modal_shade_cuda(const modal_shade_task *task, modal_stream *stream, modal_error *err)
{
    const dim3 blocks((task->width + 15) / 16, (task->height + 7) / 8);
    const cudaStream_t in = (cudaStream_t)stream;
    if (task->samples == 1) shade<1><<<blocks, 128, 0, in>>>(*task);
    if (task->samples == 4) shade<4><<<blocks, 128, 0, in>>>(*task);
    if (task->samples == 8) shade<8><<<blocks, 128, 0, in>>>(*task);
    return modal_cuda_launched("shade", err);
}
