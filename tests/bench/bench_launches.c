/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the kernels that modalbench launches: the linker leads the runtime's functions that launch through these (--wrap,
 * tools/modalbench/CMakeLists.txt). Launches of graphs are not counted; the library has none. */
#include <cuda_runtime_api.h>

#include "tests/bench/bench_cuda.h"

static int64_t count;

int64_t bench_cuda_launched(void) { return __atomic_load_n(&count, __ATOMIC_RELAXED); }

static void one_more(void) { __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED); }

#define LAUNCH(name, parameters, arguments)    \
    cudaError_t __real_##name parameters;      \
    cudaError_t __wrap_##name parameters;      \
    cudaError_t __wrap_##name parameters       \
    {                                          \
        one_more();                            \
        return __real_##name arguments;        \
    }
#define KERNEL_PARAMETERS (const void *kernel, struct dim3 grid, struct dim3 block, void **given, size_t shared, cudaStream_t stream)
#define KERNEL_ARGUMENTS (kernel, grid, block, given, shared, stream)

LAUNCH(cudaLaunchKernel, KERNEL_PARAMETERS, KERNEL_ARGUMENTS)
LAUNCH(cudaLaunchCooperativeKernel, KERNEL_PARAMETERS, KERNEL_ARGUMENTS)
LAUNCH(cudaLaunchKernelExC, (const cudaLaunchConfig_t *how, const void *kernel, void **given), (how, kernel, given))
#if CUDART_VERSION >= 13000 /* what nvcc's <<< >>> calls from there on */
LAUNCH(__cudaLaunchKernel, KERNEL_PARAMETERS, KERNEL_ARGUMENTS)
#endif
