/* SPDX-License-Identifier: Apache-2.0 */
/* Objects over all threads. A step of a mode reads some 80 bytes and takes some 10 operations: below a few
 * thousand modes waking the threads would cost more than the work. */
#include "kernels/linear_step/linear_step.h"

enum { MODES_WORTH_THREADS = 8192 };

static void step_object(const modal_linear_step_task *t, int32_t i)
{
    if (t->skip && t->skip[i]) return;
    double lost = 0;
    for (int32_t k = 0; k < t->objects[i].n_modes; k++) lost += modal_linear_step_mode(t, &t->objects[i], k);
    t->lost[i] += lost;
}

modal_status modal_linear_step_cpu(const modal_linear_step_task *t, modal_stream *stream, modal_error *err)
{
    (void)stream;
    (void)err;
    if (t->n_modes < MODES_WORTH_THREADS) { /* a team of one costs as much as 20 modes */
        for (int32_t i = 0; i < t->n_objects; i++) step_object(t, i);
        return MODAL_OK;
    }
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < t->n_objects; i++) step_object(t, i);
    return MODAL_OK;
}
