/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/laws/law.h"

#include <math.h>
#include <string.h>

/* The functions of a law, of its strain. */
typedef struct law_row {
    const char *name;
    int finite; /* 1: the strain is Green's, 0: the linear one */
    double (*energy)(const modal_law *law, const double strain[9]);
    void (*stress)(const modal_law *law, const double strain[9], double stress[9]);
    void (*stiffness)(const modal_law *law, const double strain[9], double stiffness[9][9]);
} law_row;

static void elastic_stress(const modal_law *law, const double strain[9], double stress[9])
{
    modal_elasticity_stress(&law->elasticity, strain, stress);
}

static double elastic_energy(const modal_law *law, const double strain[9])
{
    double stress[9], sum = 0;
    elastic_stress(law, strain, stress);
    for (int k = 0; k < 9; k++) sum += strain[k] * stress[k];
    return sum / 2;
}

static void elastic_stiffness(const modal_law *law, const double strain[9], double stiffness[9][9])
{
    (void)strain;
    memcpy(stiffness, law->elasticity.tensor, sizeof law->elasticity.tensor);
}

/* det C - 1 of C = I + 2 E: 2 tr E + 4 tr cof E + 8 det E, so that nothing cancels at small strains. E is symmetric. */
static double determinant_above(const double e[9])
{
    const double x = e[4] * e[8] - e[5] * e[5], y = e[5] * e[2] - e[1] * e[8], z = e[1] * e[5] - e[4] * e[2];
    return 2 * (e[0] + e[4] + e[8]) + 4 * (x + (e[0] * e[8] - e[2] * e[2]) + (e[0] * e[4] - e[1] * e[1])) +
           8 * (e[0] * x + e[1] * y + e[2] * z);
}

/* J - 1 of det C - 1. */
static double volume_above(double square) { return square / (sqrt(1 + square) + 1); }

/* C^-1 and J - 1 of C = I + 2 E. */
static double inverse_of(const double e[9], double inverse[9])
{
    const double above = determinant_above(e), trace = e[0] + e[4] + e[8];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) { /* cof C = (1 + 2 tr E) I - 2 E + 4 cof E */
            const double cofactor = e[(i + 1) % 3 * 3 + (j + 1) % 3] * e[(i + 2) % 3 * 3 + (j + 2) % 3] -
                                    e[(i + 1) % 3 * 3 + (j + 2) % 3] * e[(i + 2) % 3 * 3 + (j + 1) % 3];
            inverse[3 * i + j] = ((i == j ? 1 + 2 * trace : 0) - 2 * e[3 * i + j] + 4 * cofactor) / (1 + above);
        }
    return volume_above(above);
}

/* S = a I + b C^-1, d a = a_slope C^-1 : dE, d b = (b_slope C^-1 + b_trace I) : dE. */
typedef struct two_parts {
    double a, b, a_slope, b_slope, b_trace, inverse[9];
} two_parts;

static two_parts parts_of(const modal_law *law, const double e[9])
{
    const double mu = law->elasticity.mu, lambda = law->elasticity.lambda, bulk = lambda + 2 * mu / 3;
    two_parts p = {0};
    const double above = inverse_of(e, p.inverse), j = 1 + above, trace = 3 + 2 * (e[0] + e[4] + e[8]);
    if (law->kind == MODAL_LAW_LOGARITHMIC) {
        p.a = mu;
        p.b = lambda * j * above - mu;
        p.b_slope = lambda * (2 * j - 1) * j;
        return p;
    }
    p.a = mu * pow(j, -2.0 / 3);
    p.b = bulk * j * above - p.a * trace / 3;
    p.a_slope = -2 * p.a / 3;
    p.b_slope = bulk * (2 * j - 1) * j + 2 * p.a * trace / 9;
    p.b_trace = -2 * p.a / 3;
    return p;
}

static void two_part_stress(const modal_law *law, const double e[9], double stress[9])
{
    const two_parts p = parts_of(law, e);
    for (int k = 0; k < 9; k++) stress[k] = (k % 4 == 0 ? p.a : 0) + p.b * p.inverse[k];
}

static void two_part_stiffness(const modal_law *law, const double e[9], double stiffness[9][9])
{
    const two_parts p = parts_of(law, e);
    const double *c = p.inverse;
    for (int ij = 0; ij < 9; ij++)
        for (int kl = 0; kl < 9; kl++) {
            const int i = ij / 3, j = ij % 3, k = kl / 3, l = kl % 3;
            stiffness[ij][kl] = (i == j ? p.a_slope : 0) * c[kl] +
                                c[ij] * (p.b_slope * c[kl] + (k == l ? p.b_trace : 0)) -
                                p.b * (c[3 * i + k] * c[3 * j + l] + c[3 * i + l] * c[3 * j + k]);
        }
}

static double neo_hookean_energy(const modal_law *law, const double e[9])
{
    const double mu = law->elasticity.mu, bulk = law->elasticity.lambda + 2 * mu / 3, square = determinant_above(e);
    const double trace = 2 * (e[0] + e[4] + e[8]), above = volume_above(square), root = cbrt(1 + square); /* J^(2/3) */
    const double shrink = -square / ((root * root + root + 1) * root);                                    /* J^(-2/3) - 1 */
    return mu / 2 * (3 * shrink + trace * (1 + shrink)) + bulk / 2 * above * above;
}

static double logarithmic_energy(const modal_law *law, const double e[9])
{
    const double square = determinant_above(e), above = volume_above(square);
    return law->elasticity.mu * (e[0] + e[4] + e[8] - log1p(square) / 2) + law->elasticity.lambda / 2 * above * above;
}

