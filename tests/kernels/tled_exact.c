/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/kernels/tled_exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/tled_step/tled_step.h"
#include "tests/kernels/harness.h"

long double exact_inverse(const long double h[9], long double f[9], long double inverse[9])
{
    for (int k = 0; k < 9; k++) f[k] = h[k] + (k % 4 == 0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            inverse[3 * i + j] = f[(i + 1) % 3 * 3 + (j + 1) % 3] * f[(i + 2) % 3 * 3 + (j + 2) % 3] -
                                 f[(i + 1) % 3 * 3 + (j + 2) % 3] * f[(i + 2) % 3 * 3 + (j + 1) % 3];
    const long double j = f[0] * inverse[0] + f[1] * inverse[1] + f[2] * inverse[2];
    for (int k = 0; k < 9; k++) inverse[k] /= j;
    return j;
}

/* P = d W / d F as it is usually written, with F^-T; pressure: instead of modulus (J - 1), or NULL. */
static void textbook_stress(const modal_tled_material *m, const long double h[9], const long double *pressure, long double p[9])
{
    long double f[9], inverse[9], square = 0, s[9], trace = 0; /* inverse: of F^T */
    const long double j = exact_inverse(h, f, inverse), volumetric = pressure ? *pressure : m->modulus * (j - 1);
    for (int k = 0; k < 9; k++) square += f[k] * f[k];
    if (m->law == MODAL_TLED_STVK) {
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                s[3 * i + k] = m->mu * (f[i] * f[k] + f[3 + i] * f[3 + k] + f[6 + i] * f[6 + k] - (i == k));
                if (i == k) trace += s[3 * i + k] / (2 * m->mu);
            }
        for (int i = 0; i < 3; i++) s[4 * i] += m->modulus * trace;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                p[3 * i + k] = f[3 * i] * s[k] + f[3 * i + 1] * s[3 + k] + f[3 * i + 2] * s[6 + k];
        return;
    }
    for (int k = 0; k < 9; k++)
        p[k] = m->law == MODAL_TLED_LOGARITHMIC
                   ? m->mu * (f[k] - inverse[k]) + volumetric * j * inverse[k]
                   : m->mu * powl(j, -2.0L / 3) * (f[k] - square / 3 * inverse[k]) + volumetric * j * inverse[k];
}

/* Adds d W / d F of W = eta/4 (J^(-2/3) |F a|^2 - 1)^2. */
static void textbook_fibres(const modal_tled_material *m, const long double h[9], const double *a, long double p[9])
{
    long double f[9], inverse[9], fa[3], square = 0;
    const long double j = exact_inverse(h, f, inverse), power = powl(j, -2.0L / 3);
    for (int i = 0; i < 3; i++) {
        fa[i] = f[3 * i] * a[0] + f[3 * i + 1] * a[1] + f[3 * i + 2] * a[2];
        square += fa[i] * fa[i];
    }
    for (int k = 0; k < 9; k++)
        p[k] += m->fibre * (power * square - 1) * power * (fa[k / 3] * a[k % 3] - square / 3 * inverse[k]);
}

/* The share of the first step's Prony terms, which start from 0: P -= sum of g (1 - exp(-before / tau)) / 2 of either part. */
static void textbook_terms(const modal_tled_material *m, const long double h[9], double before, long double p[9])
{
    long double f[9], inverse[9], trace = 0, share[2] = {0, 0}; /* P = F S: parts of P are F times those of S */
    exact_inverse(h, f, inverse);
    for (int k = 0; k < 9; k++) trace += p[k] * f[k];
    for (int n = 0; n < m->n_terms; n++)
        share[n >= m->n_isochoric] += m->shares[n] / 2 * (1 - expl(-(long double)before / m->times[n]));
    for (int k = 0; k < 9; k++) {
        const long double volumetric = trace / 3 * inverse[k]; /* F (S : C / 3) C^-1 */
        p[k] -= share[0] * (p[k] - volumetric) + share[1] * volumetric;
    }
}

