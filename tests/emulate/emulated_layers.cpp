// SPDX-License-Identifier: Apache-2.0
// layers by its CUDA kernels in the place of the CPU's back end, of the program that checks it.
#include <cuda_runtime.h>

#include "kernels/layers/layers.h"
#include "tests/emulate/emulator.h"

extern "C" modal_status modal_emulated_layers(const modal_layers_task *task, modal_stream *stream, modal_error *err);
extern "C" modal_status __wrap_modal_layers_cpu(const modal_layers_task *task, modal_stream *stream, modal_error *err)
{
    const modal_status status = modal_emulated_layers(task, stream, err);
    const int64_t n = (int64_t)(task->end_row - task->first_row) * task->width * task->samples;
    if (status == MODAL_OK && *task->needed <= task->capacity) {
        emulated_add(task->layers, (size_t)(n + 1) * sizeof *task->layers);
        emulated_add(task->fragments, (size_t)*task->needed * sizeof *task->fragments);
    }
    return status;
}
