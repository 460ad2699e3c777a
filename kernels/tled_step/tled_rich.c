/* SPDX-License-Identifier: Apache-2.0 */
/* What comes on top of a solid's laws: fibres, Prony terms, nodal pressures, bodies that nodes do not enter. */
#include <math.h>
#include <stddef.h>

#include "kernels/tled_step/tled_bodies.h"

/* cof F of F = I + H. */
static void whole_cofactors(const double h[9], double c[9])
{
    const double t = h[0] + h[4] + h[8];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int p = (i + 1) % 3, q = (i + 2) % 3, r = (j + 1) % 3, s = (j + 2) % 3;
            c[3 * i + j] = h[3 * p + r] * h[3 * q + s] - h[3 * p + s] * h[3 * q + r] - h[3 * j + i] + (i == j ? 1 + t : 0);
        }
}

void modal_tled_add_fibres(double eta, const double h[9], double above, const double a[3], double stress[9])
{
    const double jacobian = 1 + above, root = cbrt(jacobian), power = 1 / (root * root);
    const double q = -above * (root + 1) / (root * root + root + 1) * power; /* J^(-2/3) - 1 */
    double c[9], f[3], e = 0;
    whole_cofactors(h, c);
    for (int i = 0; i < 3; i++) {
        const double ha = h[3 * i] * a[0] + h[3 * i + 1] * a[1] + h[3 * i + 2] * a[2];
        f[i] = a[i] + ha;
        e += ha * (2 * a[i] + ha);
    }
    const double g = q * (1 + e) + e, along = eta * g * power, around = eta * g * (1 + g) / (3 * jacobian);
    for (int k = 0; k < 9; k++) stress[k] += along * f[k / 3] * a[k % 3] - around * c[k];
}

double modal_tled_rich_stress(const modal_tled_material *m, const double h[9], const double *fibre, double pressure,
                              double stress[9])
{
    const double above = modal_tled_law_stress(m, h, m->averages ? &pressure : NULL, stress);
    if (m->fibre > 0) modal_tled_add_fibres(m->fibre, h, above, fibre, stress);
    return above;
}

double modal_tled_measure(const modal_tled_material *m, const double h[9], const double *fibre, int n, const double (*gradients)[3])
{
    double c[9], square = 3, gg = 0, kk = 0, ag = 0, along = 0; /* square: I1 */
    whole_cofactors(h, c);
    const double jacobian = c[0] * (1 + h[0]) + c[1] * h[1] + c[2] * h[2], power = pow(jacobian, -2.0 / 3);
    for (int k = 0; k < 9; k++) square += h[k] * (h[k] + (k % 4 == 0 ? 2 : 0));
    for (int a = 0; a < n; a++) {
        const double *g = gradients[a];
        double part = 0;
        for (int i = 0; i < 3; i++) {
            const double k = (c[3 * i] * g[0] + c[3 * i + 1] * g[1] + c[3 * i + 2] * g[2]) / jacobian;
            kk += k * k, gg += g[i] * g[i];
            if (m->fibre > 0) part += fibre[i] * g[i];
        }
        ag += part * part;
    }
    double measure;
    if (m->law == MODAL_TLED_STVK)
        measure = ((m->modulus + 2 * m->mu) * fmax(square - 2, square / 3) + (m->modulus + m->mu * 2 / 3) * fmax(square - 3, 0) / 2) * gg;
    else if (m->law == MODAL_TLED_LOGARITHMIC)
        measure = (m->mu + m->modulus * jacobian * jacobian) * kk + m->mu * gg;
    else
        measure = (m->modulus * jacobian * jacobian + m->mu * power * square * 5 / 9) * kk - m->mu * power / 3 * gg;
    if (!(m->fibre > 0)) return measure;
    for (int i = 0; i < 3; i++) {
        const double f = fibre[i] + h[3 * i] * fibre[0] + h[3 * i + 1] * fibre[1] + h[3 * i + 2] * fibre[2];
        along += f * f;
    }
    const double q = power * along;
    return measure + m->fibre * (power * fmax(3 * q - 1, 0) * ag + 2.0 / 9 * q * q * kk);
}

