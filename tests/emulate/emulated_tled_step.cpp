// SPDX-License-Identifier: Apache-2.0
// tled_layout and tled_step by their CUDA kernels in the place of the CPU's back end, of the program that checks them.
#include <cuda_runtime.h>

#include "kernels/tled_layout/tled_layout.h"
#include "kernels/tled_step/tled_step.h"
#include "tests/emulate/emulator.h"

extern "C" modal_status modal_emulated_tled_layout(const modal_tled_layout_task *task, modal_stream *stream, modal_error *err);
extern "C" modal_status __wrap_modal_tled_layout_cpu(const modal_tled_layout_task *task, modal_stream *stream, modal_error *err)
{
    return modal_emulated_tled_layout(task, stream, err);
}

extern "C" modal_status modal_emulated_tled_step(const modal_tled_step_task *task, modal_stream *stream, modal_error *err);
extern "C" modal_status __wrap_modal_tled_step_cpu(const modal_tled_step_task *task, modal_stream *stream, modal_error *err)
{
    const modal_status status = modal_emulated_tled_step(task, stream, err);
    const size_t bytes = 4 * (size_t)task->layout->solid->n_nodes * (task->layout->precision == MODAL_TLED_FLOAT64 ? 8 : 4);
    emulated_add(task->u, bytes);
    emulated_add(task->d, bytes);
    return status;
}