/* Nodal pressures as the header says, and the sizes of what they are summed of; [n_nodes]. */
static void exact_pressures(const modal_tled_solid *s, const double *u, long double *pressures, long double *sizes)
{
    long double *volumes = harness_alloc(s->n_nodes, sizeof *volumes), *moduli = harness_alloc(s->n_nodes, sizeof *moduli);
    for (int64_t i = 0; i < s->n_nodes; i++) pressures[i] = sizes[i] = volumes[i] = moduli[i] = 0;
    for (int64_t e = 0; e < s->n_tetrahedra; e++) {
        const int32_t *c = s->tetrahedra + 4 * e;
        const modal_tled_material *m = &s->materials[s->material[e]];
        long double rest[9], now[9], f[9], ignored[9];
        double g[3][3], h1 = 0;
        if (!m->averages) continue;
        modal_tled_tetrahedron_shape(s->nodes, c, g);
        for (int k = 0; k < 27; k++) h1 += fabs((u[4 * c[k / 9 + 1] + k % 3] - u[4 * c[0] + k % 3]) * g[k / 9][k / 3 % 3]);
        for (int k = 0; k < 9; k++) { /* edges, less the unit matrix: exact_inverse wants H */
            rest[k] = (long double)s->nodes[3 * c[k / 3 + 1] + k % 3] - s->nodes[3 * c[0] + k % 3];
            now[k] = rest[k] + u[4 * c[k / 3 + 1] + k % 3] - u[4 * c[0] + k % 3] - (k % 4 == 0);
            rest[k] -= k % 4 == 0;
        }
        const long double before = exact_inverse(rest, f, ignored) / 24, after = exact_inverse(now, f, ignored) / 24;
        for (int a = 0; a < 4; a++)
            volumes[c[a]] += before, pressures[c[a]] += after - before, moduli[c[a]] += before * m->modulus,
                sizes[c[a]] += before * h1 * (1 + h1) * (1 + h1);
    }
    for (int64_t i = 0; i < s->n_nodes; i++)
        if (volumes[i] > 0)
            pressures[i] *= moduli[i] / volumes[i] / volumes[i], sizes[i] *= moduli[i] / volumes[i] / volumes[i];
    free(volumes), free(moduli);
}

/* H of a tetrahedron, in long double, and |ways| |gradients| summed. */
static long double exact_gradient(const modal_tled_solid *s, int64_t e, const double *u, long double h[9], double *size)
{
    const int32_t *c = s->tetrahedra + 4 * e;
    double g[3][3];
    const double v = modal_tled_tetrahedron_shape(s->nodes, c, g);
    for (int k = 0; k < 9; k++) h[k] = 0;
    *size = 0;
    for (int k = 0; k < 27; k++) {
        const double way = u[4 * c[k / 9 + 1] + k % 9 / 3] - u[4 * c[0] + k % 9 / 3];
        h[k % 9] += (long double)way * g[k / 9][k % 3];
        *size += fabs(way * g[k / 9][k % 3]);
    }
    return v;
}

void exact_mean(const modal_tled_solid *s, int64_t macro, const double *u, long double h[9], double *size)
{
    long double own[9], volume = 0, sum[9] = {0};
    double mine, all = 0;
    for (int64_t e = s->macro_offsets[macro]; e < s->macro_offsets[macro + 1]; e++) {
        const long double v = exact_gradient(s, e, u, own, &mine);
        volume += v, all += (double)v * mine;
        for (int k = 0; k < 9; k++) sum[k] += v * own[k];
    }
    for (int k = 0; k < 9; k++) h[k] = sum[k] / volume;
    *size = all / (double)volume;
}

void exact_forces(const modal_tled_solid *s, const double *u, double before, long double *force, double *size)
{
    long double *pressures = harness_alloc(2 * s->n_nodes, sizeof *pressures), *sizes = pressures + s->n_nodes;
    exact_pressures(s, u, pressures, sizes);
    for (int64_t e = 0; e < s->n_tetrahedra + s->n_hexahedra; e++) {
        const int n = e < s->n_tetrahedra ? 4 : 8;
        const int32_t *corners = n == 4 ? s->tetrahedra + 4 * e : s->hexahedra + 8 * (e - s->n_tetrahedra);
        const modal_tled_material *m = &s->materials[s->material[e]];
        double g[8][3] = {{0}}, h1 = 0, hourglass = 0, v;
        long double gradient[9] = {0}, p[9];
        modal_tled_hexahedron x;
        if (n == 4) {
            v = modal_tled_tetrahedron_shape(s->nodes, corners, g + 1);
            for (int a = 1; a < 4; a++)
                for (int i = 0; i < 3; i++) g[0][i] -= g[a][i];
        } else {
            modal_tled_hexahedron_shape(s->nodes, corners, s->centre, &x);
            v = x.weight, hourglass = m->hourglass * x.sum;
            memcpy(g, x.gradients, sizeof g);
        }
        for (int a = 0; a < n; a++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    const double way = u[4 * corners[a] + i] - u[4 * corners[0] + i];
                    gradient[3 * i + j] += (long double)way * g[a][j];
                    h1 += fabs(way * g[a][j]);
                }
        const int averages = m->averages && n == 4, has_macro = s->macro_offsets && n == 4;
        const int64_t first = has_macro ? s->macro_offsets[s->macro_of[e]] : e; /* whose fibres they are */
        long double own[9];
        double h_own = h1;
        memcpy(own, gradient, sizeof own);
        if (has_macro) exact_mean(s, s->macro_of[e], u, gradient, &h1);
        long double mean = 0, mean_size = 0;
        for (int a = 0; averages && a < 4; a++) mean += pressures[corners[a]] / 4, mean_size += sizes[corners[a]] / 4;
        textbook_stress(m, gradient, averages ? &mean : NULL, p);
        if (m->fibre > 0) textbook_fibres(m, gradient, s->fibres + 3 * first, p);
        if (m->n_terms > 0) textbook_terms(m, gradient, before, p);
        for (int k = 0; has_macro && k < 9; k++) p[k] += m->control * (own[k] - gradient[k]);
        const double held = has_macro ? m->control * (h_own + h1) : 0;
        for (int a = 0; a < n; a++) {
            const double length = fabs(g[a][0]) + fabs(g[a][1]) + fabs(g[a][2]);
            size[corners[a]] += v * length * ((m->mu + m->modulus + 4 * m->fibre) * h1 * (1 + h1) * (1 + h1) + (double)mean_size * (1 + h1) * (1 + h1) + held);
            for (int i = 0; i < 3; i++) {
                force[3 * corners[a] + i] +=
                    v * (p[3 * i] * g[a][0] + p[3 * i + 1] * g[a][1] + p[3 * i + 2] * g[a][2]);
                for (int k = 0; n == 8 && k < 4; k++) {
                    long double mode = 0;
                    for (int b = 0; b < 8; b++) {
                        mode += (long double)x.gamma[k][b] * u[4 * corners[b] + i];
                        size[corners[a]] += hourglass * fabs(x.gamma[k][b] * (u[4 * corners[b] + i] - u[4 * corners[0] + i]));
                    }
                    force[3 * corners[a] + i] += hourglass * x.gamma[k][a] * mode;
                }
            }
        }
    }
    free(pressures);
}

