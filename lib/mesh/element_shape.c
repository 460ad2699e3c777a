/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/element_shape.h"

#include <math.h>
#include <string.h>

#define TET_CORNERS {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
#define HEX_CORNERS {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}}

const double modal_element_corners[MODAL_ELEMENT_TYPES][MODAL_ELEMENT_MOST_CORNERS][3] = {
    TET_CORNERS, TET_CORNERS, HEX_CORNERS, HEX_CORNERS,
    {{0, 0, -1}, {1, 0, -1}, {0, 1, -1}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}},
    {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}, {0, 0, 1}}};

const double modal_element_centres[MODAL_ELEMENT_TYPES][3] = {
    {0.25, 0.25, 0.25}, {0.25, 0.25, 0.25}, {0, 0, 0}, {0, 0, 0}, {1.0 / 3, 1.0 / 3, 0}, {0, 0, 0.25}};

/* Signs of r, s, t at the corners of the hexahedron; the pyramid's base has the first four of r and s. */
static const double (*const hex_corners)[3] = modal_element_corners[MODAL_ELEMENT_HEX8];

/* Barycentric coordinates of the tetrahedron and their derivatives. */
static const double barycentric_derivatives[4][3] = {{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static void shape_tetrahedron(int quadratic, const double p[3], double *values,
                              double (*derivatives)[3])
{
    const double l[4] = {1 - p[0] - p[1] - p[2], p[0], p[1], p[2]};
    const double(*d)[3] = barycentric_derivatives;
    const modal_element_kind *kind = &modal_element_kinds[MODAL_ELEMENT_TET10];
    for (int a = 0; a < 4; a++) {
        values[a] = quadratic ? l[a] * (2 * l[a] - 1) : l[a];
        for (int k = 0; k < 3; k++)
            derivatives[a][k] = quadratic ? (4 * l[a] - 1) * d[a][k] : d[a][k];
    }
    for (int i = 0; quadratic && i < 6; i++) {
        const int a = kind->edges[i][0], b = kind->edges[i][1];
        values[4 + i] = 4 * l[a] * l[b];
        for (int k = 0; k < 3; k++)
            derivatives[4 + i][k] = 4 * (l[a] * d[b][k] + l[b] * d[a][k]);
    }
}

static void shape_hexahedron(int quadratic, const double p[3], double *values,
                             double (*derivatives)[3])
{
    for (int a = 0; a < 8; a++) {
        const double *c = hex_corners[a];
        const double f[3] = {1 + c[0] * p[0], 1 + c[1] * p[1], 1 + c[2] * p[2]};
        const double product = f[0] * f[1] * f[2] / 8;
        const double sum = c[0] * p[0] + c[1] * p[1] + c[2] * p[2] - 2;
        values[a] = quadratic ? product * sum : product;
        for (int k = 0; k < 3; k++) {
            const double slope = c[k] * f[(k + 1) % 3] * f[(k + 2) % 3] / 8;
            derivatives[a][k] = quadratic ? slope * sum + product * c[k] : slope;
        }
    }
    const modal_element_kind *kind = &modal_element_kinds[MODAL_ELEMENT_HEX20];
    for (int i = 0; quadratic && i < 12; i++) {
        const double *c = hex_corners[kind->edges[i][0]], *e = hex_corners[kind->edges[i][1]];
        double f[3], slope[3];
        for (int k = 0; k < 3; k++) {
            const int along = c[k] != e[k];
            f[k] = along ? 1 - p[k] * p[k] : 1 + c[k] * p[k];
            slope[k] = along ? -2 * p[k] : c[k];
        }
        values[8 + i] = f[0] * f[1] * f[2] / 4;
        for (int k = 0; k < 3; k++)
            derivatives[8 + i][k] = slope[k] * f[(k + 1) % 3] * f[(k + 2) % 3] / 4;
    }
}

static void shape_wedge(const double p[3], double *values, double (*derivatives)[3])
{
    const double l[3] = {1 - p[0] - p[1], p[0], p[1]};
    static const double d[3][2] = {{-1, -1}, {1, 0}, {0, 1}};
    for (int a = 0; a < 6; a++) {
        const double sign = a < 3 ? -1 : 1, height = (1 + sign * p[2]) / 2;
        values[a] = l[a % 3] * height;
        derivatives[a][0] = d[a % 3][0] * height;
        derivatives[a][1] = d[a % 3][1] * height;
        derivatives[a][2] = l[a % 3] * sign / 2;
    }
}

static void shape_pyramid(const double p[3], double *values, double (*derivatives)[3])
{
    const double u = 1 - p[2], a = u > 0 ? p[0] / u : 0, b = u > 0 ? p[1] / u : 0;
    for (int i = 0; i < 4; i++) {
        const double sa = hex_corners[i][0], sb = hex_corners[i][1];
        values[i] = (1 + sa * a) * (1 + sb * b) * u / 4;
        derivatives[i][0] = sa * (1 + sb * b) / 4;
        derivatives[i][1] = sb * (1 + sa * a) / 4;
        derivatives[i][2] = (sa * a * sb * b - 1) / 4;
    }
    values[4] = p[2];
    derivatives[4][0] = derivatives[4][1] = 0;
    derivatives[4][2] = 1;
}

void modal_element_shape(modal_element_type type, const double point[3],
                         double values[MODAL_ELEMENT_MOST_NODES],
                         double derivatives[MODAL_ELEMENT_MOST_NODES][3])
{
    switch (type) {
    case MODAL_ELEMENT_TET4:
    case MODAL_ELEMENT_TET10:
        shape_tetrahedron(type == MODAL_ELEMENT_TET10, point, values, derivatives);
        break;
    case MODAL_ELEMENT_HEX8:
    case MODAL_ELEMENT_HEX20:
        shape_hexahedron(type == MODAL_ELEMENT_HEX20, point, values, derivatives);
        break;
    case MODAL_ELEMENT_WEDGE6: shape_wedge(point, values, derivatives); break;
    default: shape_pyramid(point, values, derivatives); break;
    }
}

/* ---- quadrature ---- */

static void add_point(modal_element_rule *rule, double r, double s, double t, double weight)
{
    double *point = rule->points[rule->n_points];
    point[0] = r;
    point[1] = s;
    point[2] = t;
    rule->weights[rule->n_points++] = weight;
}

/* Gauss on [-1, 1]. */
static void gauss(int n, double x[3], double w[3])
{
    const double a = n == 2 ? sqrt(1.0 / 3) : sqrt(0.6);
    x[0] = -a;
    x[n - 1] = a;
    w[0] = w[n - 1] = n == 2 ? 1 : 5.0 / 9;
    if (n < 3) return;
    x[1] = 0;
    w[1] = 8.0 / 9;
}

static void rule_hexahedron(int n, modal_element_rule *rule)
{
    double x[3], w[3];
    gauss(n, x, w);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) add_point(rule, x[i], x[j], x[k], w[i] * w[j] * w[k]);
}

/* The four points that have the barycentric coordinates a, a, a, 1 - 3 a. */
static void add_four(modal_element_rule *rule, double a, double weight)
{
    const double b = 1 - 3 * a;
    add_point(rule, a, a, a, weight);
    add_point(rule, b, a, a, weight);
    add_point(rule, a, b, a, weight);
    add_point(rule, a, a, b, weight);
}

static void rule_tetrahedron(int degree, modal_element_rule *rule)
{
    const double volume = 1.0 / 6;
    if (degree == 1) add_point(rule, 0.25, 0.25, 0.25, volume);
    if (degree == 2) add_four(rule, (5 - sqrt(5)) / 20, volume / 4);
    if (degree != 5) return;
    const double root = sqrt(15), a = (5 - root) / 20, b = 0.5 - a, w = volume * 10 / 189;
    add_point(rule, 0.25, 0.25, 0.25, volume * 16 / 135);
    add_four(rule, (7 - root) / 34, volume * (2665 + 14 * root) / 37800);
    add_four(rule, (7 + root) / 34, volume * (2665 - 14 * root) / 37800);
    add_point(rule, a, a, b, w);
    add_point(rule, a, b, a, w);
    add_point(rule, b, a, a, w);
    add_point(rule, b, b, a, w);
    add_point(rule, b, a, b, w);
    add_point(rule, a, b, b, w);
}

/* A rule of the triangle (area 1/2) times Gauss of n points. */
static void rule_wedge(int degree, int n, modal_element_rule *rule)
{
    double x[3], w[3];
    gauss(n, x, w);
    const double root = sqrt(15);
    const double a[2] = {degree == 2 ? 1.0 / 6 : (6 - root) / 21, (6 + root) / 21};
    const double area[2] = {degree == 2 ? 1.0 / 6 : (155 - root) / 2400, (155 + root) / 2400};
    for (int k = 0; k < n; k++) {
        if (degree == 5) add_point(rule, 1.0 / 3, 1.0 / 3, x[k], w[k] * 9 / 80);
        for (int i = 0; i < (degree == 2 ? 1 : 2); i++) {
            const double b = 1 - 2 * a[i];
            add_point(rule, a[i], a[i], x[k], w[k] * area[i]);
            add_point(rule, b, a[i], x[k], w[k] * area[i]);
            add_point(rule, a[i], b, x[k], w[k] * area[i]);
        }
    }
}

/* Gauss in a = r / u and b = s / u, Gauss-Jacobi in u = 1 - t with the weight u^2 that the change of
 * variables brings along. */
static void rule_pyramid(int n, modal_element_rule *rule)
{
    const double root = sqrt(2.0 / 45);
    const double two[2] = {2.0 / 3 - root, 2.0 / 3 + root}, one[1] = {0.75};
    /* sums of weights 1/3 and of weights times u 1/4 */
    const double w0 = (two[1] / 3 - 0.25) / (two[1] - two[0]);
    const double two_weights[2] = {w0, 1.0 / 3 - w0}, one_weight[1] = {1.0 / 3};
    const double *u = n == 2 ? one : two, *wu = n == 2 ? one_weight : two_weights;
    double x[3], w[3];
    gauss(n, x, w);
    for (int k = 0; k < (n == 2 ? 1 : 2); k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                add_point(rule, x[i] * u[k], x[j] * u[k], 1 - u[k], w[i] * w[j] * wu[k]);
}

void modal_element_rule_init(modal_element_type type, modal_element_integral integral,
                             modal_element_rule *rule)
{
    const int mass = integral == MODAL_INTEGRAL_MASS;
    memset(rule, 0, sizeof *rule);
    rule->n_nodes = modal_element_kinds[type].n_nodes;
    switch (type) {
    case MODAL_ELEMENT_TET4: rule_tetrahedron(mass ? 2 : 1, rule); break;
    case MODAL_ELEMENT_TET10: rule_tetrahedron(mass ? 5 : 2, rule); break;
    case MODAL_ELEMENT_HEX8: rule_hexahedron(mass ? 3 : 2, rule); break;
    case MODAL_ELEMENT_HEX20: rule_hexahedron(3, rule); break;
    case MODAL_ELEMENT_WEDGE6: rule_wedge(mass ? 5 : 2, mass ? 3 : 2, rule); break;
    default: rule_pyramid(mass ? 3 : 2, rule); break;
    }
    for (int i = 0; i < rule->n_points; i++)
        modal_element_shape(type, rule->points[i], rule->values[i], rule->derivatives[i]);
}

double modal_element_jacobian(int n_nodes, const double (*derivatives)[3], const double *const *x,
                              double jacobian[3][3])
{
    double(*j)[3] = jacobian, sum[9] = {0};
    for (int a = 0; a < n_nodes; a++) {
        const double *d = derivatives[a], at[3] = {x[a][0], x[a][1], x[a][2]};
        for (int p = 0; p < 3; p++)
            for (int k = 0; k < 3; k++) sum[3 * p + k] += d[p] * at[k];
    }
    memcpy(j, sum, sizeof sum);
    return j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1]) -
           j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0]) +
           j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0]);
}

/* c[p][k] = det(j) d r_p / d x_k */
static void cofactors(double j[3][3], double c[3][3])
{
    for (int p = 0; p < 3; p++)
        for (int k = 0; k < 3; k++)
            c[p][k] = j[(p + 1) % 3][(k + 1) % 3] * j[(p + 2) % 3][(k + 2) % 3] -
                      j[(p + 1) % 3][(k + 2) % 3] * j[(p + 2) % 3][(k + 1) % 3];
}

double modal_element_gradients(int n_nodes, const double (*derivatives)[3], const double *const *x,
                               double *gradients)
{
    double j[3][3], c[3][3];
    const double det = modal_element_jacobian(n_nodes, derivatives, x, j);
    cofactors(j, c);
    for (int a = 0; a < n_nodes; a++)
        for (int k = 0; k < 3; k++) {
            const double *d = derivatives[a];
            gradients[3 * a + k] = d[0] * c[0][k] + d[1] * c[1][k] + d[2] * c[2][k];
        }
    return det;
}
