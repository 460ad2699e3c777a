/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP over runs of triangles, then over runs of vertices, one column after the other so that its
 * face normals are still in a cache. Plain C: kept for comparison, see the contract. Compiled without
 * contraction into fused multiply-adds, as normals_dynamic_cpu.c says. */
#include <math.h>

#include "kernels/normals_two_stage/normals_two_stage.h"

static void face_normal(const float *x, const int32_t *v, float *normal)
{
    const float *p = x + 3 * (int64_t)v[0], *q = x + 3 * (int64_t)v[1], *s = x + 3 * (int64_t)v[2];
    const float a0 = q[0] - p[0], a1 = q[1] - p[1], a2 = q[2] - p[2];
    const float b0 = s[0] - p[0], b1 = s[1] - p[1], b2 = s[2] - p[2];
    normal[0] = a1 * b2 - a2 * b1;
    normal[1] = a2 * b0 - a0 * b2;
    normal[2] = a0 * b1 - a1 * b0;
}

static void vertex_normal(const modal_normals_two_stage_task *task, const float *face_normals,
                          int64_t v, float *normal)
{
    float sum[3] = {0.0f, 0.0f, 0.0f};
    for (int64_t k = task->face_offsets[v]; k < task->face_offsets[v + 1]; k++)
        for (int i = 0; i < 3; i++) sum[i] += face_normals[3 * (int64_t)task->faces[k] + i];
    /* scaled by the largest component first: squares neither overflow nor underflow */
    const float largest = fmaxf(fabsf(sum[0]), fmaxf(fabsf(sum[1]), fabsf(sum[2])));
    if (largest == 0.0f) {
        normal[0] = normal[1] = normal[2] = 0.0f;
        return;
    }
    for (int i = 0; i < 3; i++) sum[i] /= largest;
    const float inverse = 1.0f / sqrtf(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    for (int i = 0; i < 3; i++) normal[i] = sum[i] * inverse;
}

modal_status modal_normals_two_stage_cpu(const modal_normals_two_stage_task *task,
                                         modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int parallel = task->n_triangles > 4096;
#pragma omp parallel if (parallel)
    for (int64_t c = 0; c < task->n_columns; c++) {
        const float *x = task->positions + 3 * c * task->n_vertices;
        float *face_normals = task->face_normals + 3 * c * task->n_triangles;
        float *normals = task->normals + 3 * c * task->n_vertices;
#pragma omp for schedule(static)
        for (int64_t t = 0; t < task->n_triangles; t++)
            face_normal(x, task->triangles + 3 * t, face_normals + 3 * t);
#pragma omp for schedule(static)
        for (int64_t v = 0; v < task->n_vertices; v++)
            vertex_normal(task, face_normals, v, normals + 3 * v);
    }
    return MODAL_OK;
}
