/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of rows.h over blocks of vectors, included once an instruction set with TARGET, NAME and, for products of
 * dense tiles, LANES of a register of doubles and STRIPS of them a column of the register block of COLUMNS
 * columns. Those over a factor's values are in values_simd.h, for doubles and floats. */

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

/* The 3 x 3 blocks hold the row of the larger node. */
TARGET static void NAME(shifted)(int64_t from, int64_t to, const modal_row_matrix *a, const modal_row *x,
                                 modal_row *y)
{
    const modal_row_mass *graph = a->rows;
    for (int64_t i = from; i < to; i++) {
        modal_row s0 = {0}, s1 = {0}, s2 = {0};
        for (int64_t e = graph->offsets[i]; e < graph->offsets[i + 1]; e++) {
            const int64_t j = graph->columns[e];
            const double *b = a->stiffness + 9 * graph->blocks[e];
            const modal_row x0 = x[3 * j], x1 = x[3 * j + 1], x2 = x[3 * j + 2];
            if (j <= i) {
                s0 += b[0] * x0 + b[1] * x1 + b[2] * x2;
                s1 += b[3] * x0 + b[4] * x1 + b[5] * x2;
                s2 += b[6] * x0 + b[7] * x1 + b[8] * x2;
            } else {
                s0 += b[0] * x0 + b[3] * x1 + b[6] * x2;
                s1 += b[1] * x0 + b[4] * x1 + b[7] * x2;
                s2 += b[2] * x0 + b[5] * x1 + b[8] * x2;
            }
            if (a->shift == 0) continue;
            s0 -= a->shift * modal_row_mass_factor(graph, i, e, 0) * x0;
            s1 -= a->shift * modal_row_mass_factor(graph, i, e, 1) * x1;
            s2 -= a->shift * modal_row_mass_factor(graph, i, e, 2) * x2;
        }
        y[3 * i] = s0, y[3 * i + 1] = s1, y[3 * i + 2] = s2;
    }
}

TARGET static void NAME(dot)(int64_t n, const modal_row *x, const modal_row *y, const double *weights,
                             modal_row *sum)
{
    modal_row s0 = {0}, s1 = {0};
    if (weights) {
        for (int64_t i = 0; i < n; i++) s0 += weights[i] * x[i] * y[i];
    } else {
        int64_t i = 0;
        for (; i + 1 < n; i += 2) s0 += x[i] * y[i], s1 += x[i + 1] * y[i + 1];
        if (i < n) s0 += x[i] * y[i];
    }
    *sum = s0 + s1;
}

TARGET static void NAME(combine)(int64_t n, const modal_row *a, const modal_row *x, const modal_row *b,
                                 modal_row *y)
{
    const modal_row of_x = *a, of_y = *b;
    for (int64_t i = 0; i < n; i++) y[i] = of_x * x[i] + of_y * y[i];
}

TARGET static void NAME(motions)(const modal_rigid_space *rigid, const double *a, const double *b, modal_row *x,
                                 modal_row *coefficients)
{
    const int64_t n = rigid->n_free, depth = rigid->depth;
    if (depth == 0) return;
    memset(coefficients, 0, (size_t)(rigid->n_parts * depth) * sizeof *coefficients);
    for (int64_t i = 0; i < n; i++) {
        const int64_t part = rigid->part[i];
        modal_row *c = coefficients + part * depth;
        for (int32_t k = 0; k < rigid->n_motions[part]; k++) {
            const double *r = b + 3 * (k * n + i);
            c[k] += (r[0] * x[3 * i] + r[1] * x[3 * i + 1]) + r[2] * x[3 * i + 2];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t part = rigid->part[i];
        const modal_row *c = coefficients + part * depth;
        for (int32_t k = 0; k < rigid->n_motions[part]; k++) {
            const double *r = a + 3 * (k * n + i);
            for (int p = 0; p < 3; p++) x[3 * i + p] -= r[p] * c[k];
        }
    }
}

#define VALUE double
#define KERNEL(x) NAME(x##_float64)
#include "lib/modes/values_simd.h"

#define VALUE float
#define KERNEL(x) NAME(x##_float32)
#include "lib/modes/values_simd.h"

static const modal_row_kernels NAME(kernels) = {
    {&NAME(values_float64), &NAME(values_float32)}, NAME(gram), NAME(subtract), NAME(scale), NAME(mass),
    NAME(shifted), NAME(dot), NAME(combine), NAME(motions), NAME(pack_rows_float64), NAME(pack_columns_float64),
    NAME(multiply_float64), NAME(block_rows_float64), COLUMNS};

#undef TARGET
#undef LANES
#undef STRIPS
#undef COLUMNS
#undef NAME
