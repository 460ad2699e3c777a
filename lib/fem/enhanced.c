/* SPDX-License-Identifier: Apache-2.0 */
/* det J times the gradient of mode k at a point is -2 r_k cof_k, where cof_k = det J_0 J_0^-T e_k does not depend on the point. So
 * integrals over pairs of modes are numbers S_kl times cof_k cof_l^T, and those over a mode and a shape function vectors T_ka. */
#include "lib/fem/enhanced.h"

#include <math.h>
#include <string.h>

enum { CORNERS = MODAL_ELEMENT_MOST_CORNERS, MODES = 3, INNER = 3 * MODES, OUTER = 3 * CORNERS };

int modal_element_enhancement(const modal_volume_mesh *mesh, int64_t e)
{
    const int type = mesh->element_type[e], m = mesh->element_material[e];
    if (mesh->stiffness_rule == MODAL_STIFFNESS_PLAIN || (type != MODAL_ELEMENT_HEX8 && type != MODAL_ELEMENT_WEDGE6)) return 0;
    const modal_material *material = m >= 0 ? &mesh->materials[m] : NULL;
    const int mean = material && material->kind == MODAL_MATERIAL_ISOTROPIC && material->poisson >= MODAL_NEARLY_INCOMPRESSIBLE;
    return (type == MODAL_ELEMENT_HEX8 ? MODAL_ENHANCED_MODES : 0) | (mean ? MODAL_ENHANCED_DILATATION : 0);
}

int modal_volume_mesh_is_enhanced(const modal_volume_mesh *mesh)
{
    for (int64_t e = 0; e < mesh->n_elements; e++)
        if (modal_element_enhancement(mesh, e)) return 1;
    return 0;
}

/* What the points add up to. */
typedef struct sums {
    double volume;
    double means[CORNERS][3];          /* mean gradients */
    double cofactors[MODES][3];        /* cof_k */
    double modes[MODES][MODES];        /* S_kl */
    double inverse[MODES][MODES];      /* of it */
    double mixed[CORNERS][MODES][3];   /* T_ka */
    double products[CORNERS][3][OUTER]; /* integrals of gradient a (component r) times gradient b, from b = a on */
} sums;

/* inverse = S^-1, which is positive definite. */
static void invert(double s[MODES][MODES], double inverse[MODES][MODES])
{
    double det = 0;
    for (int p = 0; p < 3; p++)
        for (int k = 0; k < 3; k++)
            inverse[k][p] = s[(p + 1) % 3][(k + 1) % 3] * s[(p + 2) % 3][(k + 2) % 3] -
                            s[(p + 1) % 3][(k + 2) % 3] * s[(p + 2) % 3][(k + 1) % 3];
    for (int k = 0; k < 3; k++) det += s[0][k] * inverse[k][0];
    for (int i = 0; i < 9; i++) inverse[i / 3][i % 3] /= det;
}

static void add_up(int enhancement, const modal_element_rule *rule, const double *const *x, int with_products, sums *s)
{
    const int n = rule->n_nodes;
    double centre_values[MODAL_ELEMENT_MOST_NODES], centre[MODAL_ELEMENT_MOST_NODES][3], j[3][3];
    memset(s->means, 0, sizeof s->means);
    memset(s->modes, 0, sizeof s->modes);
    memset(s->mixed, 0, sizeof s->mixed);
    if (with_products) memset(s->products, 0, sizeof s->products);
    s->volume = 0;
    if (enhancement & MODAL_ENHANCED_MODES) {
        modal_element_shape(MODAL_ELEMENT_HEX8, modal_element_centres[MODAL_ELEMENT_HEX8], centre_values, centre);
        modal_element_jacobian(n, (const double(*)[3])centre, x, j);
        for (int p = 0; p < 3; p++)
            for (int k = 0; k < 3; k++)
                s->cofactors[p][k] = j[(p + 1) % 3][(k + 1) % 3] * j[(p + 2) % 3][(k + 2) % 3] -
                                     j[(p + 1) % 3][(k + 2) % 3] * j[(p + 2) % 3][(k + 1) % 3];
    }
    for (int q = 0; q < rule->n_points; q++) {
        double gradients[3 * MODAL_ELEMENT_MOST_NODES], slopes[MODES];
        const double det = modal_element_gradients(n, rule->derivatives[q], x, gradients), weight = rule->weights[q] / det;
        s->volume += rule->weights[q] * det;
        for (int k = 0; k < MODES; k++) slopes[k] = -2 * rule->points[q][k] * weight;
        for (int a = 0; a < n; a++)
            for (int r = 0; r < 3; r++) {
                const double g = gradients[3 * a + r], factor = weight * g;
                s->means[a][r] += rule->weights[q] * g;
                if (enhancement & MODAL_ENHANCED_MODES)
                    for (int k = 0; k < MODES; k++) s->mixed[a][k][r] += slopes[k] * g;
                if (!with_products) continue;
                double *row = s->products[a][r];
                for (int i = 3 * a; i < 3 * n; i++) row[i] += factor * gradients[i];
            }
        for (int k = 0; k < MODES; k++)
            for (int l = 0; l < MODES; l++) s->modes[k][l] += -2 * rule->points[q][l] * slopes[k];
    }
    for (int a = 0; a < n; a++)
        for (int r = 0; r < 3; r++) s->means[a][r] /= s->volume;
    if (enhancement & MODAL_ENHANCED_MODES) invert(s->modes, s->inverse);
}

