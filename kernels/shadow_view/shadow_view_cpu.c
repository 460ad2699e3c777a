/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the points have boxes of their own, which are joined: least and most know no order. */
#include "kernels/shadow_view/shadow_view_math.h"

enum { PARTS = 64 };

modal_status modal_shadow_view_cpu(const modal_shadow_view_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    shadow_box boxes[PARTS], all = shadow_box_empty();
    const int64_t n = task->n_points;
#pragma omp parallel for schedule(static) if (n > 20000)
    for (int part = 0; part < PARTS; part++) {
        shadow_box box = shadow_box_empty();
        for (int64_t i = n * part / PARTS; i < n * (part + 1) / PARTS; i++) shadow_box_add(&box, task, task->points + 3 * i);
        boxes[part] = box;
    }
    for (int part = 0; part < PARTS; part++) shadow_box_join(&all, boxes[part].low, boxes[part].high);
    *task->view = shadow_view_of(task, &all);
    return MODAL_OK;
}