void exact_loads(const modal_tled_solid *s, const double *gravity, const double *signals, const double *u, long double *force, double *size)
{
    for (int64_t i = 0; gravity && i < 3 * s->n_nodes; i++) {
        const double weight = (s->weights ? s->weights : s->mass)[i / 3];
        force[i] -= (long double)weight * gravity[i % 3];
        size[i / 3] += weight * fabs(gravity[i % 3]);
    }
    for (int64_t l = 0; l < s->n_loaded; l++)
        for (int64_t e = s->load_offsets[l]; e < s->load_offsets[l + 1]; e++)
            for (int i = 0; i < 3; i++) {
                const double f = signals[s->load_signals[e]] * s->load_vectors[3 * e + i];
                force[3 * s->loaded[l] + i] -= f;
                size[s->loaded[l]] += fabs(f);
            }
    for (int64_t k = 0; k < s->n_faces; k++) {
        const int32_t *c = s->faces + 4 * k;
        const int n = c[3] < 0 ? 3 : 4;
        double x[4][3], f[4][3];
        for (int a = 0; a < n; a++)
            for (int i = 0; i < 3; i++) x[a][i] = s->nodes[3 * c[a] + i] + u[4 * c[a] + i];
        modal_tled_face_force(n, x, f);
        for (int a = 0; a < n; a++)
            for (int i = 0; i < 3; i++) {
                force[3 * c[a] + i] -= s->face_pressures[k] * signals[s->face_signals[k]] * f[a][i];
                size[c[a]] += fabs(s->face_pressures[k] * signals[s->face_signals[k]]) * 1e-4;
            }
    }
}

/* The way from the nearest point of a round body's axis to x; its length. */
static long double axis_way(const modal_tled_contact *body, const double *at, const long double x[3], long double way[3])
{
    long double part = 0, length = 0, square = 0;
    for (int i = 0; i < 3; i++) way[i] = x[i] - at[i];
    for (int i = 0; i < 3 && body->kind == MODAL_TLED_CAPSULE; i++)
        length += ((long double)at[3 + i] - at[i]) * ((long double)at[3 + i] - at[i]), part += ((long double)at[3 + i] - at[i]) * way[i];
    part = length > 0 ? fminl(fmaxl(part / length, 0), 1) : 0;
    for (int i = 0; i < 3; i++) {
        if (part > 0) way[i] -= part * ((long double)at[3 + i] - at[i]);
        square += way[i] * way[i];
    }
    return sqrtl(square);
}

int exact_put_out(const modal_tled_contact *body, const double *before, const double *at, const long double from[3], long double x[3], double *steep)
{
    long double way[3], normal[3], depth = 0;
    *steep = 1;
    if (body->kind == MODAL_TLED_PLANE) {
        for (int i = 0; i < 3; i++) depth += (x[i] - at[i]) * body->normal[i];
        for (int i = 0; i < 3 && depth < 0; i++) x[i] -= depth * body->normal[i];
        return depth < 0;
    }
    if (!(axis_way(body, at, x, way) < body->radius)) return 0;
    const long double length = axis_way(body, before, from, normal);
    long double low = 0, high = body->radius * 2, cosine = 0;
    for (int i = 0; i < 3; i++) high += body->kind == MODAL_TLED_CAPSULE ? fabsl((long double)at[3 + i] - at[i]) : 0;
    for (int round = 0; round < 100; round++) { /* inside up to low, outside from high on */
        long double y[3];
        for (int i = 0; i < 3; i++) y[i] = x[i] + (low + high) / 2 * normal[i] / length;
        *(axis_way(body, at, y, way) < body->radius ? &low : &high) = (low + high) / 2;
    }
    for (int i = 0; i < 3; i++) x[i] += low * normal[i] / length, cosine += way[i] * normal[i] / length / body->radius;
    *steep = (double)(1 / cosine);
    return 1;
}
