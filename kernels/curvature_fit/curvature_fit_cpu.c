/* SPDX-License-Identifier: Apache-2.0 */
/* Normal equations in double precision, a vertex a lane: their entries are moments, so that a point costs 15 additions
 * of products (degree 4: 45) instead of 21 (120). Compiled without contraction into fused multiply-adds, so that all
 * instruction sets give the same bytes. */
#include "kernels/curvature_fit/curvature_fit.h"

#include "kernels/curvature_tensor/curvature_cpu.h"

#define FIT_PRAGMA(text) _Pragma(#text)
#define FIT_UNROLL(n) FIT_PRAGMA(GCC unroll n)
#include "kernels/curvature_fit/fit_shape.h"
#define CURVATURE_TEMPLATE "kernels/curvature_fit/curvature_fit_simd.h"
#include "kernels/curvature_tensor/curvature_sets.h"

static void make_records(const void *task, int64_t column, int64_t begin, int64_t end, float *records)
{
    (void)task, (void)column, (void)begin, (void)end, (void)records; /* positions are read where they are */
}

modal_status modal_curvature_fit_cpu(const modal_curvature_fit_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_curvature_fit_task inner = *task;
    inner.output.areas = NULL;
    if (task->degree != 2 && task->degree != 4)
        return modal_error_set(err, MODAL_ERROR_USAGE, "curvature_fit: degree %d is not 2 or 4", task->degree);
    return curvature_run(&inner, task->n_vertices, task->n_columns, 0, make_records, CURVATURE_CHOOSE(fit_tiles), err);
}
