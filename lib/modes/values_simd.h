/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of rows.h over the values of a factor, included once an instruction set and kind of VALUE: double or
 * float, with KERNEL to name them (rows_simd.h says the rest). A register block is eight rows of eight columns;
 * every value is read once, in order. Solves are computed in double: floats are widened a tile at a time. */

/* Values as doubles: where they are, or in `room`. */
TARGET static inline const double *KERNEL(widen)(const VALUE *values, int64_t count, double *room)
{
    if (sizeof(VALUE) == sizeof(double)) return (const double *)(const void *)values;
    for (int64_t i = 0; i < count; i++) room[i] = (double)values[i];
    return room;
}

TARGET static void KERNEL(solve_diagonal)(const modal_panel *panel, const void *values, modal_row *x)
{
    const int n = panel->n_columns;
    const VALUE *next = values;
    double room[8 * MODAL_PANEL_COLUMNS];
    for (int first = 0; first < n; first += 8) {
        const int h = n - first < 8 ? n - first : 8;
        const double *v = KERNEL(widen)(next, h * (first + h), room);
        modal_row a[8];
        next += h * (first + h);
        if (h == 8) {
            modal_row a0 = x[first], a1 = x[first + 1], a2 = x[first + 2], a3 = x[first + 3];
            modal_row a4 = x[first + 4], a5 = x[first + 5], a6 = x[first + 6], a7 = x[first + 7];
            for (int k = 0; k < first; k++, v += 8) {
                const modal_row xk = x[k];
                a0 -= v[0] * xk, a1 -= v[1] * xk, a2 -= v[2] * xk, a3 -= v[3] * xk;
                a4 -= v[4] * xk, a5 -= v[5] * xk, a6 -= v[6] * xk, a7 -= v[7] * xk;
            }
            a[0] = a0, a[1] = a1, a[2] = a2, a[3] = a3, a[4] = a4, a[5] = a5, a[6] = a6, a[7] = a7;
        } else {
            for (int i = 0; i < h; i++) a[i] = x[first + i];
            for (int k = 0; k < first; k++, v += h)
                for (int i = 0; i < h; i++) a[i] -= v[i] * x[k];
        }
        for (int j = 0; j < h; j++, v += h) {
            a[j] *= v[j];
            for (int i = j + 1; i < h; i++) a[i] -= v[i] * a[j];
        }
        for (int i = 0; i < h; i++) x[first + i] = a[i];
    }
}

TARGET static void KERNEL(solve_diagonal_transposed)(const modal_panel *panel, const void *values,
                                                     modal_row *x)
{
    const int n = panel->n_columns;
    const VALUE *next = (const VALUE *)values + modal_panel_diagonal_size(n);
    double room[8 * MODAL_PANEL_COLUMNS];
    for (int first = (n - 1) / 8 * 8; first >= 0; first -= 8) {
        const int h = n - first < 8 ? n - first : 8;
        modal_row a[8] = {{0}};
        next -= h * (first + h);
        const double *v = KERNEL(widen)(next, h * (first + h), room);
        const double *triangle = v + h * first;
        for (int i = 0; i < h; i++) a[i] = x[first + i];
        for (int j = h - 1; j >= 0; j--) {
            for (int i = j + 1; i < h; i++) a[j] -= triangle[j * h + i] * a[i];
            a[j] *= triangle[j * h + j];
        }
        for (int i = 0; i < h; i++) x[first + i] = a[i];
        if (h == 8) {
            const modal_row a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
            const modal_row a4 = a[4], a5 = a[5], a6 = a[6], a7 = a[7];
            const double *u = v;
            for (int k = 0; k < first; k++, u += 8)
                x[k] -= ((u[0] * a0 + u[1] * a1) + (u[2] * a2 + u[3] * a3)) +
                        ((u[4] * a4 + u[5] * a5) + (u[6] * a6 + u[7] * a7));
        } else {
            for (int k = 0; k < first; k++)
                for (int i = 0; i < h; i++) x[k] -= v[k * h + i] * a[i];
        }
    }
}

