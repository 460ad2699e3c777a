/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/surface_flow/surface_flow.h"

modal_status modal_surface_flow_ref(const modal_surface_flow_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    for (int64_t i = 0; i < task->n_samples && task->steers; i++) modal_flow_steer(task, i);
    for (int64_t i = 0; i < task->n_samples; i++) modal_flow_step(task, i, task->sums + MODAL_FLOW_SUMS * (i / MODAL_FLOW_BLOCK));
    return MODAL_OK;
}