/* The lower triangle of K_aa, factored: L L^T. */
static void factor_inner(const sums *s, const modal_elasticity *elasticity, double l[INNER][INNER])
{
    for (int k = 0; k < MODES; k++)
        for (int m = 0; m <= k; m++) {
            double g[9], block[9];
            for (int i = 0; i < 9; i++) g[i] = s->modes[k][m] * s->cofactors[k][i / 3] * s->cofactors[m][i % 3];
            modal_elasticity_block(elasticity, g, block);
            for (int i = 0; i < 9; i++) l[3 * k + i / 3][3 * m + i % 3] = block[i];
        }
    for (int j = 0; j < INNER; j++) {
        for (int k = 0; k < j; k++) l[j][j] -= l[j][k] * l[j][k];
        l[j][j] = sqrt(l[j][j]);
        for (int i = j + 1; i < INNER; i++) {
            for (int k = 0; k < j; k++) l[i][j] -= l[i][k] * l[j][k];
            l[i][j] /= l[j][j];
        }
    }
}

/* block += the bulk modulus times the integral of the divergences of a and b, of their means, or of what is nearest to them. */
static void add_volume(const sums *s, double bulk, int with_modes, int a, int b, double block[9])
{
    for (int k = 0; k < 9; k++) block[k] += bulk * s->volume * s->means[a][k / 3] * s->means[b][k % 3];
    for (int p = 0; with_modes && p < MODES; p++)
        for (int q = 0; q < MODES; q++)
            for (int k = 0; k < 9; k++) block[k] += bulk * s->mixed[a][p][k / 3] * s->inverse[p][q] * s->mixed[b][q][k % 3];
}

void modal_enhanced_stiffness(int enhancement, const modal_element_rule *rule, const double *const *x,
                              const modal_elasticity *elasticity, modal_element_matrices *m)
{
    const int n = rule->n_nodes, width = 3 * n;
    double l[INNER][INNER], rows[INNER][OUTER]; /* L^-1 K_au */
    sums s;
    add_up(enhancement, rule, x, 1, &s);
    const int n_inner = enhancement & MODAL_ENHANCED_MODES ? INNER : 0;
    if (n_inner) {
        factor_inner(&s, elasticity, l);
        for (int a = 0; a < n; a++)
            for (int k = 0; k < MODES; k++) {
                double g[9], block[9];
                for (int i = 0; i < 9; i++) g[i] = s.cofactors[k][i / 3] * s.mixed[a][k][i % 3];
                modal_elasticity_block(elasticity, g, block);
                for (int i = 0; i < 9; i++) rows[3 * k + i / 3][3 * a + i % 3] = block[i];
            }
        for (int i = 0; i < INNER; i++) {
            for (int k = 0; k < i; k++)
                for (int c = 0; c < width; c++) rows[i][c] -= l[i][k] * rows[k][c];
            for (int c = 0; c < width; c++) rows[i][c] /= l[i][i];
        }
    }
    /* what keeps its volume otherwise answers at the points to the deviator alone */
    const int is_mean = enhancement & MODAL_ENHANCED_DILATATION;
    modal_elasticity at_points = *elasticity;
    if (is_mean) at_points.lambda = -2 * elasticity->mu / 3;
    for (int a = 0; a < n; a++)
        for (int b = a; b < n; b++) {
            double g[9], *block = m->stiffness[a][b];
            for (int k = 0; k < 9; k++) g[k] = s.products[a][k / 3][3 * b + k % 3];
            modal_elasticity_block(&at_points, g, block);
            if (is_mean) add_volume(&s, elasticity->lambda + 2 * elasticity->mu / 3, n_inner > 0, a, b, block);
            for (int i = 0; i < n_inner; i++)
                for (int k = 0; k < 9; k++) block[k] -= rows[i][3 * a + k / 3] * rows[i][3 * b + k % 3];
        }
}

