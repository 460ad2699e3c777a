// SPDX-License-Identifier: Apache-2.0
// shade by its CUDA kernels in the place of the CPU's back end, of the program that checks it.
#include <cuda_runtime.h>

#include "kernels/shade/shade.h"
#include "tests/emulate/emulator.h"

extern "C" modal_status modal_emulated_shade(const modal_shade_task *task, modal_stream *stream, modal_error *err);
extern "C" modal_status __wrap_modal_shade_cpu(const modal_shade_task *task, modal_stream *stream, modal_error *err)
{
    const modal_status status = modal_emulated_shade(task, stream, err);
    const size_t n = (size_t)task->width * (size_t)task->height;
    const int whole = task->end_row == 0 || task->end_row == task->height; // after the last part of a picture
    if (status == MODAL_OK && whole && task->colour) emulated_add(task->colour, 3 * n * sizeof *task->colour);
    if (status == MODAL_OK && whole && task->picture) emulated_add(task->picture, 4 * n);
    return status;
}
