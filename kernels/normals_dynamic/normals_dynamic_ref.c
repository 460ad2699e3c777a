/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>

#include "kernels/normals_dynamic/normals_dynamic.h"

/* a b - c d, or NaN where float32 could not hold a product or the difference. */
static double difference_of_products(double a, double b, double c, double d)
{
    const double difference = a * b - c * d;
    const int fits = fabs(a * b) <= FLT_MAX && fabs(c * d) <= FLT_MAX && fabs(difference) <= FLT_MAX;
    return fits ? difference : NAN;
}

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
                sum[0] += difference_of_products(a[1], b[2], a[2], b[1]);
                sum[1] += difference_of_products(a[2], b[0], a[0], b[2]);
                sum[2] += difference_of_products(a[0], b[1], a[1], b[0]);
                for (int i = 0; i < 3; i++)
                    if (fabs(sum[i]) > FLT_MAX) sum[i] = NAN;
            }
            double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
            for (int i = 0; i < 3; i++)
                task->normals[(c * n + v) * 3 + i] = length == 0.0 ? 0.0f : (float)(sum[i] / length);
        }
    return MODAL_OK;
}
