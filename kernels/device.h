/* SPDX-License-Identifier: Apache-2.0 */
/* What is done with the machine that a back end computes on (modal_device, kernels/registry.h): its memory, its queues of work
 * (streams) and marks in them (events), behind one interface, so that the engine has one code path for all back ends.
 *
 * "ref" and "cpu" work in main memory: a copy is a memcpy, a stream and an event are NULL, work is
 * done when the call returns. "cuda:N" works in the memory of CUDA device N; copies and kernels are
 * queued in a stream and done when an event recorded behind them has been waited for. */
#ifndef MODAL_KERNELS_DEVICE_H
#define MODAL_KERNELS_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct modal_device modal_device; /* kernels/registry.h */
typedef struct modal_stream modal_stream; /* cudaStream_t, or NULL */
typedef struct modal_event modal_event;   /* cudaEvent_t, or NULL */

/* Makes the device the calling thread's own: to be called in every thread before it launches operations (the current CUDA
 * device and OpenMP's thread number belong to a thread), and best before every batch or step: the thread number becomes
 * what other processes leave free of n_threads, lib/base/cores.h. */
modal_status modal_device_select(const modal_device *device, modal_error *err);

/* Bytes of device memory that are free; INT64_MAX for back ends that share main memory. */
modal_status modal_device_free_bytes(const modal_device *device, int64_t *bytes, modal_error *err);

/* Device memory (uninitialised, aligned to 64 bytes or more) and pinned main memory that copies fast, and that
 * operations can write themselves at its own address (slowly: a flag, no arrays). *pointer is any `T **`, as in
 * modal_alloc, and NULL after a failure. The free functions set it to NULL and accept NULL inside. */
modal_status modal_device_alloc(const modal_device *device, void *pointer, int64_t count,
                                size_t item_bytes, const char *what, modal_error *err);
void modal_device_free(const modal_device *device, void *pointer);
modal_status modal_device_alloc_host(const modal_device *device, void *pointer, int64_t count,
                                     size_t item_bytes, const char *what, modal_error *err);
void modal_device_free_host(const modal_device *device, void *pointer);

/* Queues a copy of main memory to the device or back. The host array must stay as it is until the
 * copy is done. */
modal_status modal_device_copy_in(const modal_device *device, void *to, const void *from,
                                  int64_t bytes, modal_stream *stream, modal_error *err);
modal_status modal_device_copy_out(const modal_device *device, void *to, const void *from,
                                   int64_t bytes, modal_stream *stream, modal_error *err);

/* Queues what stays on the device: every byte becomes `byte`, or a copy from one array to another that it does not
 * overlap. */
modal_status modal_device_fill(const modal_device *device, void *to, unsigned char byte, int64_t bytes,
                               modal_stream *stream, modal_error *err);
modal_status modal_device_copy(const modal_device *device, void *to, const void *from, int64_t bytes,
                               modal_stream *stream, modal_error *err);

/* A stream runs its work in order. The delete functions set the pointer to NULL and accept NULL. */
modal_status modal_device_stream_new(const modal_device *device, modal_stream **stream,
                                     modal_error *err);
void modal_device_stream_delete(const modal_device *device, modal_stream **stream);
modal_status modal_device_stream_wait(const modal_device *device, modal_stream *stream,
                                      modal_error *err); /* until all its work is done */

/* An event marks a point in a stream; another stream, or the calling thread, can wait for it. */
modal_status modal_device_event_new(const modal_device *device, modal_event **event,
                                    modal_error *err);
void modal_device_event_delete(const modal_device *device, modal_event **event);
modal_status modal_device_event_record(const modal_device *device, modal_event *event,
                                       modal_stream *stream, modal_error *err);
modal_status modal_device_stream_wait_event(const modal_device *device, modal_stream *stream,
                                            modal_event *event, modal_error *err);
modal_status modal_device_event_wait(const modal_device *device, modal_event *event,
                                     modal_error *err);

#ifdef __cplusplus
}
#endif
#endif
