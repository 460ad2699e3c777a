/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tled_step/tled_solid.h"

#include <math.h>
#include <stddef.h>

#include "kernels/tled_step/tled_hexahedron.h"

static void cofactors(const double h[9], double c[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int p = (i + 1) % 3, q = (i + 2) % 3, r = (j + 1) % 3, s = (j + 2) % 3;
            c[3 * i + j] = h[3 * p + r] * h[3 * q + s] - h[3 * p + s] * h[3 * q + r];
        }
}

/* dX[3 a + i], rows of a 3 x 3 matrix: its determinant, and where that is positive its inverse's columns in g[a]. */
static double inverse_rows(const double m[9], double g[9])
{
    double c[9];
    cofactors(m, c);
    const double det = m[0] * c[0] + m[1] * c[1] + m[2] * c[2];
    if (!(det > 0)) return det;
    for (int k = 0; k < 9; k++) g[k] = c[k] / det;
    return det;
}

double modal_tled_tetrahedron_shape(const double *nodes, const int32_t corners[4], double gradients[3][3])
{
    double edges[9];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            edges[3 * a + i] = nodes[3 * (int64_t)corners[a + 1] + i] - nodes[3 * (int64_t)corners[0] + i];
    return inverse_rows(edges, &gradients[0][0]) / 6;
}

static const double signs[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                   {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

double modal_tled_hexahedron_shape(const double *nodes, const int32_t corners[8], int centre, modal_tled_hexahedron *shape)
{
    double x[8][3], sum = 0;
    for (int n = 0; n < 8; n++)
        for (int i = 0; i < 3; i++) x[n][i] = nodes[3 * (int64_t)corners[n] + i];
    const double middle = modal_tled_hexahedron_gradients(x, 0, shape->gradients);
    if (!(middle > 0)) return middle;
    shape->weight = middle;
    if (centre) {
        double unused[8][3];
        shape->volume = modal_tled_hexahedron_gradients(x, 1.0 / 3, unused);
    } else {
        shape->weight = shape->volume = modal_tled_hexahedron_gradients(x, 1.0 / 3, shape->gradients);
    }
    if (!(shape->volume > 0)) return shape->volume;
    for (int k = 0; k < 24; k++) sum += shape->gradients[k / 3][k % 3] * shape->gradients[k / 3][k % 3];
    shape->sum = shape->volume / 8 * sum;
    for (int m = 0; m < 4; m++) {
        double base[8], moment[3] = {0, 0, 0};
        for (int n = 0; n < 8; n++) {
            const double *s = signs[n];
            base[n] = m == 0 ? s[0] * s[1] : m == 1 ? s[1] * s[2] : m == 2 ? s[0] * s[2] : s[0] * s[1] * s[2];
            for (int i = 0; i < 3; i++) moment[i] += base[n] * (x[n][i] - x[0][i]); /* the signs' sum is 0 */
        }
        for (int n = 0; n < 8; n++)
            shape->gamma[m][n] = base[n] - (shape->gradients[n][0] * moment[0] + shape->gradients[n][1] * moment[1] +
                                            shape->gradients[n][2] * moment[2]);
    }
    return middle;
}

static void stvk_stress(const modal_tled_material *m, const double h[9], double stress[9])
{
    double s[9], trace = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double e = h[3 * i + j] + h[3 * j + i];
            for (int k = 0; k < 3; k++) e += h[3 * k + i] * h[3 * k + j];
            s[3 * i + j] = m->mu * e; /* 2 mu E */
            if (i == j) trace += e / 2;
        }
    for (int i = 0; i < 3; i++) s[4 * i] += m->modulus * trace;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double p = s[3 * i + j];
            for (int k = 0; k < 3; k++) p += h[3 * i + k] * s[3 * k + j];
            stress[3 * i + j] = p;
        }
}

double modal_tled_law_stress(const modal_tled_material *m, const double h[9], const double *pressure, double stress[9])
{
    double c[9], square = 0;
    cofactors(h, c);
    for (int k = 0; k < 9; k++) square += h[k] * h[k];
    const double t = h[0] + h[4] + h[8], i = c[0] + c[4] + c[8], d = h[0] * c[0] + h[1] * c[1] + h[2] * c[2];
    const double above = t + i + d, jacobian = 1 + above, volumetric = pressure ? *pressure : m->modulus * above;
    double a, turned, identity; /* P = a H + turned (H^T - C) + identity I */
    if (m->law == MODAL_TLED_STVK) {
        stvk_stress(m, h, stress);
        return above;
    }
    if (m->law == MODAL_TLED_LOGARITHMIC) {
        const double mu = m->mu / jacobian, l = volumetric;
        a = m->mu;
        turned = mu - l;
        identity = mu * (i + d) + l + l * t;
    } else {
        a = m->mu * pow(jacobian, -2.0 / 3);
        const double b = volumetric - a * (square - t - 3 * (i + d)) / (3 * jacobian);
        turned = a - b;
        identity = b + b * t - a * t;
    }
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            stress[3 * p + q] = a * h[3 * p + q] + turned * (h[3 * q + p] - c[3 * p + q]) + (p == q ? identity : 0);
    return above;
}

double modal_tled_stress(const modal_tled_material *m, const double h[9], double stress[9])
{
    return modal_tled_law_stress(m, h, NULL, stress);
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* A bilinear quadrilateral's area vector is linear in each of its two coordinates, times N_a of degree 2: Gauss's rule of
 * two points is exact. */
void modal_tled_face_force(int n_corners, const double x[4][3], double force[4][3])
{
    double one[3], two[3], area[3];
    if (n_corners == 3) {
        for (int i = 0; i < 3; i++) one[i] = x[1][i] - x[0][i], two[i] = x[2][i] - x[0][i];
        cross(one, two, area);
        for (int a = 0; a < 3; a++)
            for (int i = 0; i < 3; i++) force[a][i] = -area[i] / 6;
        return;
    }
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < 3; i++) force[a][i] = 0;
    for (int k = 0; k < 4; k++) {
        const double r = signs[k][0] / sqrt(3), s = signs[k][1] / sqrt(3);
        for (int i = 0; i < 3; i++) one[i] = two[i] = 0;
        for (int a = 0; a < 4; a++)
            for (int i = 0; i < 3; i++) {
                one[i] += signs[a][0] * (1 + signs[a][1] * s) / 4 * x[a][i];
                two[i] += signs[a][1] * (1 + signs[a][0] * r) / 4 * x[a][i];
            }
        cross(one, two, area);
        for (int a = 0; a < 4; a++)
            for (int i = 0; i < 3; i++)
                force[a][i] -= (1 + signs[a][0] * r) * (1 + signs[a][1] * s) / 4 * area[i];
    }
}
