/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/predicates.h"

#include <float.h>
#include <math.h>

/* A sum of doubles, exact: its parts do not overlap and ascend, so that the last one that is not 0 has its sign. */
enum { MOST_PARTS = 96 }; /* 24 products of three factors have four parts each */
typedef struct expansion {
    double parts[MOST_PARTS];
    int n;
} expansion;

/* Grow-Expansion with the parts that became 0 left out. */
static void add(expansion *sum, double x)
{
    int n = 0;
    for (int i = 0; i < sum->n; i++) {
        const double part = sum->parts[i], whole = x + part, virtual = whole - x;
        const double error = (x - (whole - virtual)) + (part - virtual);
        if (error != 0) sum->parts[n++] = error;
        x = whole;
    }
    if (x != 0) sum->parts[n++] = x;
    sum->n = n;
}

static int sign_of(const expansion *sum)
{
    if (sum->n == 0) return 0;
    return sum->parts[sum->n - 1] > 0 ? 1 : -1;
}

static void add_product(expansion *sum, double x, double y)
{
    const double product = x * y, error = fma(x, y, -product);
    if (error != 0) add(sum, error);
    if (product != 0) add(sum, product);
}

static void add_product_of_three(expansion *sum, double x, double y, double z)
{
    const double product = x * y, error = fma(x, y, -product);
    if (error != 0) add_product(sum, error, z);
    add_product(sum, product, z);
}

int modal_orientation(const double a[3], const double b[3], const double c[3], const double d[3])
{
    double e[3][3];
    for (int k = 0; k < 3; k++) {
        e[0][k] = a[k] - d[k];
        e[1][k] = b[k] - d[k];
        e[2][k] = c[k] - d[k];
    }
    double m[3][2], det = 0, sum = 0;
    for (int i = 0; i < 3; i++) {
        const double *p = e[(i + 1) % 3], *q = e[(i + 2) % 3];
        m[i][0] = p[0] * q[1];
        m[i][1] = p[1] * q[0];
        det += e[i][2] * (m[i][0] - m[i][1]);
        sum += fabs(e[i][2]) * (fabs(m[i][0]) + fabs(m[i][1]));
    }
    if (fabs(det) > 8 * DBL_EPSILON * sum) return det > 0 ? 1 : -1;
    long double det2 = 0, sum2 = 0;
    for (int i = 0; i < 3; i++) {
        const double *r[3] = {a, b, c}, *p = r[(i + 1) % 3], *q = r[(i + 2) % 3];
        long double x = ((long double)p[0] - d[0]) * ((long double)q[1] - d[1]),
                    y = ((long double)p[1] - d[1]) * ((long double)q[0] - d[0]),
                    z = (long double)r[i][2] - d[2];
        det2 += z * (x - y);
        sum2 += fabsl(z) * (fabsl(x) + fabsl(y));
    }
    if (fabsl(det2) > 16 * LDBL_EPSILON * sum2) return det2 > 0 ? 1 : -1;
    return 0;
}

/* x = a - d and whether that is exact, as it is where coordinates came from floats or lie close together. */
static int subtract_exactly(const double a[3], const double d[3], double x[3])
{
    for (int k = 0; k < 3; k++) {
        x[k] = a[k] - d[k];
        const double back = a[k] - x[k], whole = x[k] + back;
        if ((a[k] - whole) + (back - d[k]) != 0) return 0;
    }
    return 1;
}

static void add_determinant(expansion *sum, const double *const x[3])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        add_product_of_three(sum, x[0][i], x[1][j], x[2][k]);
        add_product_of_three(sum, -x[0][i], x[1][k], x[2][j]);
    }
}

int modal_orientation_exact(const double a[3], const double b[3], const double c[3], const double d[3])
{
    for (int k = 0; k < 3; k++)
        if (a[k] == b[k] && a[k] == c[k] && a[k] == d[k]) return 0; /* an axis' plane, the usual one */
    const int certain = modal_orientation(a, b, c, d);
    if (certain != 0) return certain;
    expansion sum;
    sum.n = 0; /* the parts need no zeros */
    double e[3][3];
    if (subtract_exactly(a, d, e[0]) && subtract_exactly(b, d, e[1]) && subtract_exactly(c, d, e[2])) {
        add_determinant(&sum, (const double *const[]){e[0], e[1], e[2]});
        return sign_of(&sum);
    }
    /* (a - d) (b - d) (c - d) = abc - dbc - adc - abd, each the determinant of three rows */
    const double *const rows[4][3] = {{a, b, c}, {b, d, c}, {d, a, c}, {b, a, d}};
    for (int r = 0; r < 4; r++) add_determinant(&sum, rows[r]);
    return sign_of(&sum);
}

int modal_turn_exact(const double a[3], const double b[3], const double c[3], int drop)
{
    const int i = (drop + 1) % 3, j = (drop + 2) % 3;
    const double left = (a[i] - c[i]) * (b[j] - c[j]), right = (a[j] - c[j]) * (b[i] - c[i]);
    if (fabs(left - right) > 4 * DBL_EPSILON * (fabs(left) + fabs(right))) return left > right ? 1 : -1;
    if (left == 0 && right == 0) return 0; /* two of the points are one, or all lie along an axis */
    const double *const x[3] = {a, b, c};
    expansion sum;
    sum.n = 0; /* the parts need no zeros */
    for (int k = 0; k < 3; k++) {
        const double *p = x[k], *q = x[(k + 1) % 3];
        add_product(&sum, p[i], q[j]);
        add_product(&sum, -p[j], q[i]);
    }
    return sign_of(&sum);
}
