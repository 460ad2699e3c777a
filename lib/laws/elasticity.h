/* SPDX-License-Identifier: Apache-2.0 */
/* The constants of linear elastic materials, isotropic and orthotropic, as the methods use them: the
 * elasticity tensor C, Lame's constants, and a root of C. Stress is C : strain; which strain and which stress
 * these are is the law's affair (lib/laws/law.h).
 * Sources: O. C. Zienkiewicz, R. L. Taylor, J. Z. Zhu, "The Finite Element Method: Its Basis and
 * Fundamentals", 6th edition, 2005, chapter 6; R. M. Jones, "Mechanics of Composite Materials", 2nd edition,
 * 1999, section 2.4 (orthotropic). */
#ifndef MODAL_LAWS_ELASTICITY_H
#define MODAL_LAWS_ELASTICITY_H

#include "lib/model/volume_mesh.h"

typedef struct modal_elasticity {
    int isotropic;
    double lambda, mu;   /* Lame's constants, Pa; isotropic only */
    double tensor[9][9]; /* Pa, in the solid's coordinates: sigma_pq = sum tensor[3 p + q][3 r + s] e_rs,
                            symmetric in p q, in r s, and in the pairs */
} modal_elasticity;

/* The material must have passed modal_material_check. */
void modal_elasticity_init(const modal_material *material, modal_elasticity *elasticity);

/* Lame's constants of E and nu: sigma = lambda tr(e) I + 2 mu e. */
static inline void modal_lame_constants(double young, double poisson, double *lambda, double *mu)
{
    *lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    *mu = young / (2 * (1 + poisson));
}

/* stress = C : strain, both [3, 3]. */
static inline void modal_elasticity_stress(const modal_elasticity *e, const double strain[9], double stress[9])
{
    for (int p = 0; p < 9; p++) {
        stress[p] = 0;
        for (int r = 0; r < 9; r++) stress[p] += e->tensor[p][r] * strain[r];
    }
}

/* The stiffness between two shape functions a and b at rest, block[3 p + q] = sum C_prqs g[3 r + s], where g is
 * the integral of grad N_a grad N_b^T. Few products for an isotropic material. */
static inline void modal_elasticity_block(const modal_elasticity *e, const double g[9], double block[9])
{
    if (e->isotropic) {
        const double trace = e->mu * (g[0] + g[4] + g[8]);
        for (int p = 0; p < 3; p++) {
            for (int q = 0; q < 3; q++) block[3 * p + q] = e->lambda * g[3 * p + q] + e->mu * g[3 * q + p];
            block[4 * p] += trace;
        }
        return;
    }
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) {
            double sum = 0;
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++) sum += e->tensor[3 * p + r][3 * q + s] * g[3 * r + s];
            block[3 * p + q] = sum;
        }
}

/* The same where the gradients are constant in an element of volume v and the material is isotropic:
 * v (lambda g_a g_b^T + mu g_b g_a^T + mu (g_a . g_b) I). Block (b, a) is bitwise its transpose. */
static inline void modal_isotropic_block(const double ga[3], const double gb[3], double v_lambda, double v_mu,
                                         double block[9])
{
    const double diagonal = v_mu * (ga[0] * gb[0] + ga[1] * gb[1] + ga[2] * gb[2]);
    for (int p = 0; p < 3; p++) {
        for (int q = 0; q < 3; q++)
            block[3 * p + q] = v_lambda * (ga[p] * gb[q]) + v_mu * (ga[q] * gb[p]);
        block[4 * p] += diagonal;
    }
}

enum { MODAL_ELASTICITY_ROOT = 21 };

/* Cholesky: the upper triangle, by rows, of R with R^T R = C for the strains 11 22 33 2*23 2*13 2*12. */
void modal_elasticity_root(const modal_elasticity *elasticity, double root[MODAL_ELASTICITY_ROOT]);

#endif
