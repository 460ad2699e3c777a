/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of a hexahedron with one point (tled_solid.h), for processors and GPUs, in closed form. With the modes m_k = sum_a s_ka X_a of the
 * corners, s_k the signs of xi, eta, zeta, xi eta, eta zeta, xi zeta, the volume of the trilinear element is D / 64,
 *   D = det(m1 m2 m3) + third (det(m1 m4 m6) + det(m4 m2 m5) + det(m6 m5 m3)), third = 1/3,
 * and its derivatives by the corners are V times the gradients' means: V grad N_a = sum_k s_ka c_k / 64, c_k = dD / dm_k. With third = 0 the
 * same formulas give 8 det J(0) and the gradients at the centre. */
#ifndef MODAL_KERNELS_TLED_HEXAHEDRON_H
#define MODAL_KERNELS_TLED_HEXAHEDRON_H

#include "kernels/tled_step/tled_low.h"

MODAL_TLED_BOTH int modal_tled_mode_sign(int k, int a)
{
    const int xi = a % 4 == 1 || a % 4 == 2 ? 1 : -1, eta = a % 4 >= 2 ? 1 : -1, zeta = a >= 4 ? 1 : -1;
    return k == 0 ? xi : k == 1 ? eta : k == 2 ? zeta : k == 3 ? xi * eta : k == 4 ? eta * zeta : xi * zeta;
}

MODAL_TLED_BOTH void modal_tled_add_cross(double factor, const double a[3], const double b[3], double to[3])
{
    for (int i = 0; i < 3; i++) to[i] += factor * (a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3]);
}

/* x [8, 3] the corners, m, in VTK's order; third as above. gradients [8, 3], 1/m; returns the volume that goes with them, m^3. Where that is not
 * positive the gradients mean nothing. */
MODAL_TLED_BOTH double modal_tled_hexahedron_gradients(const double x[8][3], double third, double gradients[8][3])
{
    double m[6][3], c[6][3], d = 0;
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 3; i++) {
            m[k][i] = c[k][i] = 0;
            for (int a = 1; a < 8; a++) m[k][i] += modal_tled_mode_sign(k, a) * (x[a][i] - x[0][i]); /* the signs' sum is 0 */
        }
    modal_tled_add_cross(1, m[1], m[2], c[0]), modal_tled_add_cross(third, m[3], m[5], c[0]);
    modal_tled_add_cross(1, m[2], m[0], c[1]), modal_tled_add_cross(third, m[4], m[3], c[1]);
    modal_tled_add_cross(1, m[0], m[1], c[2]), modal_tled_add_cross(third, m[5], m[4], c[2]);
    modal_tled_add_cross(third, m[1], m[4], c[3]), modal_tled_add_cross(third, m[5], m[0], c[3]);
    modal_tled_add_cross(third, m[3], m[1], c[4]), modal_tled_add_cross(third, m[2], m[5], c[4]);
    modal_tled_add_cross(third, m[4], m[2], c[5]), modal_tled_add_cross(third, m[0], m[3], c[5]);
    for (int i = 0; i < 3; i++) d += m[0][i] * c[0][i] + m[4][i] * c[4][i];
    for (int a = 0; a < 8; a++)
        for (int i = 0; i < 3; i++) {
            gradients[a][i] = 0;
            for (int k = 0; k < 6; k++) gradients[a][i] += modal_tled_mode_sign(k, a) * c[k][i];
            gradients[a][i] /= d;
        }
    return d / 64;
}

#endif
