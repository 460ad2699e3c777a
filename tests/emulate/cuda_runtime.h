// SPDX-License-Identifier: Apache-2.0
// Instead of CUDA's header of this name: its words as far as the kernels of tests/emulate.cmake need them, for a processor that
// goes through their threads one after the other (emulator.cpp). A kernel's .cu files are compiled as C++ with this first.
#ifndef MODAL_TESTS_EMULATE_CUDA_RUNTIME_H
#define MODAL_TESTS_EMULATE_CUDA_RUNTIME_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <functional>
#include <tuple>
#include <type_traits>

#define __device__
#define __global__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
#define __grid_constant__
#define __shared__ static // of launches whose blocks run one after the other; what a launch sizes is emulated.shared

struct emulated_index {
    unsigned x;
};
// What the running thread is, and its block's shared memory.
struct emulated_thread {
    emulated_index thread, block, block_size, grid_size;
    double *shared;
};
extern emulated_thread emulated;
inline emulated_index &threadIdx = emulated.thread, &blockIdx = emulated.block, &blockDim = emulated.block_size,
                      &gridDim = emulated.grid_size;

// All return when every thread has come: of the mask's lanes, whose bits they then have ([32], valid until the next call); of
// the block, with whether any gave x; of the grid.
const uint64_t *emulated_lanes(unsigned mask, uint64_t bits);
int emulated_block(int x);
void emulated_grid();
// Lets others go on: for loops that wait for what another thread writes.
void emulated_poll();
// The shared memory of a block that runs beside this one.
void *emulated_shared_of(unsigned block);

