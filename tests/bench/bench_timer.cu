// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/bench_timer.h"

#include <cuda_runtime.h>

static cudaEvent_t events[2];

extern "C" int bench_cuda_start(modal_stream *stream)
{
    for (cudaEvent_t &event : events)
        if (!event && cudaEventCreate(&event) != cudaSuccess) return 0;
    return cudaEventRecord(events[0], (cudaStream_t)stream) == cudaSuccess;
}

extern "C" int bench_cuda_stop(modal_stream *stream, double *seconds)
{
    float milliseconds = 0.0f;
    if (cudaEventRecord(events[1], (cudaStream_t)stream) != cudaSuccess ||
        cudaEventSynchronize(events[1]) != cudaSuccess ||
        cudaEventElapsedTime(&milliseconds, events[0], events[1]) != cudaSuccess)
        return 0;
    *seconds = 1e-3 * (double)milliseconds;
    return 1;
}
