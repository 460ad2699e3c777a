/* SPDX-License-Identifier: Apache-2.0 */
/* Many frames of one object at once: U q becomes a matrix product. */
#include <float.h>
#include <string.h>

#include "kernels/modal_sum/modal_sum.h"
#include "lib/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/matrix_layout.h"
#include "tests/bench/opponents/opponents.h"

typedef enum batch_way { OURS, SGEMM, SGEMM_TF32, CUTLASS, PAPER_LOOP, OPENBLAS_SGEMM } batch_way;

typedef struct batch {
    modal_bench *b;
    bench_side *side;
    batch_way way;
    matrix_layout layout;
    int64_t n_columns;
    const float *q;
    float *u;
} batch;

static modal_status call_batch(void *context, int64_t k, modal_error *err)
{
    const batch *p = context;
    const int64_t n = p->layout.n_vertices;
    const int r = p->layout.n_modes;
    const float *U = bench_set(p->side, p->layout.floats, k);
    modal_status status = MODAL_OK;
    switch (p->way) {
    case OURS:
        return p->side->device.kernels->modal_sum(
            &(modal_sum_task){n, p->n_columns, r, U, p->q, p->u}, p->side->stream, err);
#ifdef MODAL_HAVE_CUDA
    case SGEMM:
    case SGEMM_TF32:
        return cublas_sgemm(p->way == SGEMM_TF32, 3 * n, r, p->n_columns, U, p->q, p->u, p->side->stream,
                            err);
#ifdef MODAL_HAVE_CUTLASS
    case CUTLASS: return cutlass_sgemm(3 * n, r, p->n_columns, U, p->q, p->u, p->side->stream, err);
#endif
    case PAPER_LOOP:
        for (int64_t c = 0; c < p->n_columns; c++)
            MODAL_TRY(paper_single(&p->layout.paper, n, U, p->q + c * r, p->u + 4 * n * c,
                                   p->side->stream, err));
        goto done;
#endif
    default: openblas_sgemm(3 * n, r, p->n_columns, U, p->q, p->u); goto done;
    }
done:
    return status;
}

static modal_status measure(batch *p, const char *name, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = p->layout.n_vertices;
    const int step = p->way == PAPER_LOOP ? 4 : 3, r = p->layout.n_modes;
    const double columns = (double)p->n_columns;
    bench_row row = {.name = name, .ours = p->way == OURS, .side = p->side, .n_vertices = n,
                     .n_columns = p->n_columns, .n_objects = 1, .n_modes = r,
                     .bytes = 12.0 * (double)n * (r + columns) + 4.0 * r * columns,
                     .tolerance = p->way == SGEMM_TF32 ? MATRIX_TOLERANCE_TF32 : MATRIX_TOLERANCE};
    MODAL_TRY(bench_poison(p->side, p->u, 4 * step * n * p->n_columns, err));
    MODAL_TRY(call_batch(p, 0, err));
    MODAL_TRY(matrix_check(p->b, p->side, &p->layout, bench_set(p->side, p->layout.floats, 0), p->q,
                           p->n_columns, p->u, step, p->way == SGEMM_TF32 ? 0x1p-11 : FLT_EPSILON / 2,
                           &row.error, err));
    MODAL_TRY(bench_measure(p->b, p->side, call_batch, p, &row.time, err));
    MODAL_TRY(bench_row_add(p->b, &row, err));
done:
    return status;
}

static modal_status run_side(modal_bench *b, bench_side *side, int64_t n, int r, int64_t least,
                             int64_t most, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *q = NULL, *u = NULL;
    const int step = side->is_cuda ? 4 : 3;
    MODAL_TRY(bench_random_on(side, &q, most * r, 6, err));
    MODAL_TRY(bench_to_device(side, &u, NULL, 4 * step * n * most, "u", err));
    for (int64_t columns = least; columns <= most; columns *= 2) {
        batch p = {b, side, OURS, matrix_layout_of(MATRIX_TILES, n, r, 0), columns, q, u};
        if (p.layout.floats > side->pool_floats) break;
        b->ours = 0.0;
        MODAL_TRY(measure(&p, "modal_sum", err));
        p.layout = matrix_layout_of(MATRIX_COLUMNS, n, r, 0);
        p.way = side->is_cuda ? SGEMM : OPENBLAS_SGEMM;
        if (side->is_cuda ? opponents_have_cublas() : opponents_have_openblas())
            MODAL_TRY(measure(&p, side->is_cuda ? "cublasSgemm" : "OpenBLAS sgemm", err));
        if (!side->is_cuda) continue;
        p.way = SGEMM_TF32;
        if (opponents_have_cublas()) MODAL_TRY(measure(&p, "cublasSgemm, TF32 (3 digits)", err));
#ifdef MODAL_HAVE_CUTLASS
        p.way = CUTLASS;
        MODAL_TRY(measure(&p, "CUTLASS, 3xTF32", err));
#endif
        if (r > 32 || (columns != 1 && columns != 16 && columns != most)) continue; /* 32: the paper's limit */
        p.way = PAPER_LOOP;
        p.layout = matrix_layout_of(MATRIX_PAPER, n, r, 4);
        MODAL_TRY(measure(&p, "paper 4.1, a launch a frame", err));
    }
done:
    bench_free(side, &q);
    bench_free(side, &u);
    return status;
}

modal_status bench_batch(modal_bench *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t most = b->quick ? 4 : 128, small = b->quick ? 5000 : 100000;
    const int64_t large = b->quick ? 5000 : 1000000;
#ifndef MODAL_HAVE_CUTLASS
    if (b->gpu.present) bench_absent(b, "CUTLASS", "built without its headers (MODAL_CUTLASS)");
#endif
    bench_table(b, "batch", "Many frames at once: U q for 1 to 128 columns; 10,000 objects of one shape");
    bench_headings(b);
    if (b->gpu.present) {
        MODAL_TRY(run_side(b, &b->gpu, large, 32, 1, most, err));
        MODAL_TRY(run_side(b, &b->gpu, small, 16, 1, most, err));
        MODAL_TRY(run_side(b, &b->gpu, large, 8, most / 2, most / 2, err));
        MODAL_TRY(run_side(b, &b->gpu, large, 64, most / 2, most / 2, err));
        MODAL_TRY(run_side(b, &b->gpu, small, 200, most / 2, most / 2, err));
        const int64_t objects = b->quick ? 16 : 10000; /* that share one shape of 1,000 vertices */
        MODAL_TRY(run_side(b, &b->gpu, 1000, 16, objects, objects, err));
    }
    MODAL_TRY(run_side(b, &b->cpu, small, 32, 1, most, err));
    MODAL_TRY(run_side(b, &b->cpu, small, 8, most / 2, most / 2, err));
    MODAL_TRY(run_side(b, &b->cpu, small, 200, most / 2, most / 2, err));
done:
    return status;
}
