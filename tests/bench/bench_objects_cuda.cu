// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/bench_objects_cuda.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <string>
#include <vector>

namespace {

struct Arguments {
    char bytes[216];
};
__global__ void nothing(const __grid_constant__ Arguments arguments) {}

struct Library {
    decltype(&cublasCreate_v2) create;
    decltype(&cublasDestroy_v2) destroy;
    decltype(&cublasSetStream_v2) set_stream;
    decltype(&cublasSgemvBatched) multiply;
};

const Library *library()
{
    static Library all;
    static const bool found = [] {
        const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
        void *file = dlopen(name.c_str(), RTLD_NOW);
        if (!file) return false;
        all.create = (decltype(all.create))dlsym(file, "cublasCreate_v2");
        all.destroy = (decltype(all.destroy))dlsym(file, "cublasDestroy_v2");
        all.set_stream = (decltype(all.set_stream))dlsym(file, "cublasSetStream_v2");
        all.multiply = (decltype(all.multiply))dlsym(file, "cublasSgemvBatched");
        return all.create && all.destroy && all.set_stream && all.multiply;
    }();
    return found ? &all : nullptr;
}

// A table of n pointers in device memory, `stride` floats apart; nullptr after a failure.
template <typename T> T **table(int n, T *first, int64_t stride)
{
    std::vector<T *> host(n);
    T **device = nullptr;
    for (int i = 0; i < n; i++) host[i] = first + i * stride;
    if (cudaMalloc(&device, n * sizeof(T *)) != cudaSuccess) return nullptr;
    cudaMemcpy(device, host.data(), n * sizeof(T *), cudaMemcpyHostToDevice);
    return device;
}

} // namespace

extern "C" int bench_cuda_nothing(int64_t n_tiles, modal_stream *stream)
{
    nothing<<<(unsigned)((n_tiles + 7) / 8), 256, 0, (cudaStream_t)stream>>>(Arguments{});
    return cudaGetLastError() == cudaSuccess;
}

extern "C" void bench_gemv_new(bench_gemv *gemv, int n_objects, int rows, int modes, const float *u,
                               const float *q, float *out, modal_stream *stream)
{
    *gemv = {0, n_objects, rows, modes, nullptr, nullptr, nullptr, nullptr};
    const Library *l = library();
    cublasHandle_t handle = nullptr;
    if (!l || l->create(&handle) != CUBLAS_STATUS_SUCCESS) return;
    l->set_stream(handle, (cudaStream_t)stream);
    gemv->handle = handle;
    gemv->u = table(n_objects, u, (int64_t)rows * modes);
    gemv->q = table(n_objects, q, modes);
    gemv->out = table(n_objects, out, rows);
    gemv->ready = gemv->u && gemv->q && gemv->out;
}

extern "C" int bench_gemv_run(const bench_gemv *g)
{
    const float one = 1.0f, zero = 0.0f;
    return library()->multiply((cublasHandle_t)g->handle, CUBLAS_OP_N, g->rows, g->modes, &one,
                               g->u, g->rows, g->q, 1, &zero, g->out, 1,
                               g->n_objects) == CUBLAS_STATUS_SUCCESS;
}

extern "C" void bench_gemv_delete(bench_gemv *g)
{
    if (g->handle) library()->destroy((cublasHandle_t)g->handle);
    cudaFree(g->u);
    cudaFree(g->q);
    cudaFree(g->out);
    *g = {};
}