modal_tled_decay modal_tled_decay_of(const modal_tled_material *m, int term, double step, double before)
{
    const double tau = m->times[term], g = m->shares[term] / 2;
    return (modal_tled_decay){exp(-step / tau), -g * expm1(-step / tau), -g * expm1(-before / tau)};
}

void modal_tled_relax(const modal_tled_material *m, const modal_tled_decay *decays, const double h[9], double *state,
                      double stress[9])
{
    static const int rows[6] = {0, 1, 2, 1, 0, 0}, columns[6] = {0, 1, 2, 2, 2, 1};
    double c[9], inverse[9], part[2][6], pressure = 0, off[9] = {0}; /* inverse: F^-1; part: isochoric, volumetric */
    whole_cofactors(h, c);
    const double jacobian = c[0] * (1 + h[0]) + c[1] * h[1] + c[2] * h[2];
    for (int k = 0; k < 9; k++) {
        inverse[k] = c[k % 3 * 3 + k / 3] / jacobian;
        pressure += stress[k] * (h[k] + (k % 4 == 0)) / 3; /* S : C = P : F */
    }
    for (int k = 0; k < 6; k++) {
        const double *a = inverse + 3 * rows[k], *b = inverse + 3 * columns[k];
        double s = 0;
        for (int l = 0; l < 3; l++) s += a[l] * stress[3 * l + columns[k]];
        part[1][k] = pressure * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
        part[0][k] = s - part[1][k];
    }
    for (int n = 0; n < m->n_terms; n++)
        for (int k = 0; k < 6; k++) {
            const double s = part[n >= m->n_isochoric][k], d = state[6 * n + k] + decays[n].now * s;
            off[3 * rows[k] + columns[k]] += d;
            state[6 * n + k] = decays[n].keep * d + decays[n].next * s;
        }
    for (int k = 3; k < 6; k++) off[3 * columns[k] + rows[k]] = off[3 * rows[k] + columns[k]];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            stress[3 * i + j] -= off[3 * i + j] + h[3 * i] * off[j] + h[3 * i + 1] * off[3 + j] + h[3 * i + 2] * off[6 + j];
}

int modal_tled_averages(const modal_tled_solid *s)
{
    int any = 0;
    for (int32_t m = 0; m < s->n_materials; m++) any |= s->materials[m].averages;
    return any && s->n_tetrahedra > 0;
}

int modal_tled_most_terms(const modal_tled_solid *s)
{
    int most = 0;
    for (int32_t m = 0; m < s->n_materials; m++) most = s->materials[m].n_terms > most ? s->materials[m].n_terms : most;
    return most;
}

void modal_tled_pressure_factors(const modal_tled_solid *s, double *factors, double *volumes)
{
    for (int64_t i = 0; i < s->n_nodes; i++) factors[i] = volumes[i] = 0;
    for (int64_t e = 0; e < s->n_tetrahedra; e++) {
        const modal_tled_material *m = &s->materials[s->material[e]];
        double gradients[3][3];
        if (!m->averages) continue;
        const double v = modal_tled_tetrahedron_shape(s->nodes, s->tetrahedra + 4 * e, gradients) / 4;
        for (int a = 0; a < 4; a++) {
            factors[s->tetrahedra[4 * e + a]] += v * m->modulus;
            volumes[s->tetrahedra[4 * e + a]] += v;
        }
    }
    for (int64_t i = 0; i < s->n_nodes; i++)
        if (volumes[i] > 0) factors[i] /= volumes[i] * volumes[i];
}

int modal_tled_put_out(const modal_tled_contact *contact, const double *before, const double *at, const double from[3], double x[3])
{
    return modal_tled_out_of(contact, before, at, from, x);
}
