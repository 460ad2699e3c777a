/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of product.c, included once an instruction set with TARGET and NAME. */

/* Whole blocks: y [3 count, n_columns] = or += K x for the nodes [first, first + count). */
TARGET static void NAME(whole)(const part *p, int64_t first, int64_t count, const double *x, int64_t stride, int64_t n_columns, int adds,
                               double *y)
{
    for (int64_t i = 0; i < count; i++) {
        const PetscInt *r = p->rows + 3 * (first + i);
        const int64_t n = (r[1] - r[0]) / 3;
        for (int64_t at = 0; at < n_columns; at += LANES) {
            double *to = y + 3 * i * n_columns + at;
            lanes a = {0}, b = {0}, c = {0};
            if (adds) a = *(const lanes *)to, b = *(const lanes *)(to + n_columns), c = *(const lanes *)(to + 2 * n_columns);
            for (int64_t k = 0; k < n; k++) {
                const double *from = x + (int64_t)(p->columns[r[0] + 3 * k] + p->shift) * stride + at;
                const double *u = p->values + r[0] + 3 * k, *v = p->values + r[1] + 3 * k, *w = p->values + r[2] + 3 * k;
                const lanes s = *(const lanes *)from, t = *(const lanes *)(from + stride), q = *(const lanes *)(from + 2 * stride);
                a += u[0] * s + u[1] * t + u[2] * q;
                b += v[0] * s + v[1] * t + v[2] * q;
                c += w[0] * s + w[1] * t + w[2] * q;
            }
            *(lanes *)to = a;
            *(lanes *)(to + n_columns) = b;
            *(lanes *)(to + 2 * n_columns) = c;
        }
    }
}

/* The same where only the diagonals of the blocks are kept. */
TARGET static void NAME(thin)(const part *p, int64_t first, int64_t count, const double *x, int64_t stride, int64_t n_columns, int adds,
                              double *y)
{
    for (int64_t i = 3 * first; i < 3 * (first + count); i++)
        for (int64_t at = 0; at < n_columns; at += LANES) {
            double *to = y + (i - 3 * first) * n_columns + at;
            lanes a = {0};
            if (adds) a = *(const lanes *)to;
            for (PetscInt k = p->rows[i]; k < p->rows[i + 1]; k++)
                a += p->values[k] * *(const lanes *)(x + (int64_t)(p->columns[k] + p->shift) * stride + at);
            *(lanes *)to = a;
        }
}

static const kernels NAME(kernels) = {NAME(whole), NAME(thin)};
#undef TARGET
#undef NAME
