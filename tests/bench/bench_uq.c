/* SPDX-License-Identifier: Apache-2.0 */
/* u = U q of one object: table 1 of the 2020 paper (products a thread), table 5 (n and r, CPU
 * against GPU) with the libraries beside, and the sizes of table 4.4 of the 2015 thesis. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/modal_sum/modal_sum.h"
#include "lib/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/matrix_layout.h"
#include "tests/bench/opponents/opponents.h"

static const double UNIT = FLT_EPSILON / 2;

typedef enum product_kind { OURS, PAPER, CUBLAS, OPENBLAS } product_kind;

typedef struct product {
    modal_bench *b;
    bench_side *side;
    product_kind kind;
    matrix_layout layout;
    int hot;
    const float *q;
    float *u;
    float *cold;    /* or NULL: outputs that are written in turn, so that none is in a cache... */
    int64_t n_cold; /* ... so many, of 4 n floats */
} product;

static modal_status call_product(void *context, int64_t k, modal_error *err)
{
    const product *p = context;
    const int64_t n = p->layout.n_vertices;
    const int r = p->layout.n_modes, rows = p->layout.kind == MATRIX_ROWS;
    const float *U = bench_set(p->side, p->layout.floats, p->hot ? 0 : k);
    float *u = p->cold ? p->cold + k % p->n_cold * 4 * n : p->u;
    switch (p->kind) {
    case OURS:
        return p->side->device.kernels->modal_sum(&(modal_sum_task){n, 1, r, U, p->q, u},
                                                  p->side->stream, err);
#ifdef MODAL_HAVE_CUDA
    case PAPER: return paper_single(&p->layout.paper, n, U, p->q, u, p->side->stream, err);
    case CUBLAS:
        return cublas_sgemv(rows ? CUBLAS_ROWS : CUBLAS_COLUMNS, 3 * n, r, U, p->q, u,
                            p->side->stream, err);
#endif
    default: openblas_sgemv(rows, 3 * n, r, U, p->q, u); return MODAL_OK;
    }
}

/* Checks, times and adds a row. */
static modal_status measure(product *p, const char *name, int hidden, bench_time *time,
                            modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = p->layout.n_vertices;
    const int step = p->kind == PAPER ? 4 : 3;
    bench_row row = {.name = name, .ours = p->kind == OURS, .hidden = hidden, .side = p->side,
                     .n_vertices = n, .n_columns = 1, .n_objects = 1, .n_modes = p->layout.n_modes,
                     .bytes = 12.0 * (double)n * (p->layout.n_modes + 1) + 4.0 * p->layout.n_modes,
                     .tolerance = MATRIX_TOLERANCE};
    float *first = p->cold ? p->cold : p->u; /* what call 0 writes */
    MODAL_TRY(bench_poison(p->side, first, 4 * step * n, err));
    MODAL_TRY(call_product(p, 0, err));
    MODAL_TRY(matrix_check(p->b, p->side, &p->layout, bench_set(p->side, p->layout.floats, 0), p->q, 1,
                           first, step, UNIT, &row.error, err));
    MODAL_TRY(bench_measure(p->b, p->side, call_product, p, &row.time, err));
    *time = row.time;
    MODAL_TRY(bench_row_add(p->b, &row, err));
done:
    return status;
}

static int fits(const bench_side *side, const matrix_layout *layout)
{
    return side->present && layout->floats <= side->pool_floats;
}

/* ---- table 1 ---- */

