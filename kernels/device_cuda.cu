// SPDX-License-Identifier: Apache-2.0
// The device interface on CUDA: plain cudaMalloc memory, pinned host memory, streams that do not
// wait for the default stream, events without timing.
#include <cstdio>
#include <cstring>

#include "kernels/cuda_check.cuh"
#include "kernels/cuda_machine.h"
#include "kernels/device_interface.h"

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
    cudaError_t code = cudaHostAlloc(pointer, bytes > 0 ? (size_t)bytes : 1,
                                     cudaHostAllocPortable | cudaHostAllocMapped);
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

modal_status cuda_copy(void *to, const void *from, int64_t bytes, modal_stream *stream, modal_error *err)
{
    if (bytes <= 0) return MODAL_OK;
    return modal_cuda_status(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToDevice,
                                             (cudaStream_t)stream),
                             "copy on the device", err);
}

modal_status cuda_fill(void *to, unsigned char byte, int64_t bytes, modal_stream *stream, modal_error *err)
{
    if (bytes <= 0) return MODAL_OK;
    return modal_cuda_status(cudaMemsetAsync(to, byte, (size_t)bytes, (cudaStream_t)stream), "fill", err);
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

// 90 for 9.0; 0 where that cannot be told
int capability_of(int ordinal)
{
    int major = 0, minor = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal) != cudaSuccess)
        cudaGetLastError();
    return 10 * major + minor;
}

bool has_code(int capability) { return modal_cuda_code_runs(MODAL_CUDA_CODE, capability / 10, capability % 10); }

int pretended; // modal_cuda_pretend

} // namespace

extern "C" {

extern const modal_device_interface modal_cuda_interface = {
    cuda_select,     cuda_free_bytes,        cuda_alloc,       cuda_free,
    cuda_alloc_host, cuda_free_host,         cuda_copy_in,     cuda_copy_out,
    cuda_copy,       cuda_fill,              cuda_stream_new,  cuda_stream_delete,
    cuda_stream_wait, cuda_event_new,        cuda_event_delete, cuda_event_record,
    cuda_stream_wait_event, cuda_event_wait,
};

int modal_cuda_device_count(char *reason, size_t reason_bytes)
{
    int count = 0, usable = 0;
    snprintf(reason, reason_bytes, "%s", "");
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess) {
        cudaGetLastError();
        count = 0;
    }
    if (count == 0)
        snprintf(reason, reason_bytes, "%s",
                 code != cudaSuccess ? cudaGetErrorString(code) : "no CUDA device");
    for (int i = 0; i < count; i++) {
        const int capability = capability_of(i);
        if (has_code(capability))
            usable++;
        else if (!reason[0])
            snprintf(reason, reason_bytes, "CUDA device %d: this build has no code for sm_%d, only for %s", i,
                     capability, MODAL_CUDA_CODE);
    }
    return usable;
}

int modal_cuda_device_ordinal(int index)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) cudaGetLastError();
    for (int i = 0; i < count; i++)
        if (has_code(capability_of(i)) && index-- == 0) return i;
    return -1;
}

void modal_cuda_pretend(int capability) { pretended = capability; }

modal_status modal_cuda_machine_of(modal_cuda_machine *machine, modal_error *err)
{
    static thread_local modal_cuda_machine known = {-1, 0, 0, 0, 0}; // asked once: launches take microseconds
    int device = 0;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess && known.device != device) {
        static const cudaDeviceAttr attributes[4] = {
            cudaDevAttrMultiProcessorCount, cudaDevAttrComputeCapabilityMajor,
            cudaDevAttrMaxSharedMemoryPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerBlockOptin};
        int values[4] = {};
        for (int i = 0; i < 4 && code == cudaSuccess; i++)
            code = cudaDeviceGetAttribute(&values[i], attributes[i], device);
        if (code == cudaSuccess) known = {device, values[0], values[1] >= 9, values[2], values[3]};
    }
    *machine = known;
    if (pretended) { // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"
        machine->overlaps = 0;
        machine->shared = (pretended == 80 ? 164 : 100) * 1024;
        machine->shared_block = machine->shared - 1024;
    }
    return modal_cuda_status(code, "properties of the device", err);
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
