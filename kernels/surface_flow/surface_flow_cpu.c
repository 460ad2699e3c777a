/* SPDX-License-Identifier: Apache-2.0 */
/* A block of samples a turn: in Morton order their neighbours are mostly in the same few cache lines. */
#include "kernels/surface_flow/surface_flow.h"

modal_status modal_surface_flow_cpu(const modal_surface_flow_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n = task->n_samples;
    if (task->steers) {
#pragma omp parallel for schedule(static) if (n > 4096)
        for (int64_t i = 0; i < n; i++) modal_flow_steer(task, i);
    }
#pragma omp parallel for schedule(static) if (n > 4096)
    for (int64_t first = 0; first < n; first += MODAL_FLOW_BLOCK) {
        const int64_t end = first + MODAL_FLOW_BLOCK < n ? first + MODAL_FLOW_BLOCK : n;
        for (int64_t i = first; i < end; i++) modal_flow_step(task, i, task->sums + MODAL_FLOW_SUMS * (first / MODAL_FLOW_BLOCK));
    }
    return MODAL_OK;
}