static modal_status table_1(modal_bench *b, modal_error *err)
{
    static const int products[] = {1, 4, 8, 16, 32}, ranks[] = {16, 32};
    modal_status status = MODAL_OK;
    const int64_t n = b->quick ? 10000 : 1000000;
    float *q = NULL, *u = NULL, *cold = NULL;
    bench_side *gpu = &b->gpu;
    bench_time time;
    const int64_t n_cold = BENCH_CACHE_BYTES / (16 * n) + 1;
    if (!gpu->present) goto done;
    bench_table(b, "table 1", "Table 1: U q with k products a thread (paper: 4 is best)");
    MODAL_TRY(bench_random_on(gpu, &q, 32, 5, err));
    MODAL_TRY(bench_to_device(gpu, &u, NULL, 16 * n, "u", err));
    MODAL_TRY(bench_to_device(gpu, &cold, NULL, 16 * n * n_cold, "cold outputs", err));
    for (int i = 0; i < 2; i++) {
        bench_headings(b);
        product p = {b, gpu, OURS, matrix_layout_of(MATRIX_TILES, n, ranks[i], 0), 0, q, u};
        if (!fits(gpu, &p.layout)) continue;
        MODAL_TRY(measure(&p, "modal_sum", 0, &time, err));
        p.kind = PAPER;
        for (int j = 0; j < 5; j++) {
            char name[32];
            snprintf(name, sizeof name, "paper 4.1, k = %d", products[j]);
            p.layout = matrix_layout_of(MATRIX_PAPER, n, ranks[i], products[j]);
            if (fits(gpu, &p.layout)) MODAL_TRY(measure(&p, name, 0, &time, err));
        }
        p.kind = CUBLAS;
        for (int j = 0; j < 2 && opponents_have_cublas(); j++) {
            p.layout = matrix_layout_of(j ? MATRIX_COLUMNS : MATRIX_ROWS, n, ranks[i], 0);
            MODAL_TRY(measure(&p, j ? "cublasSgemv, column-major" : "cublasSgemv, row-major", 0, &time, err));
        }
        product colder = {b, gpu, OURS, matrix_layout_of(MATRIX_TILES, n, ranks[i], 0), 0, q, u, cold, n_cold};
        MODAL_TRY(measure(&colder, "modal_sum, outputs cold, too", 0, &time, err));
        colder.kind = CUBLAS;
        for (int j = 0; j < 2 && opponents_have_cublas(); j++) {
            colder.layout = matrix_layout_of(j ? MATRIX_COLUMNS : MATRIX_ROWS, n, ranks[i], 0);
            MODAL_TRY(measure(&colder, j ? "cublasSgemv, column-major, cold, too" : "cublasSgemv, row-major, cold, too", 0, &time, err));
        }
    }
done:
    bench_free(gpu, &cold);
    bench_free(gpu, &q);
    bench_free(gpu, &u);
    return status;
}

/* ---- table 5, and table 4.4 of the thesis of 2015 ---- */

enum { WAYS = 8 };
static const struct way {
    product_kind kind;
    matrix_kind matrix;
    int on_gpu, hot;
    const char *name, *heading;
} ways[WAYS] = {
    {OURS, MATRIX_TILES, 1, 0, "modal_sum", "gpu ours"},
    {OURS, MATRIX_TILES, 1, 1, "modal_sum, hot", "hot"},
    {PAPER, MATRIX_PAPER, 1, 0, "paper 4.1", "paper"},
    {CUBLAS, MATRIX_ROWS, 1, 0, "cublasSgemv, row-major", "cuB rows"},
    {CUBLAS, MATRIX_COLUMNS, 1, 0, "cublasSgemv, column-major", "cuB cols"},
    {OURS, MATRIX_TILES, 0, 0, "modal_sum", "cpu ours"},
    {OPENBLAS, MATRIX_ROWS, 0, 0, "OpenBLAS sgemv, row-major", "OB rows"},
    {OPENBLAS, MATRIX_COLUMNS, 0, 0, "OpenBLAS sgemv, column-major", "OB cols"},
};

typedef struct arrays {
    float *q[2], *u[2]; /* of the CPU and the GPU */
} arrays;

