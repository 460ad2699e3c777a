/* SPDX-License-Identifier: Apache-2.0 */
/* The linear tetrahedron (T4): isotropic linear elasticity, exactly integrated.
 * Source: O. C. Zienkiewicz, R. L. Taylor, J. Z. Zhu, "The Finite Element Method: Its Basis and
 * Fundamentals", 6th edition, 2005, chapter 6 (stiffness) and 16 (consistent and lumped mass). */
#ifndef MODAL_FEM_TETRAHEDRON_H
#define MODAL_FEM_TETRAHEDRON_H

#include "lib/model/basis.h"

/* Writes the gradients of the four shape functions (1/m), constant in the element, and returns the
 * volume (m^3), never negative: neither stiffness nor mass depends on the element's orientation.
 * A flat element gives volume 0 and gradients that are not finite. */
double modal_tetrahedron_gradients(const double *const corners[4], double gradients[4][3]);

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
