/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kernels/tangents_dynamic/tangents_dynamic.h"

static void cross(const double *a, const double *b, double *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void tangent_of_vertex(const modal_tangents_dynamic_task *task, int64_t c, int64_t v,
                              float *tangent)
{
    const float *x = task->positions + 3 * c * task->n_vertices;
    double sum_u[3] = {0.0, 0.0, 0.0}, sum_v[3] = {0.0, 0.0, 0.0}, n[3], across[3];
    for (int64_t k = task->corner_offsets[v]; k < task->corner_offsets[v + 1]; k++) {
        const float *g = task->weights + 4 * k;
        double e1[3], e2[3], area[3];
        for (int i = 0; i < 3; i++) {
            e1[i] = (double)x[3 * (int64_t)task->corners[2 * k] + i] - (double)x[3 * v + i];
            e2[i] = (double)x[3 * (int64_t)task->corners[2 * k + 1] + i] - (double)x[3 * v + i];
        }
        cross(e1, e2, area);
        if (area[0] == 0.0 && area[1] == 0.0 && area[2] == 0.0) continue;
        for (int i = 0; i < 3; i++) {
            sum_u[i] += (double)g[0] * e1[i] + (double)g[1] * e2[i];
            sum_v[i] += (double)g[2] * e1[i] + (double)g[3] * e2[i];
        }
    }
    for (int i = 0; i < 3; i++) n[i] = task->normals[3 * (c * task->n_vertices + v) + i];
    cross(n, sum_u, across);
    const double along = dot(n, sum_u), side = dot(across, sum_v);
    for (int i = 0; i < 3; i++) sum_u[i] -= n[i] * along;
    const double length = sqrt(dot(sum_u, sum_u));
    for (int i = 0; i < 3; i++) tangent[i] = length == 0.0 ? 0.0f : (float)(sum_u[i] / length);
    tangent[3] = length == 0.0 ? 0.0f : side < 0.0 ? -1.0f : 1.0f;
}

modal_status modal_tangents_dynamic_ref(const modal_tangents_dynamic_task *task,
                                        modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    for (int64_t c = 0; c < task->n_columns; c++)
        for (int64_t v = 0; v < task->n_vertices; v++)
            tangent_of_vertex(task, c, v, task->tangents + 4 * (c * task->n_vertices + v));
    return MODAL_OK;
}
