/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/world_transform/world_transform.h"
#include "lib/base/tile.h"

modal_status modal_world_transform_ref(const modal_world_transform_task *task,
                                       modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    int64_t n = task->n_vertices;
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t v = 0; v < n; v++) {
            const float *t = task->poses + 12 * c;
            double u[3], rest[3];
            for (int j = 0; j < 3; j++) {
                u[j] = task->u[(c * n + v) * 3 + j];
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