/* Of one motion; l is K_aa's factor where there are modes. */
static void add_gradients(int enhancement, const modal_element_rule *rule, const sums *s, double l[INNER][INNER], const double *dets,
                          const modal_elasticity *elasticity, const double *const *u, double (*gradients)[9])
{
    const int n = rule->n_nodes, has_modes = enhancement & MODAL_ENHANCED_MODES;
    double moved[MODES][9] = {{0}}, alpha[INNER] = {0}, mean = 0, nearest[MODES] = {0};
    for (int a = 0; a < n; a++)
        for (int p = 0; p < 3; p++) mean += u[a][p] * s->means[a][p];
    if (has_modes) {
        for (int k = 0; k < MODES; k++) {
            double stress[9];
            for (int a = 0; a < n; a++)
                for (int i = 0; i < 9; i++) moved[k][i] += u[a][i / 3] * s->mixed[a][k][i % 3];
            modal_elasticity_stress(elasticity, moved[k], stress);
            for (int i = 0; i < 9; i++) alpha[3 * k + i / 3] -= stress[i] * s->cofactors[k][i % 3];
        }
        for (int i = 0; i < INNER; i++) {
            for (int k = 0; k < i; k++) alpha[i] -= l[i][k] * alpha[k];
            alpha[i] /= l[i][i];
        }
        for (int i = INNER - 1; i >= 0; i--) {
            for (int k = i + 1; k < INNER; k++) alpha[i] -= l[k][i] * alpha[k];
            alpha[i] /= l[i][i];
        }
        for (int k = 0; k < MODES; k++)
            for (int p = 0; p < MODES; p++) nearest[k] += s->inverse[k][p] * (moved[p][0] + moved[p][4] + moved[p][8]);
    }
    for (int q = 0; q < rule->n_points; q++) {
        double *h = gradients[q], slopes[MODES] = {0}, divergence = mean;
        for (int k = 0; has_modes && k < MODES; k++) slopes[k] = -2 * rule->points[q][k] / dets[q];
        for (int k = 0; k < MODES; k++) divergence += nearest[k] * slopes[k];
        const double off = (divergence - h[0] - h[4] - h[8]) / 3;
        for (int p = 0; (enhancement & MODAL_ENHANCED_DILATATION) && p < 3; p++) h[4 * p] += off;
        for (int k = 0; has_modes && k < MODES; k++)
            for (int i = 0; i < 9; i++) h[i] += alpha[3 * k + i / 3] * slopes[k] * s->cofactors[k][i % 3];
    }
}

void modal_enhanced_gradients_of(int enhancement, const modal_element_rule *rule, const double *const *x, const modal_elasticity *elasticity,
                                 int n_fields, const double *const *u, double (*gradients)[9])
{
    double l[INNER][INNER], dets[MODAL_RULE_MOST_POINTS], j[3][3];
    sums s;
    add_up(enhancement, rule, x, 0, &s);
    if (enhancement & MODAL_ENHANCED_MODES) factor_inner(&s, elasticity, l);
    for (int q = 0; q < rule->n_points; q++) dets[q] = modal_element_jacobian(rule->n_nodes, rule->derivatives[q], x, j);
    for (int f = 0; f < n_fields; f++)
        add_gradients(enhancement, rule, &s, l, dets, elasticity, u + f * rule->n_nodes, gradients + f * rule->n_points);
}

void modal_enhanced_gradients(int enhancement, const modal_element_rule *rule, const double *const *x,
                              const modal_elasticity *elasticity, const double *const *u, double (*gradients)[9])
{
    modal_enhanced_gradients_of(enhancement, rule, x, elasticity, 1, u, gradients);
}
