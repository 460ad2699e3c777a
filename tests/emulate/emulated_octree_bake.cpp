// SPDX-License-Identifier: Apache-2.0
// octree_bake by its CUDA kernels in the place of the CPU's back end, of the program that checks it.
#include <cuda_runtime.h>

#include "kernels/octree_bake/octree_bake.h"
#include "tests/emulate/emulator.h"

extern "C" modal_status modal_emulated_octree_bake(const modal_octree_bake_task *task, modal_stream *stream, modal_error *err);
extern "C" modal_status __wrap_modal_octree_bake_cpu(const modal_octree_bake_task *task, modal_stream *stream, modal_error *err)
{
    const modal_status status = modal_emulated_octree_bake(task, stream, err);
    const size_t n = (size_t)task->width * (size_t)task->height;
    if (status == MODAL_OK) emulated_add(task->owner, n * sizeof *task->owner);
    if (status == MODAL_OK) emulated_add(task->values, n * modal_octree_value_bytes(task->grid.channels));
    return status;
}
