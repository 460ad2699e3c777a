/* SPDX-License-Identifier: Apache-2.0 */
/* What a back end is: a device and its operations; and how one is found by name. */
#ifndef MODAL_KERNELS_REGISTRY_H
#define MODAL_KERNELS_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct modal_event modal_event; /* kernels/device.h */
struct modal_device_interface;

/* One back end's operations, each by the name of its folder; NULL = unsupported. */
typedef struct modal_kernels {
    const char *back_end;
    int normals_ring; /* nonzero: normals_dynamic is faster with a ring than with corners */
    int packs_objects; /* nonzero: deform_objects is faster than deform for many small shapes */
#define MODAL_OPERATION_MEMBER(folder, name, cpu, cuda) name##_function *folder;
    MODAL_OPERATIONS(MODAL_OPERATION_MEMBER)
#undef MODAL_OPERATION_MEMBER
} modal_kernels;

enum { MODAL_DEVICE_NAME = 16, MODAL_DEVICE_HARDWARE = 128 };

/* Plain data: it may be copied, and owns nothing. */
struct modal_device {
    char name[MODAL_DEVICE_NAME];         /* "ref", "cpu", "cuda:0" */
    char hardware[MODAL_DEVICE_HARDWARE]; /* the name of the processor or GPU */
    int ordinal;                          /* number of the CUDA device, 0 otherwise */
    int n_threads;                        /* OpenMP threads of the CPU back end */
    int shares_memory;                    /* nonzero: device memory is main memory */
    int64_t shared_bytes;                 /* of a CUDA device: shared memory that one block can have */
    const modal_kernels *kernels;         /* its operations */
    const struct modal_device_interface *interface; /* kernels/device_interface.h */
};

/* Finds a back end: "ref", "cpu", "cuda" (device 0), "cuda:N", or "auto": cuda where there is a
 * device, else cpu; device->name tells which. Also selects it for the calling thread. "cpu" takes
 * the calling thread's OpenMP thread number (omp_set_num_threads).
 * Errors: MODAL_ERROR_USAGE for a name that is none of these, MODAL_ERROR_SYSTEM for a back end that
 * is not built in or has no such device, with what is available. */
modal_status modal_device_open(modal_device *device, const char *name, modal_error *err);

/* All back ends of this build and machine, for listings: "ref", "cpu", "cuda:0", ... */
int modal_device_count(void);
modal_status modal_device_describe(int index, modal_device *device, modal_error *err);

/* Why there is no CUDA device, or "" where there is one. A device that this build has no code for is not counted;
 * "cuda:N" numbers those that are. */
void modal_device_cuda_reason(char *reason, size_t reason_bytes);
/* Where there is one, why another one is not counted, or "". */
void modal_device_cuda_left_out(char *reason, size_t reason_bytes);

#ifdef __cplusplus
}
#endif
#endif
