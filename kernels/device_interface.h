/* SPDX-License-Identifier: Apache-2.0 */
/* What a kind of device implements for kernels/device.h: host memory (device.c), CUDA (device_cuda.cu), and tests' own. */
#ifndef MODAL_KERNELS_DEVICE_INTERFACE_H
#define MODAL_KERNELS_DEVICE_INTERFACE_H

#include "kernels/device.h"
#include "kernels/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes are already checked. */
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
