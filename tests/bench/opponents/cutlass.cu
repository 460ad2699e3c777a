// SPDX-License-Identifier: Apache-2.0
// Opponent: CUTLASS's product in split TF32, three products of tensor cores for one of float32 ("3xTF32"), as our modal_sum
// does it for many columns. Its headers are not a part of this project: MODAL_CUTLASS=FOLDER at configuration.
#include <cutlass/cutlass.h>
#include <cutlass/gemm/device/gemm.h>

#include "kernels/cuda_check.cuh"
#include "tests/bench/opponents/opponents.h"

namespace {

using columns = cutlass::layout::ColumnMajor;

// The tiles of CUTLASS's own example of this product, narrower for few columns. Its rows are ours transposed, so tiles of vertices
// would be the grid's y, which ends at 65,535: eight of them share one.
template <int N, int ALIGNMENT>
using product = cutlass::gemm::device::Gemm<
    float, columns, float, columns, float, columns, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<128, N, 16>, cutlass::gemm::GemmShape<64, N / 2, 16>, cutlass::gemm::GemmShape<16, 8, 8>,
    cutlass::epilogue::thread::LinearCombination<float, ALIGNMENT, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>, 3, ALIGNMENT, ALIGNMENT, false,
    cutlass::arch::OpMultiplyAddFastF32>;

template <int N, int ALIGNMENT>
modal_status run(int rows, int r, int n_columns, const float *U, const float *q, float *u, modal_stream *stream, modal_error *err)
{
    product<N, ALIGNMENT> gemm;
    const typename product<N, ALIGNMENT>::Arguments arguments({rows, n_columns, r}, {U, rows}, {q, r}, {u, rows}, {u, rows},
                                                              {1.0f, 0.0f});
    modal_status status = modal_cuda_launched("before CUTLASS", err); /* or CUTLASS would call it its own */
    if (status != MODAL_OK) return status;
    const cutlass::Status code = gemm(arguments, nullptr, (cudaStream_t)stream);
    if (code != cutlass::Status::kSuccess)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "CUTLASS: %s, %s", cutlass::cutlassGetStatusString(code),
                               cudaGetErrorString(cudaPeekAtLastError()));
    return modal_cuda_launched("CUTLASS", err);
}

} // namespace

extern "C" modal_status cutlass_sgemm(int64_t rows, int r, int64_t n_columns, const float *U, const float *q, float *u,
                                      modal_stream *stream, modal_error *err)
{
    if (rows % 4 != 0 || r % 4 != 0) return run<64, 1>((int)rows, r, (int)n_columns, U, q, u, stream, err);
    if (n_columns <= 32) return run<32, 4>((int)rows, r, (int)n_columns, U, q, u, stream, err);
    return run<64, 4>((int)rows, r, (int)n_columns, U, q, u, stream, err);
}
