/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kernels/normals_two_stage/normals_two_stage.h"

static void face_normal(const modal_normals_two_stage_task *task, int64_t c, int64_t t,
                        double *normal)
{
    const int32_t *v = task->triangles + 3 * t;
    const float *x = task->positions + 3 * c * task->n_vertices;
    double a[3], b[3];
    for (int i = 0; i < 3; i++) {
        a[i] = (double)x[3 * (int64_t)v[1] + i] - (double)x[3 * (int64_t)v[0] + i];
        b[i] = (double)x[3 * (int64_t)v[2] + i] - (double)x[3 * (int64_t)v[0] + i];
    }
    for (int i = 0; i < 3; i++)
        normal[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

modal_status modal_normals_two_stage_ref(const modal_normals_two_stage_task *task,
                                         modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    for (int64_t c = 0; c < task->n_columns; c++) {
        double face[3];
        for (int64_t t = 0; t < task->n_triangles; t++) {
            face_normal(task, c, t, face);
            for (int i = 0; i < 3; i++)
                task->face_normals[3 * (c * task->n_triangles + t) + i] = (float)face[i];
        }
        for (int64_t v = 0; v < task->n_vertices; v++) {
            double sum[3] = {0.0, 0.0, 0.0};
            for (int64_t k = task->face_offsets[v]; k < task->face_offsets[v + 1]; k++) {
                face_normal(task, c, task->faces[k], face);
                for (int i = 0; i < 3; i++) sum[i] += face[i];
            }
            const double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
            for (int i = 0; i < 3; i++)
                task->normals[3 * (c * task->n_vertices + v) + i] =
                    length == 0.0 ? 0.0f : (float)(sum[i] / length);
        }
    }
    return MODAL_OK;
}
