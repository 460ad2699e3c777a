/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/modal_sum/modal_sum.h"
#include "lib/base/tile.h"

modal_status modal_sum_ref(const modal_sum_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    int64_t n = task->n_vertices, r = task->n_modes;
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t v = 0; v < n; v++)
            for (int i = 0; i < 3; i++) {
                double sum = 0.0;
                for (int64_t k = 0; k < r; k++)
                    sum += (double)task->modal_matrix[((v / MODAL_TILE * r + k) * 3 + i) * MODAL_TILE + v % MODAL_TILE] *
                           (double)task->q[c * r + k];
                task->u[(c * n + v) * 3 + i] = (float)sum;
            }
    return MODAL_OK;
}