TARGET static void KERNEL(update_below)(const modal_panel_task *task)
{
    const modal_panel *panel = task->panel;
    const int n = panel->n_columns;
    const int64_t n_below = panel->n_rows - n;
    const modal_row *x = task->y + panel->first;
    const VALUE *next = (const VALUE *)task->values + 8 * n * task->from;
    double room[8 * MODAL_PANEL_COLUMNS];
    for (int64_t tile = task->from; tile < task->to; tile++) {
        const int64_t *rows = task->rows + n + 8 * tile;
        const int h = n_below - 8 * tile < 8 ? (int)(n_below - 8 * tile) : 8;
        const double *v = KERNEL(widen)(next, h * n, room);
        next += h * n;
        modal_row a[8] = {{0}};
        if (h == 8) {
            modal_row a0 = a[0], a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
            for (int k = 0; k < n; k++, v += 8) {
                const modal_row xk = x[k];
                a0 += v[0] * xk, a1 += v[1] * xk, a2 += v[2] * xk, a3 += v[3] * xk;
                a4 += v[4] * xk, a5 += v[5] * xk, a6 += v[6] * xk, a7 += v[7] * xk;
            }
            a[0] = a0, a[1] = a1, a[2] = a2, a[3] = a3, a[4] = a4, a[5] = a5, a[6] = a6, a[7] = a7;
        } else {
            for (int k = 0; k < n; k++, v += h)
                for (int i = 0; i < h; i++) a[i] += v[i] * x[k];
        }
        for (int i = 0; i < h; i++) {
            modal_row *to = rows[i] < task->end ? task->y + rows[i]
                                                : task->outside + task->map[rows[i]];
            *to -= a[i];
        }
    }
}

TARGET static void KERNEL(gather_below)(const modal_panel_task *task)
{
    const modal_panel *panel = task->panel;
    const int n = panel->n_columns;
    const int64_t n_below = panel->n_rows - n;
    modal_row *x = task->outside;
    const VALUE *next = (const VALUE *)task->values + 8 * n * task->from;
    double room[8 * MODAL_PANEL_COLUMNS];
    for (int64_t tile = task->from; tile < task->to; tile++) {
        const int64_t *rows = task->rows + n + 8 * tile;
        const int h = n_below - 8 * tile < 8 ? (int)(n_below - 8 * tile) : 8;
        const double *v = KERNEL(widen)(next, h * n, room);
        next += h * n;
        modal_row a[8] = {{0}};
        for (int i = 0; i < h; i++) a[i] = task->y[rows[i]];
        if (h == 8) {
            const modal_row a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
            const modal_row a4 = a[4], a5 = a[5], a6 = a[6], a7 = a[7];
            for (int k = 0; k < n; k++, v += 8)
                x[k] -= ((v[0] * a0 + v[1] * a1) + (v[2] * a2 + v[3] * a3)) +
                        ((v[4] * a4 + v[5] * a5) + (v[6] * a6 + v[7] * a7));
        } else {
            for (int k = 0; k < n; k++, v += h)
                for (int i = 0; i < h; i++) x[k] -= v[i] * a[i];
        }
    }
}

typedef VALUE KERNEL(lanes) __attribute__((vector_size(8 * LANES), aligned(sizeof(VALUE)), may_alias));

enum { KERNEL(width) = (int)(8 * LANES / sizeof(VALUE)), KERNEL(block_rows) = KERNEL(width) * STRIPS };

/* c += or = a b over `depth` packed columns: the register block. */
TARGET static inline void KERNEL(register_block)(int64_t depth, const VALUE *a, const VALUE *b,
                                                 VALUE *c, int add)
{
    KERNEL(lanes) sum[COLUMNS][STRIPS];
#pragma GCC unroll 8
    for (int j = 0; j < COLUMNS; j++)
#pragma GCC unroll 4
        for (int i = 0; i < STRIPS; i++) sum[j][i] = (KERNEL(lanes)){0};
    for (int64_t k = 0; k < depth; k++, a += KERNEL(block_rows), b += COLUMNS) {
        KERNEL(lanes) column[STRIPS];
#pragma GCC unroll 4
        for (int i = 0; i < STRIPS; i++) column[i] = *(const KERNEL(lanes) *)(a + i * KERNEL(width));
#pragma GCC unroll 8
        for (int j = 0; j < COLUMNS; j++)
#pragma GCC unroll 4
            for (int i = 0; i < STRIPS; i++) sum[j][i] += column[i] * b[j];
    }
#pragma GCC unroll 8
    for (int j = 0; j < COLUMNS; j++)
#pragma GCC unroll 4
        for (int i = 0; i < STRIPS; i++) {
            KERNEL(lanes) *to = (KERNEL(lanes) *)(c + j * MODAL_TILE_ROWS + i * KERNEL(width));
            if (add)
                *to += sum[j][i];
            else
                *to = sum[j][i];
        }
}

