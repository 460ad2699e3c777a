/* SPDX-License-Identifier: Apache-2.0 */
/* Part of reduced_step_body.h: vectors and matrices of three, row-major. */

RS_FN void rs_cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}
RS_FN double rs_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
RS_FN void rs_apply(const double *m, const double *x, double *y) /* y = m x */
{
    for (int i = 0; i < 3; i++) y[i] = rs_dot(m + 3 * i, x);
}
RS_FN void rs_apply_transposed(const double *m, const double *x, double *y)
{
    for (int i = 0; i < 3; i++) y[i] = m[i] * x[0] + m[3 + i] * x[1] + m[6 + i] * x[2];
}
RS_FN void rs_multiply(const double *a, const double *b, double *c) /* c = a b */
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}
RS_FN void rs_multiply_transposed(const double *a, const double *b, double *c) /* c = a^T b */
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
}
/* The vector v with [v]x = m - m^T. */
RS_FN void rs_axial(const double *m, double *v)
{
    v[0] = m[7] - m[5];
    v[1] = m[2] - m[6];
    v[2] = m[3] - m[1];
}
/* r = r exp([v]x), and back onto the rotations by one Gram-Schmidt pass. */
RS_FN void rs_turn(double *r, const double *v)
{
    const double angle2 = rs_dot(v, v), angle = sqrt(angle2);
    const double s = angle > 1e-4 ? sin(angle) / angle : 1 - angle2 / 6 + angle2 * angle2 / 120;
    const double half = angle > 1e-4 ? sin(0.5 * angle) / angle : 0.5 - angle2 / 48;
    const double c = 2 * half * half;
    double e[9], result[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) e[3 * i + j] = c * v[i] * v[j] - (i == j ? c * angle2 : 0);
    for (int i = 0; i < 3; i++) e[4 * i] += 1;
    e[1] -= s * v[2];
    e[2] += s * v[1];
    e[3] += s * v[2];
    e[5] -= s * v[0];
    e[6] -= s * v[1];
    e[7] += s * v[0];
    rs_multiply(r, e, result);
    double *x = result, *y = result + 3, *z = result + 6;
    double scale = 1 / sqrt(rs_dot(x, x));
    for (int i = 0; i < 3; i++) x[i] *= scale;
    double along = rs_dot(x, y);
    for (int i = 0; i < 3; i++) y[i] -= along * x[i];
    scale = 1 / sqrt(rs_dot(y, y));
    for (int i = 0; i < 3; i++) y[i] *= scale;
    rs_cross(x, y, z);
    for (int i = 0; i < 9; i++) r[i] = result[i];
}
