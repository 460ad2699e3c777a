/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/normals_wedge/normals_wedge.h"

#include <float.h>
#include <math.h>

void modal_normals_wedge_vertices(int64_t n_vertices, const int32_t *source, int64_t n, int32_t *numbers)
{
    for (int64_t i = 0; i < n; i++) {
        const int32_t wedge = numbers[i] < 0 ? ~numbers[i] : numbers[i];
        if (wedge < n_vertices) continue;
        const int32_t vertex = source[wedge - n_vertices];
        numbers[i] = numbers[i] < 0 ? ~vertex : vertex;
    }
}

/* a b - c d, or NaN where float32 could not hold a product or the difference. */
static double difference_of_products(double a, double b, double c, double d)
{
    const double difference = a * b - c * d;
    const int fits = fabs(a * b) <= FLT_MAX && fabs(c * d) <= FLT_MAX && fabs(difference) <= FLT_MAX;
    return fits ? difference : NAN;
}

modal_status modal_normals_wedge_ref(const modal_normals_wedge_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t w = 0; w < task->n_wedges; w++) {
            const float *x = task->positions + 3 * c * task->n_vertices;
            const float *own = x + 3 * (w < task->n_vertices ? w : (int64_t)task->source[w - task->n_vertices]);
            double sum[3] = {0.0, 0.0, 0.0};
            for (int64_t k = task->corner_offsets[w]; k < task->corner_offsets[w + 1]; k++) {
                double a[3], b[3];
                for (int i = 0; i < 3; i++) {
                    a[i] = (double)x[3 * (int64_t)task->corners[2 * k] + i] - (double)own[i];
                    b[i] = (double)x[3 * (int64_t)task->corners[2 * k + 1] + i] - (double)own[i];
                }
                for (int i = 0; i < 3; i++) {
                    sum[i] += difference_of_products(a[(i + 1) % 3], b[(i + 2) % 3], a[(i + 2) % 3], b[(i + 1) % 3]);
                    if (fabs(sum[i]) > FLT_MAX) sum[i] = NAN;
                }
            }
            const double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
            for (int i = 0; i < 3; i++)
                task->normals[(c * task->n_wedges + w) * 3 + i] = length == 0.0 ? 0.0f : (float)(sum[i] / length);
        }
    return MODAL_OK;
}
