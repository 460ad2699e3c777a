// SPDX-License-Identifier: Apache-2.0
// Instead of CUDA's header of this name: its words as far as kernels of one cooperative launch need them, for a processor that
// goes through their threads one after the other (emulator.cpp). A kernel's .cu files are compiled as C++ with this first.
#ifndef MODAL_TESTS_EMULATE_CUDA_RUNTIME_H
#define MODAL_TESTS_EMULATE_CUDA_RUNTIME_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define __device__
#define __global__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__

struct emulated_index {
    unsigned x;
};
// What the running thread is, and its block's shared memory.
struct emulated_thread {
    emulated_index thread, block, block_size, grid_size;
    double *shared;
};
extern emulated_thread emulated;
#define threadIdx emulated.thread
#define blockIdx emulated.block
#define blockDim emulated.block_size
#define gridDim emulated.grid_size

// All return when every thread has come: of the mask's lanes, whose bits they then have ([32], valid until the next call); of
// the block, with whether any gave x; of the grid.
const uint64_t *emulated_lanes(unsigned mask, uint64_t bits);
int emulated_block(int x);
void emulated_grid();

struct alignas(16) double2 {
    double x, y;
};
template <class T> T __ldg(const T *p) { return *p; }
template <class A, class B> auto min(A a, B b) { return a < b ? a : b; }
template <class A, class B> auto max(A a, B b) { return a > b ? a : b; }
inline int __ffs(unsigned x) { return __builtin_ffs((int)x); }
inline int atomicAdd(int *p, int x)
{
    const int before = *p;
    *p += x;
    return before;
}

inline void __syncthreads() { emulated_block(0); }
inline int __syncthreads_or(int x) { return emulated_block(x); }
inline void __syncwarp(unsigned mask = ~0u) { emulated_lanes(mask, 0); }
template <class T> T __shfl_sync(unsigned mask, T x, int lane)
{
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof x);
    memcpy(&x, &emulated_lanes(mask, bits)[lane & 31], sizeof x);
    return x;
}
template <class T> T __shfl_xor_sync(unsigned mask, T x, int d) { return __shfl_sync(mask, x, (int)(threadIdx.x % 32) ^ d); }
template <class T> T __shfl_up_sync(unsigned mask, T x, int d)
{
    const int lane = (int)(threadIdx.x % 32);
    return __shfl_sync(mask, x, lane < d ? lane : lane - d);
}
inline unsigned __ballot_sync(unsigned mask, int x)
{
    const uint64_t *all = emulated_lanes(mask, x != 0);
    unsigned found = 0;
    for (int lane = 0; lane < 32; lane++) found |= (mask >> lane & 1 && all[lane] ? 1u : 0u) << lane;
    return found;
}

// ---- the host's part ----

typedef int cudaError_t;
typedef void *cudaStream_t;
enum { cudaSuccess, cudaErrorMemoryAllocation = 2, cudaMemcpyDeviceToHost = 2, cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum { EMULATED_SHARED = 233472, EMULATED_SHARED_BLOCK = 232448, EMULATED_MULTIPROCESSORS = 3 }; // bytes

inline const char *cudaGetErrorString(cudaError_t) { return "of the emulation"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaFuncSetAttribute(const void *, int, int bytes) { return bytes > EMULATED_SHARED_BLOCK; }
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *, int threads, size_t bytes)
{
    *count = (int)min((size_t)max(512 / threads, 1), EMULATED_SHARED / (bytes + 1024)); // by 128 registers a thread
    return *count < 1;
}
cudaError_t cudaLaunchCooperativeKernel(const void *kernel, unsigned blocks, unsigned threads, void **arguments, size_t bytes,
                                        cudaStream_t stream);
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int, cudaStream_t)
{
    memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

#endif
