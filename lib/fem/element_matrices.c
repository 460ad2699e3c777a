/* SPDX-License-Identifier: Apache-2.0 */
/* The stiffness is linear in the integrals of g_a g_b^T, nine numbers a pair of nodes: these are summed
 * over the quadrature points, and the elasticity tensor, constant in the element, is applied once. */
#include "lib/fem/element_matrices.h"

#include <string.h>

#include "lib/fem/tetrahedron.h"

void modal_elastic_block(const double tensor[9][9], const double g[9], double block[9])
{
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) {
            double sum = 0;
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++) sum += tensor[3 * p + r][3 * q + s] * g[3 * r + s];
            block[3 * p + q] = sum;
        }
}

/* The same for an isotropic material, with far fewer products. */
static void isotropic_block(double lambda, double mu, const double g[9], double block[9])
{
    const double trace = mu * (g[0] + g[4] + g[8]);
    for (int p = 0; p < 3; p++) {
        for (int q = 0; q < 3; q++) block[3 * p + q] = lambda * g[3 * p + q] + mu * g[3 * q + p];
        block[4 * p] += trace;
    }
}

/* What a material makes of the integrals of products of gradients. */
typedef struct elasticity {
    const double (*tensor)[9]; /* orthotropic */
    int isotropic;
    double lambda, mu;
} elasticity;

static void elastic_block(const elasticity *e, const double g[9], double block[9])
{
    if (e->isotropic) isotropic_block(e->lambda, e->mu, g, block);
    else modal_elastic_block(e->tensor, g, block);
}

static void linear_tetrahedron(const double *const *x, const elasticity *e, double density,
                               modal_mass_rule rule, modal_element_matrices *m)
{
    double gradients[4][3], g[9];
    const double volume = modal_tetrahedron_gradients(x, gradients);
    for (int a = 0; a < 4; a++) {
        for (int b = a; b < 4; b++) {
            for (int k = 0; k < 9; k++) g[k] = volume * gradients[a][k / 3] * gradients[b][k % 3];
            elastic_block(e, g, m->stiffness[a][b]);
        }
        for (int b = 0; b < 4; b++)
            m->mass[a][b] = modal_tetrahedron_mass_entry(density * volume, rule, a == b);
    }
}

static void integrate_stiffness(const modal_element_rule *rule, const double *const *x,
                                const elasticity *e, modal_element_matrices *m)
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
            elastic_block(e, g, m->stiffness[a][b]);
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
                                    const modal_rule_table *table, const modal_material *material,
                                    const double tensor[9][9], modal_mass_rule rule,
                                    modal_element_matrices *m)
{
    elasticity e = {.tensor = tensor, .isotropic = material->kind == MODAL_MATERIAL_ISOTROPIC};
    const double density = material->density;
    if (e.isotropic) modal_lame_constants(material->young, material->poisson, &e.lambda, &e.mu);
    const int type = mesh->element_type[element];
    const int32_t *nodes = modal_mesh_nodes(mesh, element);
    const double *x[MODAL_ELEMENT_MOST_NODES];
    m->n_nodes = modal_element_kinds[type].n_nodes;
    for (int a = 0; a < m->n_nodes; a++) {
        x[a] = mesh->nodes + 3 * (int64_t)nodes[a];
        for (int b = 0; b < m->n_nodes; b++) m->mass[a][b] = 0;
    }
    if (type == MODAL_ELEMENT_TET4) {
        linear_tetrahedron(x, &e, density, rule, m);
    } else {
        const modal_element_rule *rules = table->rules[type];
        integrate_stiffness(&rules[MODAL_INTEGRAL_STIFFNESS], x, &e, m);
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
