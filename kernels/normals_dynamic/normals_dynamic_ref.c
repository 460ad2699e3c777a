/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kernels/normals_dynamic/normals_dynamic.h"

modal_status modal_normals_dynamic_ref(const modal_normals_dynamic_task *task,
                                       modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    int64_t n = task->n_vertices;
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t v = 0; v < n; v++) {
            const float *x = task->positions + 3 * c * n;
            double sum[3] = {0.0, 0.0, 0.0};
            for (int64_t k = task->corner_offsets[v]; k < task->corner_offsets[v + 1]; k++) {
                double a[3], b[3];
                for (int i = 0; i < 3; i++) {
                    a[i] = (double)x[3 * (int64_t)task->corners[2 * k] + i] - (double)x[3 * v + i];
                    b[i] =
                        (double)x[3 * (int64_t)task->corners[2 * k + 1] + i] - (double)x[3 * v + i];
                }
                sum[0] += a[1] * b[2] - a[2] * b[1];
                sum[1] += a[2] * b[0] - a[0] * b[2];
                sum[2] += a[0] * b[1] - a[1] * b[0];
            }
            double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
            for (int i = 0; i < 3; i++)
                task->normals[(c * n + v) * 3 + i] = length == 0.0 ? 0.0f : (float)(sum[i] / length);
        }
    return MODAL_OK;
}