/* to [ceil(count / height), depth, height]: blocks of `height` rows of the matrix whose element (i, k) is
 * from[i * row_step + k * column_step], its columns times `scale` or, NULL, as they are; rows past the last are 0. */
TARGET static inline void KERNEL(pack)(int height, int64_t count, int64_t depth, const VALUE *from, int64_t row_step,
                                       int64_t column_step, const double *scale, VALUE *to)
{
    for (int64_t i0 = 0; i0 < count; i0 += height, to += height * depth) {
        const int h = count - i0 < height ? (int)(count - i0) : height;
        const VALUE *first = from + i0 * row_step;
        if (h == height && row_step == 1) {
            for (int64_t k = 0; k < depth; k++) {
                const VALUE factor = scale ? (VALUE)scale[k] : 1;
                for (int i = 0; i < height; i++) to[k * height + i] = factor * first[k * column_step + i];
            }
            continue;
        }
        if (h < height) memset(to, 0, (size_t)(height * depth) * sizeof *to);
        for (int i = 0; i < h; i++)
            for (int64_t k = 0; k < depth; k++)
                to[k * height + i] = (scale ? (VALUE)scale[k] : 1) * first[i * row_step + k * column_step];
    }
}

TARGET static void KERNEL(pack_rows)(int64_t count, int64_t depth, const VALUE *from, int64_t row_step,
                                     int64_t column_step, VALUE *to)
{
    KERNEL(pack)(KERNEL(block_rows), count, depth, from, row_step, column_step, NULL, to);
}

TARGET static void KERNEL(pack_columns)(int64_t count, int64_t depth, const VALUE *from, int64_t row_step,
                                        int64_t column_step, const double *scale, VALUE *to)
{
    KERNEL(pack)(COLUMNS, count, depth, from, row_step, column_step, scale, to);
}

TARGET static void KERNEL(multiply)(int64_t ni, int64_t nj, int64_t depth, const VALUE *a, const VALUE *b, VALUE *c,
                                    int add)
{
    for (int64_t j0 = 0; j0 < nj; j0 += COLUMNS)
        for (int64_t i0 = 0; i0 < ni; i0 += KERNEL(block_rows))
            KERNEL(register_block)(depth, a + i0 * depth, b + j0 * depth, c + j0 * MODAL_TILE_ROWS + i0, add);
}

TARGET static void KERNEL(product)(int64_t ni, int64_t nj, int64_t width, const void *a_values,
                                   int64_t a_stride, const void *b_values, int64_t b_stride,
                                   const double *scale, void *c, void *room)
{
    const VALUE *a = a_values, *b = b_values;
    VALUE *pack = room, *pack_b = pack + MODAL_TILE_ROWS * MODAL_TILE_DEPTH;
    for (int64_t k0 = 0; k0 < width; k0 += MODAL_TILE_DEPTH) {
        const int64_t depth = width - k0 < MODAL_TILE_DEPTH ? width - k0 : MODAL_TILE_DEPTH;
        KERNEL(pack_rows)(ni, depth, a + k0 * a_stride, 1, a_stride, pack);
        KERNEL(pack_columns)(nj, depth, b + k0 * b_stride, 1, b_stride, scale ? scale + k0 : NULL, pack_b);
        KERNEL(multiply)(ni, nj, depth, pack, pack_b, c, k0 > 0);
    }
}

