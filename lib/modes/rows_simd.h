/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of rows.h, included once an instruction set with TARGET, NAME and, for products of dense tiles,
 * LANES of a register and STRIPS of them a column of the register block of COLUMNS columns. A register block is eight
 * rows of eight columns; every value of the factor or of a basis is read once, in order. */

TARGET static void NAME(solve_diagonal)(const modal_panel *panel, const double *v, modal_row *x)
{
    const int n = panel->n_columns;
    for (int first = 0; first < n; first += 8) {
        const int h = n - first < 8 ? n - first : 8;
        modal_row a[8];
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

TARGET static void NAME(solve_diagonal_transposed)(const modal_panel *panel, const double *v,
                                                   modal_row *x)
{
    const int n = panel->n_columns;
    v += modal_panel_diagonal_size(n);
    for (int first = (n - 1) / 8 * 8; first >= 0; first -= 8) {
        const int h = n - first < 8 ? n - first : 8;
        modal_row a[8] = {{0}};
        v -= h * (first + h);
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

TARGET static void NAME(update_below)(const modal_panel_task *task)
{
    const modal_panel *panel = task->panel;
    const int n = panel->n_columns;
    const int64_t n_below = panel->n_rows - n;
    const modal_row *x = task->y + panel->first;
    const double *v = task->values + 8 * n * task->from;
    for (int64_t tile = task->from; tile < task->to; tile++) {
        const int64_t *rows = task->rows + n + 8 * tile;
        const int h = n_below - 8 * tile < 8 ? (int)(n_below - 8 * tile) : 8;
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

TARGET static void NAME(gather_below)(const modal_panel_task *task)
{
    const modal_panel *panel = task->panel;
    const int n = panel->n_columns;
    const int64_t n_below = panel->n_rows - n;
    modal_row *x = task->outside;
    const double *v = task->values + 8 * n * task->from;
    for (int64_t tile = task->from; tile < task->to; tile++) {
        const int64_t *rows = task->rows + n + 8 * tile;
        const int h = n_below - 8 * tile < 8 ? (int)(n_below - 8 * tile) : 8;
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

TARGET static void NAME(gram)(int64_t n, const modal_row *v, const modal_row *w, modal_row *h)
{
    modal_row a0 = h[0], a1 = h[1], a2 = h[2], a3 = h[3];
    modal_row a4 = h[4], a5 = h[5], a6 = h[6], a7 = h[7];
    const double *s = (const double *)v;
    for (int64_t i = 0; i < n; i++, s += 8) {
        const modal_row x = w[i];
        a0 += s[0] * x, a1 += s[1] * x, a2 += s[2] * x, a3 += s[3] * x;
        a4 += s[4] * x, a5 += s[5] * x, a6 += s[6] * x, a7 += s[7] * x;
    }
    h[0] = a0, h[1] = a1, h[2] = a2, h[3] = a3, h[4] = a4, h[5] = a5, h[6] = a6, h[7] = a7;
}

TARGET static void NAME(subtract)(int64_t n, const modal_row *v, const modal_row *h, modal_row *w)
{
    const modal_row a0 = h[0], a1 = h[1], a2 = h[2], a3 = h[3];
    const modal_row a4 = h[4], a5 = h[5], a6 = h[6], a7 = h[7];
    const double *s = (const double *)v;
    for (int64_t i = 0; i < n; i++, s += 8)
        w[i] -= ((s[0] * a0 + s[1] * a1) + (s[2] * a2 + s[3] * a3)) +
                ((s[4] * a4 + s[5] * a5) + (s[6] * a6 + s[7] * a7));
}

TARGET static void NAME(scale)(int64_t n, const modal_row *h, modal_row *w)
{
    const modal_row a0 = h[0], a1 = h[1], a2 = h[2], a3 = h[3];
    const modal_row a4 = h[4], a5 = h[5], a6 = h[6], a7 = h[7];
    const double *s = (const double *)w;
    for (int64_t i = 0; i < n; i++, s += 8)
        w[i] = ((s[0] * a0 + s[1] * a1) + (s[2] * a2 + s[3] * a3)) +
               ((s[4] * a4 + s[5] * a5) + (s[6] * a6 + s[7] * a7));
}

TARGET static void NAME(mass)(int64_t from, int64_t to, const int64_t *offsets,
                              const int32_t *columns, const double *factors, const modal_row *x,
                              modal_row *y)
{
    for (int64_t i = from; i < to; i++) {
        modal_row a0 = {0}, a1 = {0}, a2 = {0};
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++) {
            const modal_row *xj = x + 3 * (int64_t)columns[k];
            a0 += factors[k] * xj[0], a1 += factors[k] * xj[1], a2 += factors[k] * xj[2];
        }
        y[3 * i] = a0, y[3 * i + 1] = a1, y[3 * i + 2] = a2;
    }
}

typedef double NAME(lanes) __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

enum { NAME(block_rows) = LANES * STRIPS };

/* c += or = a b over `depth` packed columns: the register block. */
TARGET static inline void NAME(register_block)(int64_t depth, const double *a, const double *b,
                                               double *c, int add)
{
    NAME(lanes) sum[COLUMNS][STRIPS];
#pragma GCC unroll 8
    for (int j = 0; j < COLUMNS; j++)
#pragma GCC unroll 4
        for (int i = 0; i < STRIPS; i++) sum[j][i] = (NAME(lanes)){0};
    for (int64_t k = 0; k < depth; k++, a += NAME(block_rows), b += COLUMNS) {
        NAME(lanes) column[STRIPS];
#pragma GCC unroll 4
        for (int i = 0; i < STRIPS; i++) column[i] = *(const NAME(lanes) *)(a + i * LANES);
#pragma GCC unroll 8
        for (int j = 0; j < COLUMNS; j++)
#pragma GCC unroll 4
            for (int i = 0; i < STRIPS; i++) sum[j][i] += column[i] * b[j];
    }
#pragma GCC unroll 8
    for (int j = 0; j < COLUMNS; j++)
#pragma GCC unroll 4
        for (int i = 0; i < STRIPS; i++) {
            NAME(lanes) *to = (NAME(lanes) *)(c + j * MODAL_TILE_ROWS + i * LANES);
            if (add)
                *to += sum[j][i];
            else
                *to = sum[j][i];
        }
}

TARGET static void NAME(product)(int64_t ni, int64_t nj, int64_t width, const double *a,
                                 int64_t a_stride, const double *b, int64_t b_stride,
                                 const double *scale, double *c, double *pack)
{
    enum { R = NAME(block_rows) };
    double *pack_b = pack + MODAL_TILE_ROWS * MODAL_TILE_DEPTH;
    for (int64_t k0 = 0; k0 < width; k0 += MODAL_TILE_DEPTH) {
        const int64_t depth = width - k0 < MODAL_TILE_DEPTH ? width - k0 : MODAL_TILE_DEPTH;
        for (int64_t i0 = 0; i0 < ni; i0 += R) {
            double *to = pack + i0 * depth;
            const int64_t h = ni - i0 < R ? ni - i0 : R;
            for (int64_t k = 0; k < depth; k++, to += R) {
                const double *from = a + (k0 + k) * a_stride + i0;
                if (h == R)
                    for (int i = 0; i < R; i++) to[i] = from[i];
                else
                    for (int i = 0; i < R; i++) to[i] = i < h ? from[i] : 0;
            }
        }
        for (int64_t j0 = 0; j0 < nj; j0 += COLUMNS) {
            double *to = pack_b + j0 * depth;
            const int64_t w = nj - j0 < COLUMNS ? nj - j0 : COLUMNS;
            for (int64_t k = 0; k < depth; k++, to += COLUMNS) {
                const double *from = b + (k0 + k) * b_stride + j0;
                const double factor = scale ? scale[k0 + k] : 1;
                if (w == COLUMNS)
                    for (int j = 0; j < COLUMNS; j++) to[j] = factor * from[j];
                else
                    for (int j = 0; j < COLUMNS; j++) to[j] = j < w ? factor * from[j] : 0;
            }
        }
        for (int64_t j0 = 0; j0 < nj; j0 += COLUMNS)
            for (int64_t i0 = 0; i0 < ni; i0 += R)
                NAME(register_block)(depth, pack + i0 * depth, pack_b + j0 * depth,
                                     c + j0 * MODAL_TILE_ROWS + i0, k0 > 0);
    }
}

static const modal_row_kernels NAME(kernels) = {
    NAME(solve_diagonal), NAME(solve_diagonal_transposed), NAME(update_below), NAME(gather_below),
    NAME(gram), NAME(subtract), NAME(scale), NAME(mass), NAME(product)};

#undef TARGET
#undef LANES
#undef STRIPS
#undef COLUMNS
#undef NAME
