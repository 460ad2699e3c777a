// SPDX-License-Identifier: Apache-2.0
// u = U q, or x = R (xbar + U q) + p, on CUDA: what modal_sum and deform share, and the choice of the
// kernel. kernels/VERSIONS.md has the measurements behind the limits.
//
// direct (tile_direct.cuh): few columns, or very many modes. Bound by reading U once.
// tensor (tile_tensor.cuh): many columns. Bound by writing the columns; the multiply-adds run on the
//   tensor cores with both factors split into two TF32 numbers.
// resident (tile_resident.cuh): the same products for few modes, with U in registers.
//
// direct and the others sum in different orders, so that choice looks at the number of modes and at the
// number of columns of the caller's whole job, never at how the job is cut into calls. The others give
// the same bytes.
#ifndef MODAL_KERNELS_TILE_PRODUCT_CUH
#define MODAL_KERNELS_TILE_PRODUCT_CUH

#include <cstdint>

#include "kernels/modal_sum/modal_sum.h"
#include "lib/base/tile.h"

namespace modal_cuda {

// The arrays of modal_deform_task; without frames (modal_sum) positions gets u itself.
struct Product {
    int64_t n_vertices, n_tiles, n_columns;
    int32_t n_modes;
    const float *__restrict__ modal_matrix;
    const float *__restrict__ rest_tiles;
    const float *__restrict__ q;
    const float *__restrict__ poses;
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

// Whether every column begins at a multiple of 16 bytes.
inline bool vectors(const Product &p)
{
    return p.n_vertices % 4 == 0 && (uintptr_t)p.positions % 16 == 0 &&
           (uintptr_t)p.displacement % 16 == 0;
}

} // namespace modal_cuda

#include "kernels/modal_sum/tile_direct.cuh"
#include "kernels/modal_sum/tile_resident.cuh"
#include "kernels/modal_sum/tile_tensor.cuh"

namespace modal_cuda {

// The fastest blocks of kernels/VERSIONS.md; where q does not fit for as many columns, fewer, or q through
// the ring. The choice changes no byte.
template <Kind KIND>
modal_status launch_split(const Product &p, const Machine &m, cudaStream_t stream, modal_error *err)
{
    using Few = TensorShape<1, 4, 1, 4>;
    using Some = TensorShape<4, 4, 1, 3>;
    using Many = TensorShape<4, 2, 2, 2>;
    using Wide = TensorShape<4, 4, 2, 1>;
    using Long = TensorShape<4, 4, 2, 1, true>;
    using Narrow = TensorShape<4, 2, 2, 1, true>;
    using Small = TensorShape<2, 1, 4, 4>;
    const bool lines = p.n_vertices % MODAL_TILE == 0; // columns are whole cache lines: shorter runs will do
    const bool small = p.n_tiles <= 512, many = p.n_columns > 32;
    if (p.n_modes <= RESIDENT_MODES && (small || p.n_columns > 64) &&
        (p.n_tiles > 1 || p.n_columns <= 1024) && p.n_tiles <= INT32_MAX && p.n_columns <= INT32_MAX / 16)
        return launch_resident<KIND>(p, m, stream, err);
    if (many && small && tensor_fits<Small>(p, m, 4)) return launch_tensor_shape<Small, KIND>(p, m, stream, err);
    const bool crowded = many && !small && !tensor_fits<Many>(p, m, 2);
    if (crowded && tensor_fits<Wide>(p, m, 1)) return launch_tensor_shape<Wide, KIND>(p, m, stream, err);
    if (many && (lines || !tensor_fits<Some>(p, m, 2)) && tensor_fits<Many>(p, m, 1))
        return launch_tensor_shape<Many, KIND>(p, m, stream, err);
    if (crowded && tensor_fits<Long>(p, m, 1)) return launch_tensor_shape<Long, KIND>(p, m, stream, err);
    if (p.n_columns > 16 && tensor_fits<Some>(p, m, 1)) return launch_tensor_shape<Some, KIND>(p, m, stream, err);
    if (tensor_fits<Few>(p, m, 1)) return launch_tensor_shape<Few, KIND>(p, m, stream, err);
    return launch_tensor_shape<Narrow, KIND>(p, m, stream, err); // 71 KB, whatever r is: 8.6 and 8.9 have 99
}

// total_columns: of the whole job, at least p.n_columns.
template <Kind KIND>
modal_status launch_product(const Product &p, int64_t total_columns, modal_stream *queue,
                            modal_error *err)
{
    const cudaStream_t stream = (cudaStream_t)queue;
    Machine machine;
    if (p.n_vertices <= 0 || p.n_columns <= 0) return MODAL_OK;
    const modal_status status = modal_cuda_machine_of(&machine, err);
    if (status != MODAL_OK) return status;
    if (modal_sum_splits(p.n_modes, p.n_columns, total_columns))
        return launch_split<KIND>(p, machine, stream, err);
    return launch_direct<KIND>(p, machine, stream, err);
}

} // namespace modal_cuda

#endif
