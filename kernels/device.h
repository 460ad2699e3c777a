/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that a back end computes on: its memory, its queues of work (streams) and marks in
 * them (events), behind one interface, so that the engine has one code path for all back ends.
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

typedef struct modal_stream modal_stream; /* cudaStream_t, or NULL */
typedef struct modal_event modal_event;   /* cudaEvent_t, or NULL */
struct modal_kernels;
struct modal_device_interface;

enum { MODAL_DEVICE_NAME = 16, MODAL_DEVICE_HARDWARE = 128 };

/* Plain data: it may be copied, and owns nothing. */
typedef struct modal_device {
    char name[MODAL_DEVICE_NAME];         /* "ref", "cpu", "cuda:0" */
    char hardware[MODAL_DEVICE_HARDWARE]; /* the name of the processor or GPU */
    int ordinal;                          /* number of the CUDA device, 0 otherwise */
    int n_threads;                        /* OpenMP threads of the CPU back end */
    int shares_memory;                    /* nonzero: device memory is main memory */
    int64_t shared_bytes;                 /* of a CUDA device: shared memory that one block can have */
    const struct modal_kernels *kernels;  /* its operations, kernels/registry.h */
    const struct modal_device_interface *interface;
} modal_device;

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

/* What a kind of device implements; sizes are already checked. */
typedef struct modal_device_interface {
    modal_status (*select)(const modal_device *, modal_error *);
    modal_status (*free_bytes)(const modal_device *, int64_t *, modal_error *);
    modal_status (*alloc)(void **, int64_t bytes, const char *what, modal_error *);
    void (*free)(void *);
    modal_status (*alloc_host)(void **, int64_t bytes, const char *what, modal_error *);
    void (*free_host)(void *);
    modal_status (*copy_in)(void *, const void *, int64_t, modal_stream *, modal_error *);
    modal_status (*copy_out)(void *, const void *, int64_t, modal_stream *, modal_error *);
    modal_status (*copy)(void *, const void *, int64_t, modal_stream *, modal_error *);
    modal_status (*fill)(void *, unsigned char, int64_t, modal_stream *, modal_error *);
    modal_status (*stream_new)(modal_stream **, modal_error *);
    void (*stream_delete)(modal_stream *);
    modal_status (*stream_wait)(modal_stream *, modal_error *);
    modal_status (*event_new)(modal_event **, modal_error *);
    void (*event_delete)(modal_event *);
    modal_status (*event_record)(modal_event *, modal_stream *, modal_error *);
    modal_status (*stream_wait_event)(modal_stream *, modal_event *, modal_error *);
    modal_status (*event_wait)(modal_event *, modal_error *);
} modal_device_interface;

extern const modal_device_interface modal_host_interface;

#ifdef MODAL_HAVE_CUDA
extern const modal_device_interface modal_cuda_interface;
/* Number of CUDA devices that can be used; where some or all cannot, `reason` says why. */
int modal_cuda_device_count(char *reason, size_t reason_bytes);
void modal_cuda_device_hardware(int ordinal, char hardware[MODAL_DEVICE_HARDWARE]);
#endif

#ifdef __cplusplus
}
#endif
#endif
