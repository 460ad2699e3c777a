/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/deform/deform.h"
#include "lib/base/tile.h"

modal_status modal_deform_ref(const modal_deform_task *task, modal_stream *stream,
                              modal_error *err)
{
    (void)stream, (void)err;
    int64_t n = task->n_vertices, r = task->n_modes;
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t v = 0; v < n; v++) {
            const float *t = task->poses + 12 * c;
            double u[3], rest[3];
            for (int j = 0; j < 3; j++) {
                u[j] = 0.0;
                for (int64_t k = 0; k < r; k++)
                    u[j] += (double)task->modal_matrix[((v / MODAL_TILE * r + k) * 3 + j) * MODAL_TILE + v % MODAL_TILE] *
                            (double)task->q[c * r + k];
                rest[j] = task->rest_tiles[(v / MODAL_TILE * 3 + j) * MODAL_TILE + v % MODAL_TILE];
            }
            for (int i = 0; i < 3; i++) {
                double x = t[4 * i + 3], d = 0.0;
                for (int j = 0; j < 3; j++) {
                    x += (double)t[4 * i + j] * (rest[j] + u[j]);
                    d += (double)t[4 * i + j] * u[j];
                }
                task->positions[(c * n + v) * 3 + i] = (float)x;
                if (task->displacement) task->displacement[(c * n + v) * 3 + i] = (float)d;
            }
        }
    return MODAL_OK;
}
