// SPDX-License-Identifier: Apache-2.0
// A warp's 32 points between registers, one point a lane, and memory, x y z x y z ..., as whole
// lines: through 96 floats of shared memory. Stride 3 meets every bank once.
#ifndef MODAL_KERNELS_TILE_STORE_CUH
#define MODAL_KERNELS_TILE_STORE_CUH

#include <cstdint>

#include "lib/base/tile.h"

namespace modal_cuda {

// Writes min(count, 32) points; all lanes of the warp take part.
__device__ __forceinline__ void store_tile(float *out, int64_t count, float *stage, float x,
                                           float y, float z)
{
    const int lane = threadIdx.x % 32;
    __syncwarp();
    stage[3 * lane] = x;
    stage[3 * lane + 1] = y;
    stage[3 * lane + 2] = z;
    __syncwarp();
    if (count >= 32) {
#pragma unroll
        for (int i = 0; i < 3; i++) out[MODAL_TILE * i + lane] = stage[MODAL_TILE * i + lane];
    } else {
#pragma unroll 1
        for (int i = lane; i < (int)count * 3; i += 32) out[i] = stage[i];
    }
}

// Reads min(count, 32) points; lanes past them get 0.
__device__ __forceinline__ void load_tile(const float *in, int64_t count, float *stage, float &x,
                                          float &y, float &z)
{
    const int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 3; i++)
        stage[MODAL_TILE * i + lane] = MODAL_TILE * i + lane < count * 3 ? in[MODAL_TILE * i + lane] : 0.0f;
    __syncwarp();
    x = stage[3 * lane];
    y = stage[3 * lane + 1];
    z = stage[3 * lane + 2];
}

} // namespace modal_cuda

#endif
