/* SPDX-License-Identifier: Apache-2.0 */
/* As kernels/curvature_tensor/curvature_tensor_cpu.c. */
#include "kernels/curvature_derivative/curvature_derivative.h"

#include "kernels/curvature_tensor/curvature_cpu.h"

#define CURVATURE_TEMPLATE "kernels/curvature_derivative/curvature_derivative_simd.h"
#include "kernels/curvature_tensor/curvature_sets.h"

static void make_records(const void *pointer, int64_t column, int64_t begin, int64_t end, float *records)
{
    const modal_curvature_derivative_task *task = pointer;
    const modal_curvature_surface *s = &task->surface;
    const int64_t first = 3 * column * s->n_vertices;
    const float *x = s->positions + first, *n = s->normals + first, *t = task->tensors + first;
    const float inverse = 1.0f / s->scale;
    for (int64_t v = begin; v < end; v++) {
        float *r = records + 12 * v;
        for (int i = 0; i < 3; i++) {
            r[i] = x[3 * v + i] * s->scale;
            r[4 + i] = n[3 * v + i];
            r[4 * i + 3] = t[3 * v + i] * inverse;
        }
        r[8] = r[11], r[9] = r[10] = r[11] = 0.0f;
    }
}

modal_status modal_curvature_derivative_cpu(const modal_curvature_derivative_task *task, modal_stream *stream,
                                            modal_error *err)
{
    (void)stream;
    return curvature_run(task, task->surface.n_vertices, task->surface.n_columns, 12, make_records,
                         CURVATURE_CHOOSE(derivatives_of_tiles), err);
}
