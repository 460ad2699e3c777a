/* SPDX-License-Identifier: Apache-2.0 */
/* What a modal matrix of 16 bits would gain and cost: the time of U q, and the largest error over the largest displacement. */
#include <float.h>
#include <math.h>

#include "kernels/modal_sum/modal_sum.h"
#include "lib/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/opponents/opponents.h"

#ifdef MODAL_HAVE_CUDA
enum { MATRICES = 4 }; /* taken in turn, so that none is in a cache */

typedef struct half_case {
    bench_side *side;
    int64_t n;
    int r;
    void *matrices[MATRICES];
    float *q, *u;
} half_case;

static modal_status call_half(void *context, int64_t k, modal_error *err)
{
    const half_case *c = context;
    return half_product(c->n, c->r, c->matrices[k % MATRICES], c->q, c->u, c->side->stream, err);
}

static modal_status call_ours(void *context, int64_t k, modal_error *err)
{
    const half_case *c = context;
    const modal_sum_task task = {c->n, 1, c->r, bench_set(c->side, 3 * c->n * c->r, k), c->q, c->u};
    return c->side->device.kernels->modal_sum(&task, c->side->stream, err);
}

/* Largest |half - float| over the largest |float|, of matrix 0; and over 2^-11 sum |U| |q|, which rounding of U alone can make, and that of sums. */
static modal_status compare(modal_bench *b, half_case *c, double *relative, double *error, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t rows = 3 * c->n, floats = rows * c->r;
    float *U = NULL, *u = NULL, *got = NULL, *bound = NULL, *q = NULL;
    double largest = 0.0, difference = 0.0;
    MODAL_TRY(modal_alloc(&U, floats, sizeof *U, "check", err));
    MODAL_TRY(modal_alloc(&u, rows, sizeof *u, "check", err));
    MODAL_TRY(modal_alloc(&got, rows, sizeof *got, "check", err));
    MODAL_TRY(modal_alloc(&bound, rows, sizeof *bound, "check", err));
    MODAL_TRY(modal_alloc(&q, c->r, sizeof *q, "check", err));
    MODAL_TRY(bench_from_device(c->side, U, bench_set(c->side, floats, 0), 4 * floats, err));
    MODAL_TRY(bench_from_device(c->side, q, c->q, 4 * c->r, err));
    MODAL_TRY(bench_from_device(c->side, got, c->u, 4 * rows, err));
    modal_sum_task task = {c->n, 1, c->r, U, q, u};
    MODAL_TRY(b->ref.kernels->modal_sum(&task, NULL, err));
    for (int64_t i = 0; i < floats; i++) U[i] = fabsf(U[i]);
    for (int k = 0; k < c->r; k++) q[k] = fabsf(q[k]);
    task.u = bound;
    MODAL_TRY(b->ref.kernels->modal_sum(&task, NULL, err));
    for (int64_t i = 0; i < rows; i++) {
        bound[i] *= 0x1p-11f + 2.0f * (float)(c->r + 2) * FLT_EPSILON / 2;
        largest = fmax(largest, fabs(u[i]));
        difference = bench_worse(difference, fabs((double)got[i] - u[i]));
    }
    *error = bench_error(rows, got, 3, u, bound);
    *relative = difference / largest;
done:
    modal_free(&U);
    modal_free(&u);
    modal_free(&got);
    modal_free(&bound);
    modal_free(&q);
    return status;
}

static modal_status measure(modal_bench *b, half_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double n = (double)c->n;
    const int64_t floats = 3 * c->n * c->r;
    bench_row row = {.side = c->side, .n_vertices = c->n, .n_columns = 1, .n_objects = 1, .n_modes = c->r, .tolerance = "2^-11 sum |U||q|"};
    if (floats > c->side->pool_floats) goto done;
    for (int half = 0; half < 2; half++) {
        row.name = half ? "a modal matrix of 16 bits" : "modal_sum";
        row.ours = !half;
        row.bytes = (half ? 6.0 : 12.0) * n * c->r + 12.0 * n;
        bench_call *call = half ? call_half : call_ours;
        for (int i = 0; half && i < MATRICES; i++) {
            MODAL_TRY(bench_to_device(c->side, &c->matrices[i], NULL, 2 * floats, "16 bits", err));
            MODAL_TRY(half_pack(c->n, c->r, bench_set(c->side, floats, i), c->matrices[i], c->side->stream, err));
        }
        MODAL_TRY(bench_poison(c->side, c->u, 12 * c->n, err));
        MODAL_TRY(call(c, 0, err));
        MODAL_TRY(compare(b, c, &row.relative, &row.error, err));
        MODAL_TRY(bench_measure(b, c->side, call, c, &row.time, err));
        MODAL_TRY(bench_row_add(b, &row, err));
        bench_print(b, "     error over the largest displacement: %.2g\n", row.relative);
    }
done:
    for (int i = 0; i < MATRICES; i++) bench_free(c->side, &c->matrices[i]);
    return status;
}

modal_status bench_half(modal_bench *b, modal_error *err)
{
    static const int ranks[] = {16, 32};
    modal_status status = MODAL_OK;
    half_case c = {.side = &b->gpu, .n = b->quick ? 12800 : 1000064}; /* a multiple of 128 */
    if (!b->gpu.present) return MODAL_OK;
    bench_table(b, "16 bits", "U of 16 bits");
    bench_headings(b);
    MODAL_TRY(bench_random_on(c.side, &c.q, 32, 5, err));
    MODAL_TRY(bench_to_device(c.side, &c.u, NULL, 12 * c.n, "u", err));
    for (int i = 0; i < 2; i++) {
        c.r = ranks[i];
        MODAL_TRY(measure(b, &c, err));
    }
done:
    bench_free(c.side, &c.q);
    bench_free(c.side, &c.u);
    return status;
}
#else
modal_status bench_half(modal_bench *b, modal_error *err)
{
    (void)b, (void)err;
    return MODAL_OK;
}
#endif
