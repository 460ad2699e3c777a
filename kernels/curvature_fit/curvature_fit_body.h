/* SPDX-License-Identifier: Apache-2.0 */
/* The fit of a vertex a lane, for the CPU (vectors of doubles) and CUDA (doubles). No include guard: this is a template.
 * Before it: NAME(x), FN, WIDE and WIDE_MASK (a double of every lane, the result of a comparison), WIDE_SELECT, UNROLL.
 * The entries of the normal equations are moments, sums of x^a y^b: 15 for degree 2, 45 for degree 4. */

enum { NAME(UNKNOWNS) = 15, NAME(POWERS) = 9 };

typedef struct NAME(moments) {
    WIDE m[NAME(POWERS)][NAME(POWERS)]; /* x^a y^b, a + b <= 2 degree */
    WIDE z[NAME(UNKNOWNS)];             /* z x^a y^b, in the order 1, x, y, x^2, .. */
} NAME(moments);

FN void NAME(clear_moments)(int degree, NAME(moments) * sums)
{
    UNROLL(9)
    for (int a = 0; a <= 2 * degree; a++)
        UNROLL(9)
        for (int b = 0; a + b <= 2 * degree; b++) sums->m[a][b] = (WIDE)WIDE_ZERO;
    UNROLL(15)
    for (int j = 0; j < (degree + 1) * (degree + 2) / 2; j++) sums->z[j] = (WIDE)WIDE_ZERO;
}

/* A point (x, y, z) and its weight. */
FN void NAME(add_point)(int degree, WIDE x, WIDE y, WIDE z, WIDE weight, NAME(moments) * sums)
{
    WIDE power_x = weight;
    UNROLL(9)
    for (int a = 0; a <= 2 * degree; a++) {
        WIDE value = power_x;
        UNROLL(9)
        for (int b = 0; a + b <= 2 * degree; b++) {
            sums->m[a][b] += value;
            if (a + b <= degree) sums->z[(a + b) * (a + b + 1) / 2 + b] += value * z;
            value *= y;
        }
        power_x *= x;
    }
}

/* The weight at squared distance `square`; inverse is 1 / m, or 0 where all points are one. */
FN WIDE NAME(weight)(WIDE square, WIDE inverse)
{
    const WIDE near = square * inverse + MODAL_FIT_NEAR;
    return WIDE_DIVIDE((WIDE)WIDE_ZERO + 1.0, near * near);
}

/* 1 / m of a sum of squared distances and their number. */
FN WIDE NAME(inverse_mean)(WIDE sum, WIDE count)
{
    const WIDE zero = (WIDE)WIDE_ZERO, unit = zero + 1.0;
    const WIDE_MASK apart = sum > zero;
    return WIDE_SELECT(apart, WIDE_DIVIDE(count, WIDE_SELECT(apart, sum, unit)), zero);
}

/* Solves the normal equations by L D L^T. c[6] are the coefficients up to degree 2; returns the degree reached. */
FN WIDE NAME(solve_moments)(int degree, const NAME(moments) * sums, WIDE *c)
{
    enum { N = NAME(UNKNOWNS) };
    const WIDE zero = (WIDE)WIDE_ZERO, unit = zero + 1.0;
    WIDE l[N][N], pivot[N], right[N], solution[N], reached = zero;
    WIDE_MASK sound = zero < unit;
    UNROLL(5)
    for (int d = 0; d <= degree; d++) {
        UNROLL(5)
        for (int b = 0; b <= d; b++) {
            const int j = d * (d + 1) / 2 + b, a = d - b; /* x^a y^b */
            const WIDE whole = sums->m[2 * a][2 * b];
            WIDE left = whole, y = sums->z[j];
            UNROLL(15)
            for (int k = 0, dk = 0, bk = 0; k < j; k++) {
                WIDE entry = sums->m[a + dk - bk][b + bk];
                UNROLL(15)
                for (int i = 0; i < k; i++) entry -= l[j][i] * l[k][i] * pivot[i];
                l[j][k] = WIDE_DIVIDE(entry, pivot[k]);
                left -= l[j][k] * entry;
                y -= l[j][k] * right[k];
                if (++bk > dk) dk++, bk = 0;
            }
            sound = sound & (left > whole * 1e-6);
            pivot[j] = WIDE_SELECT(sound, left, unit);
            right[j] = y;
        }
        reached = WIDE_SELECT(sound, zero + (double)d, reached);
    }
    UNROLL(6)
    for (int j = 0; j < 6; j++) c[j] = zero;
    UNROLL(3)
    for (int d = 2; d <= degree; d++) { /* lanes that reached another degree keep what they have */
        const int n = (d + 1) * (d + 2) / 2;
        const WIDE_MASK here = (reached > zero + (d - 0.5)) & (reached < zero + (d + 0.5));
        if (!WIDE_ANY(here)) continue;
        UNROLL(15)
        for (int j = n - 1; j > 0; j--) {
            solution[j] = WIDE_DIVIDE(right[j], pivot[j]);
            UNROLL(15)
            for (int k = j + 1; k < n; k++) solution[j] -= l[k][j] * solution[k];
            if (j < 6) c[j] = WIDE_SELECT(here, solution[j], c[j]);
        }
    }
    return reached;
}