struct alignas(16) double2 {
    double x, y;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(4) uchar4 {
    unsigned char x, y, z, w;
};
struct alignas(8) ushort4 {
    unsigned short x, y, z, w;
};
inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) { return {x, y, z, w}; }
inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fadd_rd(float a, float b) // towards minus infinity
{
    const double exact = (double)a + (double)b;
    const float near = (float)exact;
    return near > exact ? nextafterf(near, -INFINITY) : near;
}
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline double rcbrt(double x) { return 1 / cbrt(x); }
template <class To, class From> To emulated_bits(From x)
{
    To y;
    static_assert(sizeof y == sizeof x, "the same bits");
    memcpy(&y, &x, sizeof y);
    return y;
}
inline unsigned __float_as_uint(float x) { return emulated_bits<unsigned>(x); }
inline float __int_as_float(int x) { return emulated_bits<float>(x); }
inline int __float_as_int(float x) { return emulated_bits<int>(x); }
inline float __uint_as_float(unsigned x) { return emulated_bits<float>(x); }
inline long long __double_as_longlong(double x) { return emulated_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return emulated_bits<double>(x); }
template <class T> T __ldg(const T *p) { return *p; }
template <class A, class B> auto min(A a, B b) { return a < b ? a : b; }
template <class A, class B> auto max(A a, B b) { return a > b ? a : b; }
template <class T> T __ldcs(const T *p) { return *p; }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) // bytes 0 to 3 of a, 4 to 7 of b
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    unsigned picked = 0;
    for (int k = 0; k < 4; k++) picked |= (unsigned)(bytes >> 8 * (selector >> 4 * k & 7) & 255) << 8 * k;
    return picked;
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(unsigned x) { return __builtin_ffs((int)x); }
// A thread goes on until it waits, so each of these is whole.
template <class T> T emulated_exchange(T *p, T x)
{
    const T before = *p;
    *p = x;
    return before;
}
inline int atomicAdd(int *p, int x) { return emulated_exchange(p, *p + x); }
inline int atomicSub(int *p, int x) { return emulated_exchange(p, *p - x); }
inline unsigned atomicAdd(unsigned *p, unsigned x) { return emulated_exchange(p, *p + x); }
inline unsigned long long atomicAdd(unsigned long long *p, unsigned long long x) { return emulated_exchange(p, *p + x); }
inline unsigned long long atomicMax(unsigned long long *p, unsigned long long x) { return emulated_exchange(p, max(*p, x)); }
inline unsigned atomicMax(unsigned *p, unsigned x) { return emulated_exchange(p, max(*p, x)); }
inline unsigned long long atomicMin(unsigned long long *p, unsigned long long x) { return emulated_exchange(p, min(*p, x)); }
inline int atomicExch(int *p, int x) { return emulated_exchange(p, x); }
inline int atomicCAS(int *p, int expected, int x) { return emulated_exchange(p, *p == expected ? x : *p); }
inline void __threadfence() {}

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
template <class T> T __shfl_down_sync(unsigned mask, T x, int d)
{
    const int lane = (int)(threadIdx.x % 32);
    return __shfl_sync(mask, x, lane + d > 31 ? lane : lane + d);
}
template <class T> T __shfl_up_sync(unsigned mask, T x, int d)
{
    const int lane = (int)(threadIdx.x % 32);
    return __shfl_sync(mask, x, lane < d ? lane : lane - d);
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned x)
{
    const uint64_t *all = emulated_lanes(mask, x);
    unsigned sum = 0;
    for (int lane = 0; lane < 32; lane++) sum += mask >> lane & 1 ? (unsigned)all[lane] : 0;
    return sum;
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
enum { EMULATED_SHARED = 233472, EMULATED_SHARED_BLOCK = 232448, EMULATED_MULTIPROCESSORS = 3 }; // bytes

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned n = 1) : x(n), y(1), z(1) {}
};
enum {
    cudaSuccess,
    cudaErrorMemoryAllocation = 2,
    cudaErrorPeerAccessAlreadyEnabled = 704,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDefault = 4,
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6,
};
struct cudaLaunchAttribute {
    int id;
    struct {
        dim3 clusterDim;
        int cooperative, programmaticStreamSerializationAllowed;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

// Runs the threads of a launch; together: all blocks at a time, else one after the other.
void emulated_launch(const std::function<void()> &kernel, unsigned blocks, unsigned threads, size_t bytes, bool together);
// EMULATED_APART: no blocks fit beside one another.
inline bool emulated_apart() { return getenv("EMULATED_APART"); }

inline const char *cudaGetErrorString(cudaError_t) { return "of the emulation"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
template <class K> cudaError_t cudaFuncSetAttribute(K, int attribute, int value)
{
    return attribute == cudaFuncAttributeMaxDynamicSharedMemorySize && value > EMULATED_SHARED_BLOCK;
}
template <class K> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, K, int threads, size_t bytes)
{
    *count = emulated_apart() ? 0 : (int)min((size_t)max(512 / threads, 1), EMULATED_SHARED / (bytes + 1024)); // by 128 registers a thread
    return !emulated_apart() && *count < 1;
}
template <class K> cudaError_t cudaOccupancyMaxActiveClusters(int *count, K, const cudaLaunchConfig_t *)
{
    *count = !emulated_apart();
    return cudaSuccess;
}
template <class... P, class... A> cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), const A &...arguments)
{
    const std::tuple<std::decay_t<P>...> values(static_cast<std::decay_t<P>>(arguments)...);
    bool together = false;
    for (unsigned i = 0; i < config->numAttrs; i++)
        together |= config->attrs[i].id == cudaLaunchAttributeCooperative || config->attrs[i].id == cudaLaunchAttributeClusterDimension;
    emulated_launch([&] { std::apply(kernel, values); }, config->gridDim.x, config->blockDim.x, config->dynamicSmemBytes, together);
    return cudaSuccess;
}
cudaError_t cudaLaunchCooperativeKernel(const void *kernel, unsigned blocks, unsigned threads, void **arguments, size_t bytes,
                                        cudaStream_t stream);
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int, cudaStream_t)
{
    memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows, int,
                                     cudaStream_t)
{
    for (size_t i = 0; i < rows; i++) memcpy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t)
{
    memset(to, value, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}
inline cudaError_t cudaDeviceCanAccessPeer(int *can, int, int)
{
    *can = 1;
    return cudaSuccess;
}
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }

#endif
