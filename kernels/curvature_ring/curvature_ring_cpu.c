/* SPDX-License-Identifier: Apache-2.0 */
/* As kernels/curvature_tensor/curvature_tensor_cpu.c. */
#include "kernels/curvature_ring/curvature_ring.h"

#include "kernels/curvature_tensor/curvature_cpu.h"

#define CURVATURE_TEMPLATE "kernels/curvature_ring/curvature_ring_simd.h"
#include "kernels/curvature_tensor/curvature_sets.h"

static void make_records(const void *task, int64_t column, int64_t begin, int64_t end, float *records)
{
    const modal_curvature_surface *s = &((const modal_curvature_ring_task *)task)->surface;
    const int64_t first = 3 * column * s->n_vertices;
    curvature_pack(s->positions + first, s->normals + first, s->scale, begin, end, records);
}

modal_status modal_curvature_ring_cpu(const modal_curvature_ring_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_curvature_ring_task inner = *task;
    inner.output.areas = NULL;
    return curvature_run(&inner, task->surface.n_vertices, task->surface.n_columns, 8, make_records,
                         CURVATURE_CHOOSE(rings_of_tiles), err);
}
