// SPDX-License-Identifier: Apache-2.0
// Back-to-back launches that overlap (programmatic dependent launch), where the device can: from compute
// capability 9.0 on. Elsewhere launches follow one another, and the instructions are not there.
#ifndef MODAL_KERNELS_OVERLAP_CUH
#define MODAL_KERNELS_OVERLAP_CUH

#include "kernels/cuda_check.cuh"
#include "kernels/cuda_machine.h"

namespace modal_cuda {

using Machine = modal_cuda_machine;

// The next launch may begin; what is before the wait must not depend on the launch before.
__device__ __forceinline__ void let_next_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
__device__ __forceinline__ void wait_for_previous()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <class... Parameters, class... Arguments>
modal_status launch_overlapping(const Machine &machine, void (*kernel)(Parameters...), dim3 blocks, int threads,
                                size_t shared_bytes, cudaStream_t stream, const char *what, modal_error *err,
                                const Arguments &...arguments)
{
    cudaLaunchAttribute overlap = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &overlap;
    config.numAttrs = machine.overlaps ? 1 : 0;
    return modal_cuda_status(cudaLaunchKernelEx(&config, kernel, arguments...), what, err);
}

} // namespace modal_cuda

#endif
