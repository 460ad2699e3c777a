/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/matrix_layout.h"

#include <math.h>

#include "kernels/modal_sum/modal_sum.h"
#include "lib/base/memory.h"
#include "tests/bench/worse.h"

enum { CHECKED = 4096 };

matrix_layout matrix_layout_of(matrix_kind kind, int64_t n_vertices, int n_modes, int paper_k)
{
    matrix_layout l = {.kind = kind, .n_vertices = n_vertices, .n_modes = n_modes};
    switch (kind) {
    case MATRIX_TILES: l.floats = (n_vertices + 31) / 32 * 96 * n_modes; break;
    case MATRIX_PAPER:
        l.paper = paper_layout_of(paper_k, n_modes);
        l.floats = paper_layout_floats(&l.paper, 3 * n_vertices);
        break;
    default: l.floats = 3 * n_vertices * n_modes; break;
    }
    l.floats = (l.floats + 31) / 32 * 32;
    return l;
}

static int64_t index_of(const matrix_layout *l, int64_t row, int k)
{
    const int64_t v = row / 3;
    switch (l->kind) {
    case MATRIX_TILES: return ((v / 32 * l->n_modes + k) * 3 + row % 3) * 32 + v % 32;
    case MATRIX_ROWS: return row * l->n_modes + k;
    case MATRIX_COLUMNS: return (int64_t)k * 3 * l->n_vertices + row;
    default: return paper_layout_index(&l->paper, row, k);
    }
}

/* Vertices [first, first + count) as tiles. */
static modal_status fetch(bench_side *side, const matrix_layout *l, const float *U, int64_t first,
                          int64_t count, float *raw, float *tiles, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t rows = 3 * count;
    const int64_t begin = index_of(l, 3 * first, 0);
    if (l->kind == MATRIX_COLUMNS) {
        for (int k = 0; k < l->n_modes; k++)
            MODAL_TRY(bench_from_device(side, raw + k * rows, U + index_of(l, 3 * first, k), 4 * rows,
                                        err));
    } else {
        /* the last number of the last row is the last in memory, in tiles, too */
        const int64_t end = index_of(l, 3 * first + rows - 1, l->n_modes - 1) + 1;
        MODAL_TRY(bench_from_device(side, raw, U + begin, 4 * (end - begin), err));
    }
    for (int64_t v = 0; v < count; v++)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < l->n_modes; k++)
                tiles[((v / 32 * l->n_modes + k) * 3 + i) * 32 + v % 32] =
                    raw[l->kind == MATRIX_COLUMNS ? k * rows + 3 * v + i
                                                  : index_of(l, 3 * (first + v) + i, k) - begin];
done:
    return status;
}

modal_status matrix_tiles(bench_side *side, const matrix_layout *layout, const float *U, float **tiles,
                          modal_error *err)
{
    modal_status status = MODAL_OK;
    float *raw = NULL;
    MODAL_TRY(modal_alloc_zero(tiles, (layout->n_vertices + 31) / 32 * 96 * layout->n_modes,
                               sizeof **tiles, "U", err));
    MODAL_TRY(modal_alloc(&raw, layout->floats, sizeof *raw, "U", err));
    MODAL_TRY(fetch(side, layout, U, 0, layout->n_vertices, raw, *tiles, err));
done:
    modal_free(&raw);
    return status;
}

modal_status matrix_check(modal_bench *b, bench_side *side, const matrix_layout *layout,
                          const float *U, const float *q, int64_t n_columns, const float *u, int step,
                          double unit, double *error, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = layout->n_vertices, middle = n / 2 / 32 * 32, last = (n - CHECKED) / 32 * 32;
    const int r = layout->n_modes;
    float *raw = NULL, *tiles = NULL, *expected = NULL, *tolerance = NULL, *got = NULL, *h_q = NULL;
    const int64_t most = n > 3 * CHECKED ? CHECKED + 32 : n, padded = (most + 31) / 32 * 32;
    /* twice the floats: padding of the paper's rows and warps */
    MODAL_TRY(modal_alloc(&raw, 3 * padded * (2 * (int64_t)r + 32), sizeof *raw, "check", err));
    MODAL_TRY(modal_alloc_zero(&tiles, 3 * padded * r, sizeof *tiles, "check", err));
    MODAL_TRY(modal_alloc(&expected, 3 * padded, sizeof *expected, "check", err));
    MODAL_TRY(modal_alloc(&tolerance, 3 * padded, sizeof *tolerance, "check", err));
    MODAL_TRY(modal_alloc(&got, 4 * padded, sizeof *got, "check", err));
    MODAL_TRY(modal_alloc(&h_q, 2 * r, sizeof *h_q, "check", err));
    *error = 0.0;
    for (int part = 0; part < (n > 3 * CHECKED ? 3 : 1); part++) {
        const int64_t first = part == 0 ? 0 : part == 1 ? middle : last;
        int64_t count = n > 3 * CHECKED ? CHECKED : n;
        if (part == 2) count = n - last; /* up to 31 more */
        MODAL_TRY(fetch(side, layout, U, first, count, raw, tiles, err));
        for (int end = 0; end < (n_columns > 1 ? 2 : 1); end++) {
            const int64_t column = end ? n_columns - 1 : 0;
            MODAL_TRY(bench_from_device(side, h_q, q + column * r, 4 * r, err));
            modal_sum_task task = {count, 1, r, tiles, h_q, expected};
            MODAL_TRY(b->ref.kernels->modal_sum(&task, NULL, err));
            /* S by the same operation on absolute values */
            for (int64_t i = 0; i < (count + 31) / 32 * 96 * r; i++) raw[i] = fabsf(tiles[i]);
            for (int k = 0; k < r; k++) h_q[k] = fabsf(h_q[k]);
            task.modal_matrix = raw;
            task.u = tolerance;
            MODAL_TRY(b->ref.kernels->modal_sum(&task, NULL, err));
            for (int64_t i = 0; i < 3 * count; i++)
                tolerance[i] *= (float)(2.0 * (r + 2) * unit);
            MODAL_TRY(bench_from_device(side, got, u + (column * n + first) * step, 4 * step * count, err));
            const double worst = bench_error(3 * count, got, step, expected, tolerance);
            *error = bench_worse(*error, worst);
        }
    }
done:
    modal_free(&raw);
    modal_free(&tiles);
    modal_free(&expected);
    modal_free(&tolerance);
    modal_free(&got);
    modal_free(&h_q);
    return status;
}
