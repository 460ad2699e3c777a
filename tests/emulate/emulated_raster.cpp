// SPDX-License-Identifier: Apache-2.0
// raster by its CUDA kernels in the place of the CPU's back end, of the program that checks it.
#include <cuda_runtime.h>

#include "kernels/raster/raster.h"
#include "tests/emulate/emulator.h"

extern "C" modal_status modal_emulated_raster(const modal_raster_task *task, modal_stream *stream, modal_error *err);
extern "C" modal_status __wrap_modal_raster_cpu(const modal_raster_task *task, modal_stream *stream, modal_error *err)
{
    const modal_status status = modal_emulated_raster(task, stream, err);
    const size_t n = (size_t)task->width * (size_t)task->height * (size_t)task->samples;
    if (status == MODAL_OK && task->keys) emulated_add(task->keys, n * sizeof *task->keys);
    if (status == MODAL_OK && task->depths) emulated_add(task->depths, n * sizeof *task->depths);
    return status;
}
