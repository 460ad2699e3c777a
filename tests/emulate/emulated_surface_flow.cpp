// SPDX-License-Identifier: Apache-2.0
// surface_flow by its CUDA kernels in the place of the CPU's back end, of the program that checks it.
#include <cuda_runtime.h>

#include "kernels/surface_flow/surface_flow.h"
#include "tests/emulate/emulator.h"

extern "C" modal_status modal_emulated_surface_flow(const modal_surface_flow_task *task, modal_stream *stream, modal_error *err);
extern "C" modal_status __wrap_modal_surface_flow_cpu(const modal_surface_flow_task *task, modal_stream *stream, modal_error *err)
{
    const modal_status status = modal_emulated_surface_flow(task, stream, err);
    const size_t n = (size_t)task->n_samples;
    if (status == MODAL_OK) emulated_add(task->liquid_next, n * sizeof *task->liquid_next);
    if (status == MODAL_OK) emulated_add(task->sums, (n + MODAL_FLOW_BLOCK - 1) / MODAL_FLOW_BLOCK * MODAL_FLOW_SUMS * sizeof *task->sums);
    return status;
}
