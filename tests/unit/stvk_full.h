/* SPDX-License-Identifier: Apache-2.0 */
/* St. Venant-Kirchhoff material in full, for the tests of what is reduced of it: energy and nodal forces of
 * x = X + u by elements of every type, from F, E and S. Shape functions and points of quadrature are the
 * library's (test_elements.c is about them); Jacobians are inverted and stresses made here. */
#ifndef MODAL_TESTS_STVK_FULL_H
#define MODAL_TESTS_STVK_FULL_H

#include <math.h>
#include <string.h>

#include "lib/mesh/element_shape.h"
#include "lib/model/volume_mesh.h"

/* inverse = m^-1; returns the determinant. */
static inline double stvk_invert(const double m[3][3], double inverse[3][3])
{
    double det = 0;
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            inverse[q][p] = m[(p + 1) % 3][(q + 1) % 3] * m[(p + 2) % 3][(q + 2) % 3] -
                            m[(p + 1) % 3][(q + 2) % 3] * m[(p + 2) % 3][(q + 1) % 3];
    for (int q = 0; q < 3; q++) det += m[0][q] * inverse[q][0];
    for (int p = 0; p < 9; p++) inverse[p / 3][p % 3] /= det;
    return det;
}

/* out = a b a^T, or a^T b a. */
static inline void stvk_turn(const double a[9], int transposed, const double b[3][3], double out[3][3])
{
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) {
            out[p][q] = 0;
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++)
                    out[p][q] += (transposed ? a[3 * r + p] * a[3 * s + q] : a[3 * p + r] * a[3 * q + s]) *
                                 b[r][s];
        }
}

/* S of E; an orthotropic one in its own axes, from the compliance. */
static inline void stvk_stress(const modal_material *m, const double strain[3][3], double stress[3][3])
{
    if (m->kind == MODAL_MATERIAL_ISOTROPIC) {
        const double lambda = m->young * m->poisson / (1 + m->poisson) / (1 - 2 * m->poisson),
                     mu = m->young / 2 / (1 + m->poisson);
        for (int p = 0; p < 9; p++)
            stress[p / 3][p % 3] = 2 * mu * strain[p / 3][p % 3] +
                                   (p % 4 == 0) * lambda * (strain[0][0] + strain[1][1] + strain[2][2]);
        return;
    }
    const double *c = m->orthotropic;
    const double compliance[3][3] = {{1 / c[0], -c[3] / c[0], -c[4] / c[0]},
                                     {-c[3] / c[0], 1 / c[1], -c[5] / c[1]},
                                     {-c[4] / c[0], -c[5] / c[1], 1 / c[2]}};
    double stiffness[3][3], e[3][3], s[3][3] = {{0}};
    stvk_invert(compliance, stiffness);
    stvk_turn(m->axes, 0, strain, e);
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) s[p][p] += stiffness[p][q] * e[q][q];
    s[0][1] = s[1][0] = 2 * c[6] * e[0][1];
    s[0][2] = s[2][0] = 2 * c[7] * e[0][2];
    s[1][2] = s[2][1] = 2 * c[8] * e[1][2];
    stvk_turn(m->axes, 1, s, stress);
}

/* Of F: energy density, and P = F S. */
static inline double stvk_density(const modal_material *m, const double f[3][3], double p[3][3])
{
    double strain[3][3], stress[3][3], energy = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            strain[i][j] = i == j ? -0.5 : 0;
            for (int k = 0; k < 3; k++) strain[i][j] += 0.5 * f[k][i] * f[k][j];
        }
    stvk_stress(m, strain, stress);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            energy += 0.5 * stress[i][j] * strain[i][j];
            p[i][j] = 0;
            for (int k = 0; k < 3; k++) p[i][j] += f[i][k] * stress[k][j];
        }
    return energy;
}

/* The energy, J, and its gradient by u in force [n_nodes, 3], N; force may be NULL. */
static inline double stvk_full(const modal_volume_mesh *mesh, const double *u, double *force)
{
    double energy = 0;
    if (force) memset(force, 0, (size_t)(3 * mesh->n_nodes) * sizeof *force);
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int n = modal_mesh_kind(mesh, e)->n_nodes;
        const int32_t *nodes = modal_mesh_nodes(mesh, e);
        modal_element_rule rule;
        modal_element_rule_init((modal_element_type)mesh->element_type[e], MODAL_INTEGRAL_STIFFNESS, &rule);
        for (int q = 0; q < rule.n_points; q++) {
            double x[3][3] = {{0}}, y[3][3] = {{0}}, inverse[3][3], f[3][3] = {{0}}, p[3][3];
            for (int a = 0; a < n; a++)
                for (int i = 0; i < 3; i++)
                    for (int k = 0; k < 3; k++) {
                        const double at = mesh->nodes[3 * nodes[a] + i], slope = rule.derivatives[q][a][k];
                        x[i][k] += at * slope;
                        y[i][k] += (at + u[3 * nodes[a] + i]) * slope;
                    }
            const double volume = rule.weights[q] * fabs(stvk_invert(x, inverse));
            for (int i = 0; i < 27; i++) f[i / 9][i / 3 % 3] += y[i / 9][i % 3] * inverse[i % 3][i / 3 % 3];
            energy += volume * stvk_density(&mesh->materials[mesh->element_material[e]], f, p);
            for (int a = 0; a < n && force; a++)
                for (int i = 0; i < 27; i++)
                    force[3 * nodes[a] + i / 9] += volume * p[i / 9][i / 3 % 3] * inverse[i % 3][i / 3 % 3] *
                                                   rule.derivatives[q][a][i % 3];
        }
    }
    return energy;
}

#endif
