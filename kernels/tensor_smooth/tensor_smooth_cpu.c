/* SPDX-License-Identifier: Apache-2.0 */
/* As kernels/curvature_tensor/curvature_tensor_cpu.c. */
#include "kernels/tensor_smooth/tensor_smooth.h"

#include "kernels/curvature_tensor/curvature_cpu.h"

#define CURVATURE_TEMPLATE "kernels/tensor_smooth/tensor_smooth_simd.h"
#include "kernels/curvature_tensor/curvature_sets.h"

static void make_records(const void *pointer, int64_t column, int64_t begin, int64_t end, float *records)
{
    const modal_tensor_smooth_task *task = pointer;
    const int64_t first = column * task->n_vertices;
    for (int64_t v = begin; v < end; v++) {
        float *r = records + 12 * v;
        for (int i = 0; i < 3; i++) {
            r[i] = task->positions[3 * (first + v) + i];
            r[4 + i] = task->normals[3 * (first + v) + i];
            r[7 + i] = task->tensors[3 * (first + v) + i];
        }
        r[3] = task->areas[first + v], r[10] = r[11] = 0.0f;
    }
}

modal_status modal_tensor_smooth_cpu(const modal_tensor_smooth_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_tensor_smooth_task inner = *task;
    inner.output.areas = NULL;
    return curvature_run(&inner, task->n_vertices, task->n_columns, 12, make_records, CURVATURE_CHOOSE(smooth_tiles),
                         err);
}
