/* SPDX-License-Identifier: Apache-2.0 */
/* What modalbench asks of CUDA itself: events, an empty kernel, graphs of the device. */
#ifndef MODAL_TESTS_BENCH_CUDA_H
#define MODAL_TESTS_BENCH_CUDA_H

#include <stdint.h>

#include "kernels/operations.h"
#include "lib/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records the first event, or the second and waits for it: seconds in between on the device. */
modal_status bench_cuda_start(modal_stream *stream, modal_error *err);
modal_status bench_cuda_stop(modal_stream *stream, double *seconds, modal_error *err);

/* Fills with random numbers in [-1, 1). */
modal_status bench_cuda_fill(float *to, int64_t count, uint64_t seed, modal_stream *stream,
                             modal_error *err);
/* Reads all floats and adds them up; `to` is written where the sum is a value that it never is. */
modal_status bench_cuda_read(float *to, const float *from, int64_t count, modal_stream *stream, modal_error *err);
/* A kernel that does nothing, with the arguments of the deformer's product. */
modal_status bench_cuda_empty(modal_stream *stream, modal_error *err);
/* Kernels that the process has launched so far (bench_launches.c). */
int64_t bench_cuda_launched(void);
/* Queue of work -> all of it done. */
modal_status bench_cuda_wait(modal_stream *stream, modal_error *err);

/* Copies by so many blocks of a kernel; either side may be in main memory that is not pageable. */
modal_status bench_cuda_move(void *to, const void *from, int64_t count, int blocks, modal_stream *stream, modal_error *err);

typedef enum bench_cuda_memory { BENCH_CUDA_PAGEABLE, BENCH_CUDA_PINNED, BENCH_CUDA_WRITE_COMBINED } bench_cuda_memory;
/* Main memory of a kind, written once so that its pages are there; every kind but the first is mapped, too. */
modal_status bench_cuda_host_new(void **memory, int64_t bytes, bench_cuda_memory kind, modal_error *err);
void bench_cuda_host_delete(void *memory, bench_cuda_memory kind);

typedef struct bench_cuda_device {
    int multiprocessors, l2_bytes, runtime, driver;
    int64_t memory_bytes;
    double datasheet_rate; /* bytes a second: two a clock and bit of the memory's bus; 0: not told */
} bench_cuda_device;
modal_status bench_cuda_describe(int ordinal, bench_cuda_device *device, modal_error *err);

#ifdef __cplusplus
}
#endif
#endif