/* One line: microseconds of every way, and what they mean. */
static modal_status line_of_sizes(modal_bench *b, int64_t n, int r, const arrays *a, modal_error *err)
{
    modal_status status = MODAL_OK;
    double seconds[WAYS] = {0};
    bench_print(b, "%9lld %3d |", (long long)n, r);
    for (int i = 0; i < WAYS; i++) {
        const struct way *w = &ways[i];
        bench_side *side = w->on_gpu ? &b->gpu : &b->cpu;
        const int built = w->kind == CUBLAS ? opponents_have_cublas()
                          : w->kind == OPENBLAS ? opponents_have_openblas() : 1;
        product p = {b, side, w->kind, matrix_layout_of(w->matrix, n, r, 4), w->hot, a->q[w->on_gpu],
                     a->u[w->on_gpu]};
        if (built && fits(side, &p.layout)) {
            bench_time time;
            MODAL_TRY(measure(&p, w->name, 1, &time, err));
            seconds[i] = time.median;
        }
        if (seconds[i] > 0.0)
            bench_print(b, " %9.1f", 1e6 * seconds[i]);
        else
            bench_print(b, " %9s", "-");
        if (i == 4 || i == 7) bench_print(b, " |");
    }
    const bench_side *side = seconds[0] > 0.0 ? &b->gpu : &b->cpu;
    const double ours = seconds[0] > 0.0 ? seconds[0] : seconds[5];
    if (ours > 0.0)
        bench_print(b, " %6.0f%%", 100.0 * 12.0 * (double)n * (r + 1) / ours / side->copy_rate);
    double cpu = seconds[5]; /* the best on the CPU */
    for (int i = 6; i < WAYS; i++)
        if (seconds[i] > 0.0 && seconds[i] < cpu) cpu = seconds[i];
    if (seconds[0] > 0.0 && cpu > 0.0) bench_print(b, " %8.1f", cpu / seconds[0]);
    bench_print(b, "\n");
done:
    return status;
}

typedef struct grid {
    const char *name, *title;
    int64_t least, most, factor; /* vertices: least, least * factor, ... */
    int first, step, n_ranks;
} grid;

static modal_status table_of_sizes(modal_bench *b, const grid *g, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t largest = b->quick ? 10 * g->least : g->most;
    arrays a = {0};
    bench_table(b, g->name, g->title);
    bench_print(b, "%9s %3s |", "vertices", "r");
    for (int i = 0; i < WAYS; i++) bench_print(b, " %9s%s", ways[i].heading, i == 4 || i == 7 ? " |" : "");
    bench_print(b, " %7s %8s\n", "% copy", "CPU/GPU");
    for (int i = 0; i < 2; i++) {
        bench_side *side = i ? &b->gpu : &b->cpu;
        if (!side->present) continue;
        MODAL_TRY(bench_random_on(side, &a.q[i], 32, 5, err));
        MODAL_TRY(bench_to_device(side, &a.u[i], NULL, 16 * largest, "u", err));
    }
    for (int64_t n = g->least; n <= largest; n *= g->factor)
        for (int i = 0; i < g->n_ranks; i++) {
            const int r = g->first + i * g->step;
            if (12 * n * r > 4 * b->cpu.pool_floats) bench_absent(b, "CPU, U q of one object: the largest sizes", "too little main memory");
            MODAL_TRY(line_of_sizes(b, n, r, &a, err));
        }
done:
    for (int i = 0; i < 2; i++) {
        bench_side *side = i ? &b->gpu : &b->cpu;
        bench_free(side, &a.q[i]);
        bench_free(side, &a.u[i]);
    }
    return status;
}

modal_status bench_uq(modal_bench *b, modal_error *err)
{
    static const grid of_2020 = {"table 5", "Table 5: U q of one object, microseconds; CPU: the best of its columns", 1000, 10000000, 10, 5, 5, 6};
    static const grid of_2015 = {"thesis, table 4.4", "Table 4.4 of the thesis of 2015: the same for its sizes", 1 << 14, 1 << 22, 4, 10, 10, 3};
    modal_status status = MODAL_OK;
    MODAL_TRY(table_1(b, err));
    MODAL_TRY(bench_half(b, err));
    MODAL_TRY(table_of_sizes(b, &of_2020, err));
    if (!b->quick) MODAL_TRY(table_of_sizes(b, &of_2015, err));
done:
    return status;
}
