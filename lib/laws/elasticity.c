/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/laws/elasticity.h"

#include <math.h>

#include "lib/model/material.h"

enum { E1, E2, E3, NU12, NU13, NU23, G12, G13, G23 };

/* The two axes of nu_ij and G_ij, in order 12, 13, 23. */
static const int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};

static void isotropic_tensor(double lambda, double mu, double tensor[9][9])
{
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++)
                    tensor[3 * p + q][3 * r + s] = lambda * (p == q) * (r == s) +
                                                   mu * ((p == r) * (q == s) + (p == s) * (q == r));
}

static void orthotropic_tensor(const modal_material *material, double tensor[9][9])
{
    const double *c = material->orthotropic, d = modal_orthotropic_determinant(c);
    const double nu21 = c[NU12] * c[E2] / c[E1], nu31 = c[NU13] * c[E3] / c[E1];
    const double nu32 = c[NU23] * c[E3] / c[E2];
    /* the inverse of the normal part of the compliance */
    const double c12 = c[E1] * (nu21 + nu31 * c[NU23]) / d, c13 = c[E1] * (nu31 + nu21 * nu32) / d;
    const double c23 = c[E2] * (nu32 + c[NU12] * nu31) / d;
    const double normal[3][3] = {{c[E1] * (1 - c[NU23] * nu32) / d, c12, c13},
                                 {c12, c[E2] * (1 - c[NU13] * nu31) / d, c23},
                                 {c13, c23, c[E3] * (1 - c[NU12] * nu21) / d}};
    double local[3][3][3][3] = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) local[i][i][j][j] = normal[i][j];
    for (int k = 0; k < 3; k++) {
        const int i = pairs[k][0], j = pairs[k][1];
        local[i][j][i][j] = local[i][j][j][i] = local[j][i][i][j] = local[j][i][j][i] = c[G12 + k];
    }
    const double *a = material->axes;
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++) {
                    double sum = 0;
                    for (int i = 0; i < 3; i++)
                        for (int j = 0; j < 3; j++)
                            for (int k = 0; k < 3; k++)
                                for (int l = 0; l < 3; l++)
                                    sum += a[3 * i + p] * a[3 * j + q] * a[3 * k + r] * a[3 * l + s] *
                                           local[i][j][k][l];
                    tensor[3 * p + q][3 * r + s] = sum;
                }
}

void modal_elasticity_init(const modal_material *material, modal_elasticity *e)
{
    e->isotropic = material->kind == MODAL_MATERIAL_ISOTROPIC;
    e->lambda = e->mu = 0;
    if (e->isotropic) {
        modal_lame_constants(material->young, material->poisson, &e->lambda, &e->mu);
        isotropic_tensor(e->lambda, e->mu, e->tensor);
    } else {
        orthotropic_tensor(material, e->tensor);
    }
}

void modal_elasticity_root(const modal_elasticity *elasticity, double root[MODAL_ELASTICITY_ROOT])
{
    /* xx yy zz yz xz xy */
    static const int place[6] = {0, 4, 8, 5, 2, 1};
    double r[6][6] = {{0}};
    int at = 0;
    for (int i = 0; i < 6; i++)
        for (int j = i; j < 6; j++) {
            double sum = elasticity->tensor[place[i]][place[j]];
            for (int k = 0; k < i; k++) sum -= r[k][i] * r[k][j];
            r[i][j] = i == j ? sqrt(sum) : sum / r[i][i];
            root[at++] = r[i][j];
        }
}
