// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/bench_cuda.h"

#include <cstdlib>
#include <cstring>

#include "kernels/cuda_check.cuh"
#include "kernels/deform/deform.h"

static cudaEvent_t events[2];

extern "C" modal_status bench_cuda_start(modal_stream *stream, modal_error *err)
{
    for (cudaEvent_t &event : events)
        if (!event) {
            const cudaError_t code = cudaEventCreate(&event);
            if (code != cudaSuccess) return modal_cuda_status(code, "event", err);
        }
    return modal_cuda_status(cudaEventRecord(events[0], (cudaStream_t)stream), "event", err);
}

extern "C" modal_status bench_cuda_stop(modal_stream *stream, double *seconds, modal_error *err)
{
    float milliseconds = 0.0f;
    cudaError_t code = cudaEventRecord(events[1], (cudaStream_t)stream);
    if (code == cudaSuccess) code = cudaEventSynchronize(events[1]);
    if (code == cudaSuccess) code = cudaEventElapsedTime(&milliseconds, events[0], events[1]);
    if (code == cudaSuccess) code = cudaGetLastError();
    *seconds = 1e-3 * (double)milliseconds;
    return modal_cuda_status(code, "timing", err);
}

static __global__ void fill(float *to, int64_t count, uint64_t seed)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x) {
        uint64_t z = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1342543de82ef95u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z ^= z >> 27;
        to[i] = (float)(z >> 40) * 0x1p-23f - 1.0f;
    }
}

extern "C" modal_status bench_cuda_fill(float *to, int64_t count, uint64_t seed,
                                        modal_stream *stream, modal_error *err)
{
    fill<<<4096, 256, 0, (cudaStream_t)stream>>>(to, count, seed);
    return modal_cuda_launched("fill", err);
}

static __global__ void read(float *to, const float4 *from, int64_t count)
{
    constexpr int AHEAD = 4;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count; i += AHEAD * step) {
        float4 x[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) x[k] = i + k * step < count ? __ldcs(from + i + k * step) : float4{};
#pragma unroll
        for (int k = 0; k < AHEAD; k++) sum += (x[k].x + x[k].y) + (x[k].z + x[k].w);
    }
    if (sum == 1.2345678e30f) *to = sum; // numbers in [-1, 1)
}

extern "C" modal_status bench_cuda_read(float *to, const float *from, int64_t count, modal_stream *stream, modal_error *err)
{
    read<<<132 * 16, 512, 0, (cudaStream_t)stream>>>(to, reinterpret_cast<const float4 *>(from), count / 4);
    return modal_cuda_launched("read", err);
}

static __global__ void __launch_bounds__(512) move(float4 *to, const float4 *from, int64_t count)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x)
        to[i] = from[i];
}

extern "C" modal_status bench_cuda_move(void *to, const void *from, int64_t count, int blocks, modal_stream *stream,
                                        modal_error *err)
{
    move<<<(unsigned)blocks, 512, 0, (cudaStream_t)stream>>>(static_cast<float4 *>(to), static_cast<const float4 *>(from),
                                                             count / 4);
    return modal_cuda_launched("move", err);
}

extern "C" modal_status bench_cuda_host_new(void **memory, int64_t bytes, bench_cuda_memory kind, modal_error *err)
{
    *memory = nullptr;
    if (kind == BENCH_CUDA_PAGEABLE)
        *memory = malloc((size_t)bytes);
    else if (cudaHostAlloc(memory, (size_t)bytes, kind == BENCH_CUDA_WRITE_COMBINED ? cudaHostAllocWriteCombined : 0) !=
             cudaSuccess)
        cudaGetLastError();
    if (!*memory) return modal_error_set(err, MODAL_ERROR_MEMORY, "bus: no main memory of this kind, %lld bytes", (long long)bytes);
    memset(*memory, 0, (size_t)bytes);
    return MODAL_OK;
}

extern "C" void bench_cuda_host_delete(void *memory, bench_cuda_memory kind)
{
    if (kind == BENCH_CUDA_PAGEABLE)
        free(memory);
    else
        cudaFreeHost(memory);
}

static __global__ void empty(const modal_deform_task) {}

extern "C" modal_status bench_cuda_empty(modal_stream *stream, modal_error *err)
{
    empty<<<1, 256, 0, (cudaStream_t)stream>>>(modal_deform_task{});
    return modal_cuda_launched("empty kernel", err);
}

extern "C" modal_status bench_cuda_wait(modal_stream *stream, modal_error *err)
{
    return modal_cuda_status(cudaStreamSynchronize((cudaStream_t)stream), "wait", err);
}

extern "C" modal_status bench_cuda_describe(int ordinal, bench_cuda_device *device,
                                            modal_error *err)
{
    cudaDeviceProp properties;
    cudaError_t code = cudaGetDeviceProperties(&properties, ordinal);
    if (code == cudaSuccess) code = cudaRuntimeGetVersion(&device->runtime);
    if (code == cudaSuccess) code = cudaDriverGetVersion(&device->driver);
    if (code != cudaSuccess) return modal_cuda_status(code, "device", err);
    int clock = 0, bits = 0; // kHz
    device->datasheet_rate = 0.0;
    if (cudaDeviceGetAttribute(&clock, cudaDevAttrMemoryClockRate, ordinal) == cudaSuccess &&
        cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, ordinal) == cudaSuccess)
        device->datasheet_rate = 2.0 * 1e3 * clock * bits / 8.0;
    device->multiprocessors = properties.multiProcessorCount;
    device->l2_bytes = properties.l2CacheSize;
    device->memory_bytes = (int64_t)properties.totalGlobalMem;
    return MODAL_OK;
}
