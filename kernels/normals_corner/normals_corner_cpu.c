/* SPDX-License-Identifier: Apache-2.0 */
/* A lane is a vertex of a tile; its ring is read row by row (kernels/curvature_tensor/curvature_simd.h). Compiled
 * without contraction into fused multiply-adds, so that all instruction sets give the same bytes. */
#include "kernels/normals_corner/normals_corner.h"

#include "kernels/curvature_tensor/curvature_cpu.h"

#define CURVATURE_TEMPLATE "kernels/normals_corner/normals_corner_simd.h"
#include "kernels/curvature_tensor/curvature_sets.h"

static void make_records(const void *task, int64_t column, int64_t begin, int64_t end, float *records)
{
    const modal_normals_corner_task *t = task;
    curvature_pack(t->positions + 3 * column * t->n_vertices, NULL, t->scale, begin, end, records);
}

modal_status modal_normals_corner_cpu(const modal_normals_corner_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream;
    const modal_status status =
        curvature_run(task, task->n_vertices, task->n_columns, 4, make_records, CURVATURE_CHOOSE(normals_of_tiles), err);
    if (status == MODAL_OK) modal_normals_corner_records(task);
    return status;
}
