/* SPDX-License-Identifier: Apache-2.0 */
/* The linear tetrahedron (T4): isotropic linear elasticity, exactly integrated.
 * Source: O. C. Zienkiewicz, R. L. Taylor, J. Z. Zhu, "The Finite Element Method: Its Basis and
 * Fundamentals", 6th edition, 2005, chapter 6 (stiffness) and 16 (consistent and lumped mass). */
#ifndef MODAL_FEM_TETRAHEDRON_H
#define MODAL_FEM_TETRAHEDRON_H

#include "lib/model/basis.h"

/* Lame constants of E and nu: sigma = lambda tr(e) I + 2 mu e. */
static inline void modal_lame_constants(double young, double poisson, double *lambda, double *mu)
{
    *lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    *mu = young / (2 * (1 + poisson));
}

/* Writes the gradients of the four shape functions (1/m), constant in the element, and returns the
 * volume (m^3), never negative: neither stiffness nor mass depends on the element's orientation.
 * A flat element gives volume 0 and gradients that are not finite. */
double modal_tetrahedron_gradients(const double *const corners[4], double gradients[4][3]);

/* Block (a, b) of the element stiffness, row-major, N/m:
 * V (lambda g_a g_b^T + mu g_b g_a^T + mu (g_a . g_b) I). Block (b, a) is bitwise its transpose. */
static inline void modal_tetrahedron_stiffness_block(const double ga[3], const double gb[3],
                                                     double v_lambda, double v_mu, double block[9])
{
    const double diagonal = v_mu * (ga[0] * gb[0] + ga[1] * gb[1] + ga[2] * gb[2]);
    for (int p = 0; p < 3; p++) {
        for (int q = 0; q < 3; q++)
            block[3 * p + q] = v_lambda * (ga[p] * gb[q]) + v_mu * (ga[q] * gb[p]);
        block[4 * p] += diagonal;
    }
}

/* Entry (a, b) of the element mass, kg, a multiple of the 3 x 3 identity: consistent
 * rho V / 20 (1 + delta_ab), lumped rho V / 4 delta_ab, by the one point of the stiffness rho V / 16. */
static inline double modal_tetrahedron_mass_entry(double element_mass, modal_mass_rule rule,
                                                  int diagonal)
{
    if (rule == MODAL_MASS_LUMPED) return diagonal ? element_mass / 4 : 0;
    if (rule == MODAL_MASS_STIFFNESS_POINTS) return element_mass / 16;
    return element_mass / 20 * (diagonal ? 2 : 1);
}

/* The whole element stiffness [4, 3, 4, 3]. */
void modal_tetrahedron_stiffness(const double *const corners[4], double young, double poisson,
                                 double stiffness[144]);

#endif
