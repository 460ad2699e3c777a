/* SPDX-License-Identifier: Apache-2.0 */
/* Part of reduced_step_body.h: vectors and matrices of three, row-major. */

RS_FN void rs_cross(const real *a, const real *b, real *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}
RS_FN real rs_dot(const real *a, const real *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
RS_FN void rs_apply(const real *m, const real *x, real *y) /* y = m x */
{
    for (int i = 0; i < 3; i++) y[i] = rs_dot(m + 3 * i, x);
}
RS_FN void rs_apply_transposed(const real *m, const real *x, real *y)
{
    for (int i = 0; i < 3; i++) y[i] = m[i] * x[0] + m[3 + i] * x[1] + m[6 + i] * x[2];
}
RS_FN void rs_multiply(const real *a, const real *b, real *c) /* c = a b */
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}
RS_FN void rs_multiply_transposed(const real *a, const real *b, real *c) /* c = a^T b */
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
}
/* The vector v with [v]x = m - m^T. */
RS_FN void rs_axial(const real *m, real *v)
{
    v[0] = m[7] - m[5];
    v[1] = m[2] - m[6];
    v[2] = m[3] - m[1];
}
/* 1 / sqrt x; of a rotation's rows, all but of length 1, by its series: 5/16 (x - 1)^3 */
RS_FN real rs_per_length(real x)
{
    const real e = x - 1, near = 1 - e * (0.5 - 0.375 * e);
    if (RS_EVERY(RS_ABS(e) < 3e-6)) return near;
    return RS_PICK(RS_ABS(e) < 3e-6, near, 1 / RS_SQRT(x));
}
/* r = r exp([v]x), and back onto the rotations by one Gram-Schmidt pass. */
RS_FN void rs_turn(real *r, const real *v)
{
    const real x2 = rs_dot(v, v);
    /* sin x / x, (1 - cos x) / x^2; small turns, nearly all, by their series: 2e-17 */
    real s = 1 - x2 * (1. / 6) * (1 - x2 * (1. / 20) * (1 - x2 * (1. / 42) * (1 - x2 * (1. / 72) * (1 - x2 * (1. / 110)))));
    real c = 0.5 - x2 * (1. / 24) * (1 - x2 * (1. / 30) * (1 - x2 * (1. / 56) * (1 - x2 * (1. / 90) * (1 - x2 * (1. / 132)))));
    for (int l = 0; l < RS_PACK && RS_ANY(x2 >= 0.01); l++) {
        if (!(RS_OF(x2, l) >= 0.01)) continue;
        const double angle = sqrt(RS_OF(x2, l)), half = sin(0.5 * angle) / angle;
        RS_OF(s, l) = sin(angle) / angle;
        RS_OF(c, l) = 2 * half * half;
    }
    real e[9], result[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) e[3 * i + j] = i == j ? c * v[i] * v[j] - c * x2 : c * v[i] * v[j];
    for (int i = 0; i < 3; i++) e[4 * i] += 1;
    e[1] -= s * v[2];
    e[2] += s * v[1];
    e[3] += s * v[2];
    e[5] -= s * v[0];
    e[6] -= s * v[1];
    e[7] += s * v[0];
    rs_multiply(r, e, result);
    real *x = result, *y = result + 3, *z = result + 6;
    real scale = rs_per_length(rs_dot(x, x));
    for (int i = 0; i < 3; i++) x[i] *= scale;
    real along = rs_dot(x, y);
    for (int i = 0; i < 3; i++) y[i] -= along * x[i];
    scale = rs_per_length(rs_dot(y, y));
    for (int i = 0; i < 3; i++) y[i] *= scale;
    rs_cross(x, y, z);
    for (int i = 0; i < 9; i++) r[i] = result[i];
}

#if RS_PACK == 1
/* sin x by its series on [-pi/2, pi/2], without a branch, so that a loop of them is one of
 * vectors: 3e-16 and |x| 1e-16. */
RS_FN double rs_sin(double x)
{
    const double turns = rint(x * 0.31830988618379067); /* of pi, in two parts */
    double y = x - turns * 3.141592653589793116;
    y -= turns * 1.2246467991473532e-16;
    const double odd = turns - 2 * rint(0.5 * turns), y2 = y * y;
    const double s =
        -1.0 / 6 +
        y2 * (1.0 / 120 +
              y2 * (-1.0 / 5040 +
                    y2 * (1.0 / 362880 +
                          y2 * (-1.0 / 39916800 +
                                y2 * (1.0 / 6227020800 +
                                      y2 * (-1.0 / 1307674368000 +
                                            y2 * (1.0 / 355687428096000 + y2 * (-1.0 / 121645100408832000))))))));
    return (1 - 2 * odd * odd) * (y + y * y2 * s);
}
#endif
