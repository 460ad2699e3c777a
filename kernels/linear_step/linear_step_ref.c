/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/linear_step/linear_step.h"

modal_status modal_linear_step_ref(const modal_linear_step_task *t, modal_stream *stream, modal_error *err)
{
    (void)stream;
    (void)err;
    for (int32_t i = 0; i < t->n_objects; i++) {
        if (t->skip && t->skip[i]) continue;
        double lost = 0;
        for (int32_t k = 0; k < t->objects[i].n_modes; k++)
            lost += modal_linear_step_mode(t, &t->objects[i], k);
        t->lost[i] += lost;
    }
    return MODAL_OK;
}