static const law_row rows[MODAL_LAWS] = {
    [MODAL_LAW_LINEAR] = {"linear", 0, elastic_energy, elastic_stress, elastic_stiffness},
    [MODAL_LAW_STVK] = {"stvk", 1, elastic_energy, elastic_stress, elastic_stiffness},
    [MODAL_LAW_NEO_HOOKEAN] = {"neo_hookean", 1, neo_hookean_energy, two_part_stress, two_part_stiffness},
    [MODAL_LAW_LOGARITHMIC] = {"logarithmic", 1, logarithmic_energy, two_part_stress, two_part_stiffness},
};

void modal_law_init(modal_law_kind kind, const modal_material *material, modal_law *law)
{
    law->kind = kind;
    modal_elasticity_init(material, &law->elasticity);
}

const char *modal_law_name(modal_law_kind kind) { return rows[kind].name; }

void modal_law_strain(const modal_law *law, const double h[9], double strain[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            double sum = h[3 * i + j] + h[3 * j + i];
            for (int k = 0; k < 3 && rows[law->kind].finite; k++) sum += h[3 * k + i] * h[3 * k + j];
            strain[3 * i + j] = strain[3 * j + i] = sum / 2;
        }
}

double modal_law_energy(const modal_law *law, const double gradient[9])
{
    double strain[9];
    modal_law_strain(law, gradient, strain);
    return rows[law->kind].energy(law, strain);
}

void modal_law_second_stress(const modal_law *law, const double gradient[9], double stress[9])
{
    double strain[9];
    modal_law_strain(law, gradient, strain);
    rows[law->kind].stress(law, strain, stress);
}

/* out = (I + h) s; out may not be s. */
static void push(const double h[9], const double s[9], double out[9])
{
    for (int p = 0; p < 3; p++)
        for (int k = 0; k < 3; k++)
            out[3 * p + k] = s[3 * p + k] + h[3 * p] * s[k] + h[3 * p + 1] * s[3 + k] + h[3 * p + 2] * s[6 + k];
}

void modal_law_first_stress(const modal_law *law, const double gradient[9], double stress[9])
{
    double second[9];
    modal_law_second_stress(law, gradient, second);
    if (rows[law->kind].finite) push(gradient, second, stress);
    else memcpy(stress, second, sizeof second);
}

double modal_law_cauchy_stress(const modal_law *law, const double h[9], double stress[9])
{
    if (!rows[law->kind].finite) {
        modal_law_second_stress(law, h, stress);
        return 1;
    }
    double first[9];
    const double f[9] = {1 + h[0], h[1], h[2], h[3], 1 + h[4], h[5], h[6], h[7], 1 + h[8]};
    const double det = f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6]) +
                       f[2] * (f[3] * f[7] - f[4] * f[6]);
    modal_law_first_stress(law, h, first);
    for (int p = 0; p < 3; p++)
        for (int q = p; q < 3; q++)
            stress[3 * p + q] = stress[3 * q + p] = (first[3 * p] * f[3 * q] + first[3 * p + 1] * f[3 * q + 1] +
                                                     first[3 * p + 2] * f[3 * q + 2]) /
                                                    det;
    return det;
}

void modal_law_add_fibres(double eta, const double fibre[3], const double h[9], double stress[9])
{
    double moved[3], square = 0;
    for (int i = 0; i < 3; i++) {
        moved[i] = fibre[i];
        for (int k = 0; k < 3; k++) moved[i] += h[3 * i + k] * fibre[k];
        square += moved[i] * moved[i];
    }
    const double j = (1 + h[0]) * ((1 + h[4]) * (1 + h[8]) - h[5] * h[7]) - h[1] * (h[3] * (1 + h[8]) - h[5] * h[6]) +
                     h[2] * (h[3] * h[7] - (1 + h[4]) * h[6]);
    const double root = cbrt(j), factor = eta * (square / (root * root) - 1) / (root * root * j);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) stress[3 * i + k] += factor * (moved[i] * moved[k] - (i == k) * square / 3);
}

void modal_law_tangent(const modal_law *law, const double h[9], double tangent[9][9])
{
    double strain[9], stress[9], stiffness[9][9];
    modal_law_strain(law, h, strain);
    rows[law->kind].stiffness(law, strain, stiffness);
    if (!rows[law->kind].finite) {
        memcpy(tangent, stiffness, sizeof stiffness);
        return;
    }
    rows[law->kind].stress(law, strain, stress);
    /* d P_pk / d H_ql = delta_pq S_lk + sum F_pm D_mkln F_qn: rows of D are pushed, then its columns */
    double half[9][9]; /* [3 m + k][3 q + l] = sum D_mkln F_qn; D is symmetric in l n */
    for (int a = 0; a < 9; a++) push(h, stiffness[a], half[a]);
    for (int p = 0; p < 3; p++)
        for (int k = 0; k < 3; k++)
            for (int b = 0; b < 9; b++) {
                double sum = half[3 * p + k][b];
                for (int m = 0; m < 3; m++) sum += h[3 * p + m] * half[3 * m + k][b];
                tangent[3 * p + k][b] = sum + (b / 3 == p ? stress[3 * (b % 3) + k] : 0);
            }
}

double modal_von_mises(const double s[9])
{
    const double a = s[0] - s[4], b = s[4] - s[8], c = s[8] - s[0];
    return sqrt((a * a + b * b + c * c) / 2 + 3 * (s[1] * s[1] + s[2] * s[2] + s[5] * s[5]));
}
