// SPDX-License-Identifier: Apache-2.0
// octree_lookup by its CUDA kernels in the place of the CPU's back end, of the program that checks it.
#include <cuda_runtime.h>

#include "kernels/octree_lookup/octree_lookup.h"
#include "tests/emulate/emulator.h"

extern "C" modal_status modal_emulated_octree_lookup(const modal_octree_lookup_task *task, modal_stream *stream, modal_error *err);
extern "C" modal_status __wrap_modal_octree_lookup_cpu(const modal_octree_lookup_task *task, modal_stream *stream, modal_error *err)
{
    const modal_status status = modal_emulated_octree_lookup(task, stream, err);
    if (status == MODAL_OK) emulated_add(task->values, (size_t)task->n_points * modal_octree_value_bytes(task->grid.channels));
    return status;
}
