/* SPDX-License-Identifier: Apache-2.0 */
/* The stiffness is linear in the integrals of g_a g_b^T, nine numbers a pair of nodes: these are summed
 * over the quadrature points, and the elasticity tensor, constant in the element, is applied once. */
#include "lib/fem/element_matrices.h"

#include <string.h>

#include "lib/fem/enhanced.h"
#include "lib/fem/tetrahedron.h"

static void linear_tetrahedron(const double *const *x, const modal_elasticity *e, double density,
                               modal_mass_rule rule, modal_element_matrices *m)
{
    double gradients[4][3], g[9];
    const double volume = modal_tetrahedron_gradients(x, gradients);
    for (int a = 0; a < 4; a++) {
        for (int b = a; b < 4; b++) {
            for (int k = 0; k < 9; k++) g[k] = volume * gradients[a][k / 3] * gradients[b][k % 3];
            modal_elasticity_block(e, g, m->stiffness[a][b]);
        }
        for (int b = 0; b < 4; b++)
            m->mass[a][b] = modal_tetrahedron_mass_entry(density * volume, rule, a == b);
    }
}

static void integrate_stiffness(const modal_element_rule *rule, const double *const *x,
                                const modal_elasticity *e, modal_element_matrices *m)
{
    const int n = rule->n_nodes;
    /* [a][r][3 b + s]: rows long enough for SIMD */
    double products[MODAL_ELEMENT_MOST_NODES][3][3 * MODAL_ELEMENT_MOST_NODES];
    for (int a = 0; a < n; a++) memset(products[a], 0, sizeof products[a]);
    for (int q = 0; q < rule->n_points; q++) {
        double gradients[3 * MODAL_ELEMENT_MOST_NODES];
        const double det = modal_element_gradients(n, rule->derivatives[q], x, gradients);
        const double weight = rule->weights[q] / det; /* of products of det times the gradients */
        for (int a = 0; a < n; a++)
            for (int r = 0; r < 3; r++) {
                const double factor = weight * gradients[3 * a + r];
                double *row = products[a][r];
                for (int i = 3 * a; i < 3 * n; i++) row[i] += factor * gradients[i];
            }
    }
    for (int a = 0; a < n; a++)
        for (int b = a; b < n; b++) {
            double g[9];
            for (int k = 0; k < 9; k++) g[k] = products[a][k / 3][3 * b + k % 3];
            modal_elasticity_block(e, g, m->stiffness[a][b]);
        }
}

static void integrate_mass(const modal_element_rule *rule, const double *const *x, double density,
                           modal_element_matrices *m)
{
    const int n = rule->n_nodes;
    for (int q = 0; q < rule->n_points; q++) {
        double j[3][3];
        const double det = modal_element_jacobian(n, rule->derivatives[q], x, j);
        const double weight = density * rule->weights[q] * det;
        for (int a = 0; a < n; a++) {
            const double factor = weight * rule->values[q][a];
            for (int b = a; b < n; b++) m->mass[a][b] += factor * rule->values[q][b];
        }
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < a; b++) m->mass[a][b] = m->mass[b][a];
}

static void lump(modal_element_matrices *m)
{
    double total = 0, diagonal = 0;
    for (int a = 0; a < m->n_nodes; a++) {
        diagonal += m->mass[a][a];
        for (int b = 0; b < m->n_nodes; b++) total += m->mass[a][b];
    }
    for (int a = 0; a < m->n_nodes; a++)
        for (int b = 0; b < m->n_nodes; b++) m->mass[a][b] *= a == b ? total / diagonal : 0;
}

void modal_element_matrices_compute(const modal_volume_mesh *mesh, int64_t element,
                                    const modal_rule_table *table, const modal_elasticity *elasticity,
                                    double density, modal_mass_rule rule, modal_element_matrices *m)
{
    const int type = mesh->element_type[element];
    const int32_t *nodes = modal_mesh_nodes(mesh, element);
    const double *x[MODAL_ELEMENT_MOST_NODES];
    m->n_nodes = modal_element_kinds[type].n_nodes;
    for (int a = 0; a < m->n_nodes; a++) {
        x[a] = mesh->nodes + 3 * (int64_t)nodes[a];
        for (int b = 0; b < m->n_nodes; b++) m->mass[a][b] = 0;
    }
    if (type == MODAL_ELEMENT_TET4) {
        linear_tetrahedron(x, elasticity, density, rule, m);
    } else {
        const modal_element_rule *rules = table->rules[type];
        const int enhancement = modal_element_enhancement(mesh, element);
        if (enhancement)
            modal_enhanced_stiffness(enhancement, &rules[MODAL_INTEGRAL_STIFFNESS], x, elasticity, m);
        else
            integrate_stiffness(&rules[MODAL_INTEGRAL_STIFFNESS], x, elasticity, m);
        integrate_mass(&rules[rule == MODAL_MASS_STIFFNESS_POINTS ? MODAL_INTEGRAL_STIFFNESS
                                                                  : MODAL_INTEGRAL_MASS],
                       x, density, m);
        if (rule == MODAL_MASS_LUMPED) lump(m);
    }
    for (int a = 0; a < m->n_nodes; a++) {
        double *diagonal = m->stiffness[a][a]; /* symmetric to the last bit */
        for (int k = 0; k < 9; k++)
            if (k / 3 > k % 3) diagonal[k] = diagonal[3 * (k % 3) + k / 3];
        m->nodal_mass[a] = 0;
        for (int b = 0; b < m->n_nodes; b++) m->nodal_mass[a] += m->mass[a][b];
    }
}
