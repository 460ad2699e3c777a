/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/normals_rigid/normals_rigid.h"

modal_status modal_normals_rigid_ref(const modal_normals_rigid_task *task, modal_stream *stream,
                                     modal_error *err)
{
    (void)stream, (void)err;
    int64_t n = task->n_vertices;
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t v = 0; v < n; v++) {
            const int64_t pose = task->objects ? c * task->n_objects + task->objects[v] : c;
            for (int i = 0; i < 3; i++) {
                double sum = 0.0;
                for (int j = 0; j < 3; j++)
                    sum += (double)task->poses[12 * pose + 4 * i + j] *
                           (double)task->rest_normals[3 * v + j];
                task->normals[(c * n + v) * 3 + i] = (float)sum;
            }
        }
    return MODAL_OK;
}
