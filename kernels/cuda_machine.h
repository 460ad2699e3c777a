/* SPDX-License-Identifier: Apache-2.0 */
/* What CUDA operations ask of the device that they are launched on, and which devices their code runs on. */
#ifndef MODAL_KERNELS_CUDA_MACHINE_H
#define MODAL_KERNELS_CUDA_MACHINE_H

#include <stdint.h>

#include "lib/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct modal_cuda_machine {
    int device;             /* CUDA's number */
    int n_multiprocessors;
    int overlaps;           /* nonzero: a launch may begin before the one before it ends (from 9.0 on) */
    int64_t shared;         /* bytes of shared memory of a multiprocessor; */
    int64_t shared_block;   /* ... that one block can have */
} modal_cuda_machine;

/* Whether a device of a compute capability runs code that was compiled for `architectures`, a list as CMake has it,
 * separated by commas: "80-real,90-virtual". Machine code (real) runs on its capability and later minor ones of the
 * same major one, PTX (virtual) on all later ones, a number alone is both; with a letter (90a) on that
 * capability alone. */
int modal_cuda_code_runs(const char *architectures, int major, int minor);

#ifdef MODAL_HAVE_CUDA
/* Of the calling thread's device. */
modal_status modal_cuda_machine_of(modal_cuda_machine *machine, modal_error *err);

/* For tests: operations plan as they would on a device of compute capability `capability` (80, 86, 89), with its
 * shared memory and without overlap; 0: as on the device itself. Not while work is launched. */
void modal_cuda_pretend(int capability);

/* CUDA's number of device `index` of those that are counted, -1 where there is none. */
int modal_cuda_device_ordinal(int index);
#endif

#ifdef __cplusplus
}
#endif
#endif
