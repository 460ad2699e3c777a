// SPDX-License-Identifier: Apache-2.0
// Turning CUDA's errors into statuses.
#ifndef MODAL_KERNELS_CUDA_CHECK_CUH
#define MODAL_KERNELS_CUDA_CHECK_CUH

#include <cuda_runtime.h>

#include "lib/base/status.h"

static inline modal_status modal_cuda_status(cudaError_t code, const char *what, modal_error *err)
{
    if (code == cudaSuccess) return MODAL_OK;
    return modal_error_set(err,
                           code == cudaErrorMemoryAllocation ? MODAL_ERROR_MEMORY
                                                             : MODAL_ERROR_SYSTEM,
                           "CUDA: %s: %s", what, cudaGetErrorString(code));
}

// To be returned after every launch: reports a launch that was refused. Errors inside the kernel
// come with the next wait for its stream.
static inline modal_status modal_cuda_launched(const char *kernel, modal_error *err)
{
    return modal_cuda_status(cudaGetLastError(), kernel, err);
}

#endif
