/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tangents_rigid/tangents_rigid.h"

modal_status modal_tangents_rigid_ref(const modal_tangents_rigid_task *task, modal_stream *stream,
                                      modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n = task->n_vertices;
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t v = 0; v < n; v++) {
            const int64_t pose = task->objects ? c * task->n_objects + task->objects[v] : c;
            const float *rest = task->rest_tangents + 4 * v;
            float *tangent = task->tangents + 4 * (c * n + v);
            for (int i = 0; i < 3; i++) {
                double sum = 0.0;
                for (int j = 0; j < 3; j++)
                    sum += (double)task->poses[12 * pose + 4 * i + j] * (double)rest[j];
                tangent[i] = (float)sum;
            }
            tangent[3] = rest[3];
        }
    return MODAL_OK;
}
