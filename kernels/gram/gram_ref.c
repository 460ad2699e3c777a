/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/gram/gram.h"

modal_status modal_gram_ref(const modal_gram_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    for (int64_t j = 0; j < task->n_columns; j++)
        for (int64_t i = j; i < task->n_columns; i++) {
            double sum = 0;
            for (int64_t k = 0; k < task->n_rows; k++)
                sum += task->x[i * task->n_rows + k] * task->x[j * task->n_rows + k];
            task->products[j * task->n_columns + i] += sum;
        }
    return MODAL_OK;
}
