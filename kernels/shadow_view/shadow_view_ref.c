/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/shadow_view/shadow_view_math.h"

modal_status modal_shadow_view_ref(const modal_shadow_view_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    shadow_box box = shadow_box_empty();
    for (int64_t i = 0; i < task->n_points; i++) shadow_box_add(&box, task, task->points + 3 * i);
    *task->view = shadow_view_of(task, &box);
    return MODAL_OK;
}
