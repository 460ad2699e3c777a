/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of materials at one point: strain, energy, stress and tangent of a deformation. Everything in float64.
 *
 * A deformation is given by its displacement gradient H = F - I, row-major [3, 3]: H[3 p + k] = d u_p / d X_k.
 * Small strains are so not a difference of numbers near 1.
 *
 * | law    | strain E                 | energy per volume at rest | stress S |
 * | ------ | ------------------------ | ------------------------- | -------- |
 * | linear | (H + H^T) / 2            | E : C : E / 2             | C : E    |
 * | stvk   | (H + H^T + H^T H) / 2    | E : C : E / 2             | C : E    |
 *
 * | neo_hookean | Green's        | mu/2 (J^(-2/3) tr C - 3) + K/2 (J - 1)^2 | mu J^(-2/3) (I - tr C / 3 C^-1) + K J (J - 1) C^-1 |
 * | logarithmic | Green's        | mu/2 (tr C - 3) - mu ln J + lambda/2 (J - 1)^2 | mu (I - C^-1) + lambda J (J - 1) C^-1 |
 *
 * In the last two C = I + 2 E, J^2 = det C, K = lambda + 2 mu / 3; they are for isotropic materials alone, and only where J > 0.
 * stvk is St. Venant-Kirchhoff's law: E is Green's strain, S the second Piola-Kirchhoff stress, the first one
 * is P = F S, and Cauchy's F S F^T / det F. The linear law holds for small H, where these are one: it gives
 * C : E for all of them. C is isotropic or orthotropic (elasticity.h).
 *
 * A law is a row of the table in law.c: three functions of E (energy, S = d energy / d E, d S / d E), and whether E is
 * Green's strain. So every law of that kind is objective, and P, Cauchy's stress and the tangent are made here
 * for all. What a law needs besides C is a field of modal_law.
 *
 * Source: J. Bonet, R. D. Wood, "Nonlinear Continuum Mechanics for Finite Element Analysis", 2nd edition, 2008,
 * chapters 4 to 6. */
#ifndef MODAL_LAWS_LAW_H
#define MODAL_LAWS_LAW_H

#include "lib/laws/elasticity.h"

typedef enum modal_law_kind {
    MODAL_LAW_LINEAR = 0,
    MODAL_LAW_STVK = 1,
    MODAL_LAWS_OF_C = 2, /* those before take any C, the others an isotropic one */
    MODAL_LAW_NEO_HOOKEAN = 2,
    MODAL_LAW_LOGARITHMIC = 3,
    MODAL_LAWS = 4
} modal_law_kind;

typedef struct modal_law {
    modal_law_kind kind;
    modal_elasticity elasticity;
} modal_law;

/* The material must have passed modal_material_check. */
void modal_law_init(modal_law_kind kind, const modal_material *material, modal_law *law);

/* "linear", "stvk", "neo_hookean", "logarithmic". */
const char *modal_law_name(modal_law_kind kind);

/* The law's strain, symmetric [3, 3]. */
void modal_law_strain(const modal_law *law, const double gradient[9], double strain[9]);

/* J/m^3 of the volume at rest. */
double modal_law_energy(const modal_law *law, const double gradient[9]);

/* Pa, [3, 3]. Second Piola-Kirchhoff: symmetric, on areas at rest, turned back with the point. First: the
 * derivative of the energy by H; P N dA is the force on an area N dA at rest. */
void modal_law_second_stress(const modal_law *law, const double gradient[9], double stress[9]);
void modal_law_first_stress(const modal_law *law, const double gradient[9], double stress[9]);

/* Cauchy's stress, symmetric: the force on areas as they are. Returns det F (1 by the linear law). Where that is
 * not positive the point is turned inside out or flat: the numbers are the formula's and mean nothing. */
double modal_law_cauchy_stress(const modal_law *law, const double gradient[9], double stress[9]);

/* Adds Cauchy's stress of one family of fibres along the unit vector a at rest, W = eta/4 (I4' - 1)^2, I4' = J^(-2/3) a . C a; where J > 0. */
void modal_law_add_fibres(double eta, const double fibre[3], const double gradient[9], double stress[9]);

/* tangent[3 p + k][3 q + l] = d P_pk / d H_ql, Pa, symmetric. */
void modal_law_tangent(const modal_law *law, const double gradient[9], double tangent[9][9]);

/* Von Mises' equivalent of a symmetric stress [3, 3]: sqrt(3/2 s : s), s its deviator. Of differences alone, so
 * that a pressure cancels nothing. */
double modal_von_mises(const double stress[9]);

#endif
