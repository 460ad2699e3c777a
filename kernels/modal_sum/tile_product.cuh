// SPDX-License-Identifier: Apache-2.0
// u = U q, or x = R (xbar + U q) + p, on CUDA: what modal_sum and deform share, and the choice of the
// kernel. Two kernels; kernels/VERSIONS.md has the measurements behind the limits.
//
// direct (tile_direct.cuh): few columns, or very many modes. Bound by reading U once.
// tensor (tile_tensor.cuh): many columns. Bound by writing the columns; the multiply-adds run on the
//   tensor cores with both factors split into two TF32 numbers.
//
// The two sum in different orders, so the choice looks at the number of modes and at the number of
// columns of the caller's whole job, never at how the job is cut into calls.
#ifndef MODAL_KERNELS_TILE_PRODUCT_CUH
#define MODAL_KERNELS_TILE_PRODUCT_CUH

#include <cstdint>

#include "kernels/modal_sum/modal_sum.h"

namespace modal_cuda {

// The arrays of modal_deform_task; without frames (modal_sum) positions gets u itself.
struct Product {
    int64_t n_vertices, n_tiles, n_columns;
    int32_t n_modes;
    const float *__restrict__ modal_matrix;
    const float *__restrict__ rest_tiles;
    const float *__restrict__ q;
    const float *__restrict__ frames;
    float *__restrict__ positions;
    float *__restrict__ displacement;
};

enum Kind { SUM, DEFORM, DEFORM_WITH_DISPLACEMENT };

// x = R (rest + u) + p and d = R u of one vertex; t is T, row by row. Both kernels transform with it.
template <Kind KIND>
__device__ __forceinline__ void transform(const float4 (&t)[3], const float (&rest)[3],
                                          const float (&u)[3], float *x, float *d)
{
#pragma unroll
    for (int i = 0; i < 3; i++) {
        if (KIND == SUM) {
            x[i] = u[i];
            continue;
        }
        x[i] = fmaf(t[i].x, rest[0] + u[0], t[i].w);
        x[i] = fmaf(t[i].y, rest[1] + u[1], x[i]);
        x[i] = fmaf(t[i].z, rest[2] + u[2], x[i]);
        if (KIND == DEFORM_WITH_DISPLACEMENT)
            d[i] = fmaf(t[i].z, u[2], fmaf(t[i].y, u[1], t[i].x * u[0]));
    }
}

} // namespace modal_cuda

#include "kernels/modal_sum/tile_direct.cuh"
#include "kernels/modal_sum/tile_tensor.cuh"

namespace modal_cuda {

// total_columns: of the whole job, at least p.n_columns.
template <Kind KIND>
modal_status launch_product(const Product &p, int64_t total_columns, modal_stream *queue,
                            modal_error *err)
{
    const cudaStream_t stream = (cudaStream_t)queue;
    if (p.n_vertices <= 0 || p.n_columns <= 0) return MODAL_OK;
    if (modal_sum_splits(p.n_modes, p.n_columns, total_columns))
        return launch_tensor<KIND>(p, stream, err);
    return launch_direct<KIND>(p, stream, err);
}

} // namespace modal_cuda

#endif
