// SPDX-License-Identifier: Apache-2.0
// reduced_step by its CUDA kernels in the place of the CPU's back end, of the program that checks it.
#include <cuda_runtime.h>

#include "kernels/reduced_step/reduced_step.h"
#include "tests/emulate/emulator.h"

cudaError_t cudaLaunchCooperativeKernel(const void *function, unsigned n_blocks, unsigned threads, void **arguments, size_t bytes,
                                        cudaStream_t)
{
    const auto kernel = (void (*)(const modal_step_task, int64_t))function;
    const modal_step_task *task = (const modal_step_task *)arguments[0];
    const int64_t size = *(const int64_t *)arguments[1];
    emulated_launch([=] { kernel(*task, size); }, n_blocks, threads, bytes, true);
    return cudaSuccess;
}

extern "C" modal_status modal_emulated_reduced_step(const modal_step_task *t, modal_stream *stream, modal_error *err);
extern "C" modal_status __wrap_modal_reduced_step_cpu(const modal_step_task *t, modal_stream *stream, modal_error *err)
{
    const modal_status status = modal_emulated_reduced_step(t, stream, err);
    for (int32_t i = 0; i < t->n_objects; i++) {
        const modal_step_object *o = &t->objects[i];
        for (const double *x : {(const double *)t->q, (const double *)t->v, (const double *)t->a, (const double *)t->lag})
            emulated_add(x + o->coordinates, (size_t)o->n_modes * sizeof *x);
        emulated_add(&t->measures[i], sizeof t->measures[i]);
    }
    return status;
}