/* Two registers of rows of x at a time, COLUMNS columns of them. */
TARGET static void KERNEL(solve_right)(int64_t n_rows, int64_t n_columns, const void *triangle, int64_t stride,
                                       void *values, void *room)
{
    enum { HEIGHT = 2 * KERNEL(width) };
    const VALUE *l = triangle;
    VALUE *rows = room, *padded = rows + MODAL_PIVOT_BLOCK * MODAL_PIVOT_BLOCK;
    for (int64_t j = 0; j < n_columns; j++)
        for (int64_t k = 0; k < j; k++) rows[(j / COLUMNS * n_columns + k) * COLUMNS + j % COLUMNS] = l[k * stride + j];
    for (int64_t i0 = 0; i0 < n_rows; i0 += HEIGHT) {
        const int h = n_rows - i0 < HEIGHT ? (int)(n_rows - i0) : HEIGHT;
        VALUE *x = (VALUE *)values + i0;
        int64_t x_stride = stride;
        if (h < HEIGHT) {
            for (int64_t j = 0; j < n_columns; j++)
                for (int i = 0; i < HEIGHT; i++) padded[j * HEIGHT + i] = i < h ? x[j * stride + i] : 0;
            x = padded, x_stride = HEIGHT;
        }
        for (int64_t j0 = 0; j0 < n_columns; j0 += COLUMNS) {
            const VALUE *f = rows + j0 * n_columns;
            if (n_columns - j0 >= COLUMNS) {
                KERNEL(lanes) sum[COLUMNS][2];
#pragma GCC unroll 8
                for (int j = 0; j < COLUMNS; j++)
#pragma GCC unroll 2
                    for (int i = 0; i < 2; i++)
                        sum[j][i] = *(const KERNEL(lanes) *)(x + (j0 + j) * x_stride + i * KERNEL(width));
                for (int64_t k = 0; k < j0; k++, f += COLUMNS) {
                    KERNEL(lanes) a[2];
#pragma GCC unroll 2
                    for (int i = 0; i < 2; i++)
                        a[i] = *(const KERNEL(lanes) *)(x + k * x_stride + i * KERNEL(width));
#pragma GCC unroll 8
                    for (int j = 0; j < COLUMNS; j++)
#pragma GCC unroll 2
                        for (int i = 0; i < 2; i++) sum[j][i] -= f[j] * a[i];
                }
#pragma GCC unroll 8
                for (int k = 0; k < COLUMNS; k++)
#pragma GCC unroll 8
                    for (int j = k + 1; j < COLUMNS; j++)
#pragma GCC unroll 2
                        for (int i = 0; i < 2; i++) sum[j][i] -= f[COLUMNS * k + j] * sum[k][i];
#pragma GCC unroll 8
                for (int j = 0; j < COLUMNS; j++)
#pragma GCC unroll 2
                    for (int i = 0; i < 2; i++)
                        *(KERNEL(lanes) *)(x + (j0 + j) * x_stride + i * KERNEL(width)) = sum[j][i];
                continue;
            }
            for (int64_t j = j0; j < n_columns; j++)
                for (int64_t k = 0; k < j; k++)
                    for (int i = 0; i < 2; i++)
                        *(KERNEL(lanes) *)(x + j * x_stride + i * KERNEL(width)) -=
                            f[COLUMNS * k + j - j0] * *(const KERNEL(lanes) *)(x + k * x_stride + i * KERNEL(width));
        }
        for (int64_t j = 0; j < n_columns && h < HEIGHT; j++)
            for (int i = 0; i < h; i++) ((VALUE *)values)[i0 + j * stride + i] = padded[j * HEIGHT + i];
    }
}

/* Left-looking: a column is read and written once for every four before it. */
TARGET static double KERNEL(factor)(int64_t n_columns, int64_t n_rows, void *values, int64_t stride, double least,
                                    double *pivots)
{
    double lowest = 0;
    VALUE *x = values;
    for (int64_t j = 0; j < n_columns; j++) {
        VALUE *xj = x + j * stride;
        int64_t k = 0;
        for (; k + 4 <= j; k += 4) {
            const VALUE *a = x + k * stride, *b = a + stride, *c = b + stride, *d = c + stride;
            const VALUE fa = a[j] * (VALUE)pivots[k], fb = b[j] * (VALUE)pivots[k + 1];
            const VALUE fc = c[j] * (VALUE)pivots[k + 2], fd = d[j] * (VALUE)pivots[k + 3];
#pragma omp simd
            for (int64_t i = j; i < n_rows; i++) xj[i] -= (fa * a[i] + fb * b[i]) + (fc * c[i] + fd * d[i]);
        }
        for (; k < j; k++) {
            const VALUE *a = x + k * stride, fa = a[j] * (VALUE)pivots[k];
#pragma omp simd
            for (int64_t i = j; i < n_rows; i++) xj[i] -= fa * a[i];
        }
        VALUE pivot = xj[j];
        if (!(pivot >= (VALUE)least)) {
            if (!(pivot >= (VALUE)lowest)) lowest = pivot < 0 ? (double)pivot : -INFINITY; /* NaN: all is lost */
            pivot = (VALUE)least;
        }
        const VALUE inverse = 1 / pivot;
        pivots[j] = (double)pivot;
#pragma omp simd
        for (int64_t i = j + 1; i < n_rows; i++) xj[i] *= inverse;
    }
    return lowest;
}

static const modal_value_kernels KERNEL(values) = {
    KERNEL(solve_diagonal), KERNEL(solve_diagonal_transposed), KERNEL(update_below),
    KERNEL(gather_below), KERNEL(factor), KERNEL(product), KERNEL(solve_right)};

#undef VALUE
#undef KERNEL

