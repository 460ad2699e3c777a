/* SPDX-License-Identifier: Apache-2.0 */
/* Which operation runs on which back end, and how a back end is found by name. */
#ifndef MODAL_KERNELS_REGISTRY_H
#define MODAL_KERNELS_REGISTRY_H

#include <stddef.h>

#include "kernels/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

struct modal_device;

/* One back end's operations, each by the name of its folder; NULL = unsupported. */
typedef struct modal_kernels {
    const char *back_end;
    int normals_ring; /* nonzero: normals_dynamic is faster with a ring than with corners */
    int packs_objects; /* nonzero: deform_objects is faster than deform for many small shapes */
#define MODAL_OPERATION_MEMBER(folder, name, cpu, cuda) name##_function *folder;
    MODAL_OPERATIONS(MODAL_OPERATION_MEMBER)
#undef MODAL_OPERATION_MEMBER
} modal_kernels;

/* Finds a back end: "ref", "cpu", "cuda" (device 0), "cuda:N", or "auto": cuda where there is a
 * device, else cpu; device->name tells which. Also selects it for the calling thread. "cpu" takes
 * the calling thread's OpenMP thread number (omp_set_num_threads).
 * Errors: MODAL_ERROR_USAGE for a name that is none of these, MODAL_ERROR_SYSTEM for a back end that
 * is not built in or has no such device, with what is available. */
modal_status modal_device_open(struct modal_device *device, const char *name, modal_error *err);

/* All back ends of this build and machine, for listings: "ref", "cpu", "cuda:0", ... */
int modal_device_count(void);
modal_status modal_device_describe(int index, struct modal_device *device, modal_error *err);

/* Why there is no CUDA device, or "" where there is one. A device that this build has no code for is not counted;
 * "cuda:N" numbers those that are. */
void modal_device_cuda_reason(char *reason, size_t reason_bytes);
/* Where there is one, why another one is not counted, or "". */
void modal_device_cuda_left_out(char *reason, size_t reason_bytes);

#ifdef __cplusplus
}
#endif
#endif
