// SPDX-License-Identifier: Apache-2.0
// The device interface on CUDA: plain cudaMalloc memory, pinned host memory, streams that do not
// wait for the default stream, events without timing.
#include <cstdio>
#include <cstring>

#include "kernels/cuda_check.cuh"
#include "kernels/device.h"

namespace {

modal_status cuda_select(const modal_device *device, modal_error *err)
{
    return modal_cuda_status(cudaSetDevice(device->ordinal), "select the device", err);
}

modal_status cuda_free_bytes(const modal_device *device, int64_t *bytes, modal_error *err)
{
    size_t available = 0, total = 0;
    modal_status status = cuda_select(device, err);
    if (status == MODAL_OK)
        status = modal_cuda_status(cudaMemGetInfo(&available, &total), "free device memory", err);
    *bytes = (int64_t)available;
    return status;
}

modal_status cuda_alloc(void **pointer, int64_t bytes, const char *what, modal_error *err)
{
    cudaError_t code = cudaMalloc(pointer, bytes > 0 ? (size_t)bytes : 1);
    if (code == cudaSuccess) return MODAL_OK;
    *pointer = nullptr;
    cudaGetLastError(); // an allocation that fails leaves the device usable: do not report it twice
    return modal_error_set(err,
                           code == cudaErrorMemoryAllocation ? MODAL_ERROR_MEMORY
                                                             : MODAL_ERROR_SYSTEM,
                           "%s: %lld bytes of device memory: %s", what, (long long)bytes,
                           cudaGetErrorString(code));
}

void cuda_free(void *memory) { cudaFree(memory); }

modal_status cuda_alloc_host(void **pointer, int64_t bytes, const char *what, modal_error *err)
{
    cudaError_t code = cudaHostAlloc(pointer, bytes > 0 ? (size_t)bytes : 1, cudaHostAllocPortable);
    if (code == cudaSuccess) return MODAL_OK;
    *pointer = nullptr;
    cudaGetLastError();
    return modal_error_set(err,
                           code == cudaErrorMemoryAllocation ? MODAL_ERROR_MEMORY
                                                             : MODAL_ERROR_SYSTEM,
                           "%s: %lld bytes of pinned memory: %s", what, (long long)bytes,
                           cudaGetErrorString(code));
}

void cuda_free_host(void *memory) { cudaFreeHost(memory); }

modal_status cuda_copy_in(void *to, const void *from, int64_t bytes, modal_stream *stream,
                          modal_error *err)
{
    if (bytes <= 0) return MODAL_OK;
    return modal_cuda_status(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyHostToDevice,
                                             (cudaStream_t)stream),
                             "copy to the device", err);
}

modal_status cuda_copy_out(void *to, const void *from, int64_t bytes, modal_stream *stream,
                           modal_error *err)
{
    if (bytes <= 0) return MODAL_OK;
    return modal_cuda_status(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToHost,
                                             (cudaStream_t)stream),
                             "copy from the device", err);
}

modal_status cuda_stream_new(modal_stream **stream, modal_error *err)
{
    *stream = nullptr;
    return modal_cuda_status(
        cudaStreamCreateWithFlags((cudaStream_t *)stream, cudaStreamNonBlocking), "new stream",
        err);
}

void cuda_stream_delete(modal_stream *stream) { cudaStreamDestroy((cudaStream_t)stream); }

modal_status cuda_stream_wait(modal_stream *stream, modal_error *err)
{
    return modal_cuda_status(cudaStreamSynchronize((cudaStream_t)stream), "wait for a stream", err);
}

modal_status cuda_event_new(modal_event **event, modal_error *err)
{
    *event = nullptr;
    return modal_cuda_status(cudaEventCreateWithFlags((cudaEvent_t *)event,
                                                      cudaEventDisableTiming |
                                                          cudaEventBlockingSync),
                             "new event", err);
}

void cuda_event_delete(modal_event *event) { cudaEventDestroy((cudaEvent_t)event); }

modal_status cuda_event_record(modal_event *event, modal_stream *stream, modal_error *err)
{
    return modal_cuda_status(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream),
                             "record an event", err);
}

modal_status cuda_stream_wait_event(modal_stream *stream, modal_event *event, modal_error *err)
{
    return modal_cuda_status(cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0),
                             "order two streams", err);
}

modal_status cuda_event_wait(modal_event *event, modal_error *err)
{
    return modal_cuda_status(cudaEventSynchronize((cudaEvent_t)event), "wait for the device", err);
}

} // namespace

extern "C" {

extern const modal_device_interface modal_cuda_interface = {
    cuda_select,     cuda_free_bytes,        cuda_alloc,       cuda_free,
    cuda_alloc_host, cuda_free_host,         cuda_copy_in,     cuda_copy_out,
    cuda_stream_new, cuda_stream_delete,     cuda_stream_wait, cuda_event_new,
    cuda_event_delete, cuda_event_record,    cuda_stream_wait_event, cuda_event_wait,
};

int modal_cuda_device_count(char *reason, size_t reason_bytes)
{
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess) {
        cudaGetLastError();
        count = 0;
    }
    if (count == 0)
        snprintf(reason, reason_bytes, "%s",
                 code != cudaSuccess ? cudaGetErrorString(code) : "no CUDA device");
    return count;
}

void modal_cuda_device_hardware(int ordinal, char hardware[MODAL_DEVICE_HARDWARE])
{
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) {
        cudaGetLastError();
        snprintf(hardware, MODAL_DEVICE_HARDWARE, "unknown CUDA device");
        return;
    }
    snprintf(hardware, MODAL_DEVICE_HARDWARE, "%s, %d multiprocessors, %.0f GB", properties.name,
             properties.multiProcessorCount, (double)properties.totalGlobalMem / 1e9);
}

} // extern "C"
