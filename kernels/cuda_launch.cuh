// SPDX-License-Identifier: Apache-2.0
#ifndef MODAL_KERNELS_CUDA_LAUNCH_CUH
#define MODAL_KERNELS_CUDA_LAUNCH_CUH

#include "kernels/cuda_check.cuh"

namespace modal_cuda {

// kernel<<<blocks, threads, 0, stream>>>(arguments...) in words that C++ has, too (tests/emulate). Errors: as modal_cuda_launched.
template <class... Parameters, class... Arguments>
modal_status launch(void (*kernel)(Parameters...), int64_t blocks, int threads, cudaStream_t stream, const char *what, modal_error *err,
                    const Arguments &...arguments)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3((unsigned)threads);
    config.stream = stream;
    return modal_cuda_status(cudaLaunchKernelEx(&config, kernel, arguments...), what, err);
}

} // namespace modal_cuda

#endif
