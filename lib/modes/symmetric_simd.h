/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of symmetric.c, included once an instruction set with TARGET and NAME. Sums have eight parts, added in one
 * order, whatever the width of a register. */

TARGET static inline double NAME(add_up)(modal_row s)
{
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

TARGET static void NAME(symmetric)(int64_t n, const double *a, int64_t stride, const double *x, double *y)
{
    int64_t j = 0;
    memset(y, 0, (size_t)n * sizeof *y);
    for (; j + 4 <= n; j += 4) {
        const double *a0 = a + j * stride, *a1 = a0 + stride, *a2 = a1 + stride, *a3 = a2 + stride;
        const double x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
        modal_row s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
        double t0, t1, t2, t3;
        int64_t i = j + 4;
        for (; i + 8 <= n; i += 8) {
            const modal_row c0 = *(const modal_eight *)(a0 + i), c1 = *(const modal_eight *)(a1 + i);
            const modal_row c2 = *(const modal_eight *)(a2 + i), c3 = *(const modal_eight *)(a3 + i);
            const modal_row xi = *(const modal_eight *)(x + i);
            modal_eight *yi = (modal_eight *)(y + i);
            s0 += c0 * xi, s1 += c1 * xi, s2 += c2 * xi, s3 += c3 * xi;
            *yi += (c0 * x0 + c1 * x1) + (c2 * x2 + c3 * x3);
        }
        t0 = NAME(add_up)(s0), t1 = NAME(add_up)(s1), t2 = NAME(add_up)(s2), t3 = NAME(add_up)(s3);
        for (; i < n; i++) {
            t0 += a0[i] * x[i], t1 += a1[i] * x[i], t2 += a2[i] * x[i], t3 += a3[i] * x[i];
            y[i] += (a0[i] * x0 + a1[i] * x1) + (a2[i] * x2 + a3[i] * x3);
        }
        y[j] += t0 + ((a0[j] * x0 + a0[j + 1] * x1) + (a0[j + 2] * x2 + a0[j + 3] * x3));
        y[j + 1] += t1 + ((a0[j + 1] * x0 + a1[j + 1] * x1) + (a1[j + 2] * x2 + a1[j + 3] * x3));
        y[j + 2] += t2 + ((a0[j + 2] * x0 + a1[j + 2] * x1) + (a2[j + 2] * x2 + a2[j + 3] * x3));
        y[j + 3] += t3 + ((a0[j + 3] * x0 + a1[j + 3] * x1) + (a2[j + 3] * x2 + a3[j + 3] * x3));
    }
    for (; j < n; j++) {
        y[j] += a[j * stride + j] * x[j];
        for (int64_t i = j + 1; i < n; i++) {
            y[j] += a[j * stride + i] * x[i];
            y[i] += a[j * stride + i] * x[j];
        }
    }
}

TARGET static void NAME(update)(int64_t n, double *a, int64_t stride, const double *v, const double *w, int64_t step)
{
    const double *v0 = v, *v1 = v + step, *v2 = v1 + step, *v3 = v2 + step;
    const double *w0 = w, *w1 = w + step, *w2 = w1 + step, *w3 = w2 + step;
    for (int64_t j = 0; j < n; j++) {
        double *column = a + j * stride;
        const double p0 = v0[j], p1 = v1[j], p2 = v2[j], p3 = v3[j];
        const double q0 = w0[j], q1 = w1[j], q2 = w2[j], q3 = w3[j];
        int64_t i = j;
        for (; i + 8 <= n; i += 8) {
            const modal_row of_v = (*(const modal_eight *)(v0 + i) * q0 + *(const modal_eight *)(v1 + i) * q1) +
                                   (*(const modal_eight *)(v2 + i) * q2 + *(const modal_eight *)(v3 + i) * q3);
            const modal_row of_w = (*(const modal_eight *)(w0 + i) * p0 + *(const modal_eight *)(w1 + i) * p1) +
                                   (*(const modal_eight *)(w2 + i) * p2 + *(const modal_eight *)(w3 + i) * p3);
            *(modal_eight *)(column + i) -= of_v + of_w;
        }
        for (; i < n; i++)
            column[i] -= ((v0[i] * q0 + v1[i] * q1) + (v2[i] * q2 + v3[i] * q3)) +
                         ((w0[i] * p0 + w1[i] * p1) + (w2[i] * p2 + w3[i] * p3));
    }
}

TARGET static void NAME(reflect)(int64_t n, const double *v, int64_t step, const double *t, int64_t n_columns,
                                 double *x, int64_t stride)
{
    const double *v0 = v, *v1 = v + step, *v2 = v1 + step, *v3 = v2 + step;
    for (int64_t j = 0; j < n_columns; j++, x += stride) {
        modal_row s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
        double s[4], f[4];
        int64_t i = 0;
        for (; i + 8 <= n; i += 8) {
            const modal_row xi = *(const modal_eight *)(x + i);
            s0 += *(const modal_eight *)(v0 + i) * xi, s1 += *(const modal_eight *)(v1 + i) * xi;
            s2 += *(const modal_eight *)(v2 + i) * xi, s3 += *(const modal_eight *)(v3 + i) * xi;
        }
        s[0] = NAME(add_up)(s0), s[1] = NAME(add_up)(s1), s[2] = NAME(add_up)(s2), s[3] = NAME(add_up)(s3);
        for (; i < n; i++) s[0] += v0[i] * x[i], s[1] += v1[i] * x[i], s[2] += v2[i] * x[i], s[3] += v3[i] * x[i];
        for (int k = 0; k < 4; k++)
            f[k] = (t[4 * k] * s[0] + t[4 * k + 1] * s[1]) + (t[4 * k + 2] * s[2] + t[4 * k + 3] * s[3]);
        for (i = 0; i + 8 <= n; i += 8)
            *(modal_eight *)(x + i) -=
                (*(const modal_eight *)(v0 + i) * f[0] + *(const modal_eight *)(v1 + i) * f[1]) +
                (*(const modal_eight *)(v2 + i) * f[2] + *(const modal_eight *)(v3 + i) * f[3]);
        for (; i < n; i++) x[i] -= (v0[i] * f[0] + v1[i] * f[1]) + (v2[i] * f[2] + v3[i] * f[3]);
    }
}

/* The column that two rotations share stays in registers. */
TARGET static void NAME(rotate)(int64_t n_rotations, const double *rotations, int64_t first, int direction,
                                double *strip)
{
    const int64_t step = direction * MODAL_STRIP;
    double *at = strip + first * MODAL_STRIP;
    modal_row a = *(const modal_eight *)at, b = *(const modal_eight *)(at + 8);
    for (int64_t k = 0; k < n_rotations; k++, at += step) {
        const double c = rotations[2 * k], s = rotations[2 * k + 1];
        const modal_row x = *(const modal_eight *)(at + step), y = *(const modal_eight *)(at + step + 8);
        *(modal_eight *)at = c * a - s * x;
        *(modal_eight *)(at + 8) = c * b - s * y;
        a = s * a + c * x;
        b = s * b + c * y;
    }
    *(modal_eight *)at = a;
    *(modal_eight *)(at + 8) = b;
}

static const modal_symmetric_kernels NAME(kernels) = {NAME(symmetric), NAME(update), NAME(reflect), NAME(rotate)};

#undef TARGET
#undef NAME
