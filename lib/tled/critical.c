/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/tled/critical.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/base/mix.h"

/* The largest eigenvalue of a symmetric tridiagonal matrix: bisection by Sturm's count of those above x. Too large by `accuracy` of
 * itself at most, never too small. */
static double largest_of_tridiagonal(int n, const double *diagonal, const double *beside, double accuracy)
{
    double low = diagonal[0], high = diagonal[0];
    for (int i = 0; i < n; i++) {
        const double reach = (i > 0 ? fabs(beside[i - 1]) : 0) + (i + 1 < n ? fabs(beside[i]) : 0);
        low = fmax(low, diagonal[i]);
        high = fmax(high, diagonal[i] + reach);
    }
    for (int k = 0; k < 60 && high - low > accuracy * fabs(high); k++) {
        const double x = (low + high) / 2;
        double pivot = 1;
        int above = 0;
        for (int i = 0; i < n; i++) {
            pivot = diagonal[i] - x - (i > 0 ? beside[i - 1] * beside[i - 1] / pivot : 0);
            if (pivot == 0) pivot = 1e-300;
            above += pivot > 0;
        }
        if (above > 0) low = x;
        else high = x;
    }
    return high;
}

enum { MOST_ROWS = MODAL_TLED_MACRO_CORNERS };

/* The same of a symmetric n x n matrix (n <= MOST_ROWS, destroyed), made tridiagonal by Householder's reflections. */
static double largest_eigenvalue(int n, double a[MOST_ROWS][MOST_ROWS])
{
    double diagonal[MOST_ROWS], beside[MOST_ROWS] = {0};
    for (int k = 0; k + 2 < n; k++) {
        double v[MOST_ROWS], p[MOST_ROWS], square = 0, inner = 0;
        for (int i = k + 1; i < n; i++) v[i] = a[i][k], square += v[i] * v[i];
        const double length = v[k + 1] > 0 ? -sqrt(square) : sqrt(square);
        beside[k] = length;
        if (square == 0) continue;
        v[k + 1] -= length;
        const double beta = 2 / (square - a[k + 1][k] * a[k + 1][k] + v[k + 1] * v[k + 1]);
        for (int i = k + 1; i < n; i++) {
            p[i] = 0;
            for (int j = k + 1; j < n; j++) p[i] += a[i][j] * v[j];
            p[i] *= beta;
            inner += p[i] * v[i];
        }
        for (int i = k + 1; i < n; i++) p[i] -= beta / 2 * inner * v[i];
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++) a[i][j] -= v[i] * p[j] + p[i] * v[j];
    }
    if (n > 1) beside[n - 2] = a[n - 1][n - 2];
    for (int k = 0; k < n; k++) diagonal[k] = a[k][k];
    return largest_of_tridiagonal(n, diagonal, beside, 1e-9);
}

/* root R, lower triangular, of sum_a g_a g_a^T = R R^T. */
static void root_of(const double (*g)[3], int n, double r[3][3])
{
    double s[3][3] = {{0}};
    for (int a = 0; a < n; a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) s[i][j] += g[a][i] * g[a][j];
    memset(r, 0, 9 * sizeof(double));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            double sum = s[i][j];
            for (int k = 0; k < j; k++) sum -= r[i][k] * r[j][k];
            r[i][j] = i == j ? sqrt(fmax(sum, 0)) : r[j][j] > 0 ? sum / r[j][j] : 0;
        }
}

/* d P / d H of an element: of its law, and of what comes on top by differences. Where nodes average pressures: by
 * Jensen's inequality sum_a V_a K_a (mean of j)^2 <= sum_e V_e j_e^2 mean of the corners' K_a, which is taken for the modulus. */
static void element_tangent(const modal_tled_reference *r, int64_t e, const modal_law *law, const double h[9], double tangent[9][9])
{
    const modal_tled_solid *s = r->head.solid;
    modal_tled_material m = s->materials[s->material[e]];
    if (!modal_tled_is_rich(&m)) {
        modal_law_tangent(law, h, tangent);
        return;
    }
    if (m.averages && e < s->n_tetrahedra) m.modulus = r->corner_moduli[e];
    m.averages = 0;
    for (int k = 0; k < 9; k++) {
        double moved[9], stress[2][9];
        for (int side = 0; side < 2; side++) {
            memcpy(moved, h, sizeof moved);
            moved[k] += side ? 1e-5 : -1e-5;
            modal_tled_rich_stress(&m, moved, s->fibres ? s->fibres + 3 * e : NULL, 0, stress[side]);
        }
        for (int i = 0; i < 9; i++) tangent[i][k] = (stress[1][i] - stress[0][i]) / 2e-5;
    }
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < i; k++) tangent[i][k] = tangent[k][i] = (tangent[i][k] + tangent[k][i]) / 2;
}

/* The largest eigenvalue of G^T A G, A = d P / d H, G G^T = (sum g g^T) x I of n gradients: those that are not 0 are those of
 * (R^T x I) A (R x I). */
static double law_eigenvalue(double tangent[9][9], const double (*g)[3], int n)
{
    double half[9][9], form[MOST_ROWS][MOST_ROWS], root[3][3];
    root_of(g, n, root);
    for (int a = 0; a < 9; a++) /* half = A (R x I): column 3 p + k sums A[.][3 p + m] R[m][k] */
        for (int b = 0; b < 9; b++) {
            half[a][b] = 0;
            for (int m = b % 3; m < 3; m++) half[a][b] += tangent[a][b / 3 * 3 + m] * root[m][b % 3];
        }
    for (int a = 0; a < 9; a++)
        for (int b = 0; b < 9; b++) {
            form[a][b] = 0;
            for (int m = a % 3; m < 3; m++) form[a][b] += root[m][a % 3] * half[a / 3 * 3 + m][b];
        }
    return largest_eigenvalue(9, form);
}

/* The largest eigenvalue of M_e^-1 K_e of a hexahedron, or of a tetrahedron in no macro-element. */
static double element_eigenvalue(const modal_tled_forces *f, int64_t e, const double *u, double mass)
{
    const modal_tled_reference *r = (const modal_tled_reference *)f->reference;
    const modal_tled_solid *s = r->head.solid;
    double h[9], tangent[9][9], g[8][3];
    const int n = modal_tled_reference_gradients(r, e, g);
    const modal_tled_hexahedron *x = n == 8 ? &r->hexahedra[e - s->n_tetrahedra] : NULL;
    modal_tled_reference_gradient(r, e, u, h);
    element_tangent(r, e, &f->model->laws[s->material[e]], h, tangent);
    double lambda = (n == 4 ? r->tetrahedra[e].volume : x->weight) * law_eigenvalue(tangent, (const double(*)[3])g, n);
    if (n == 8) {
        double gram[MOST_ROWS][MOST_ROWS];
        for (int p = 0; p < 4; p++)
            for (int q = 0; q < 4; q++) {
                gram[p][q] = 0;
                for (int a = 0; a < 8; a++) gram[p][q] += x->gamma[p][a] * x->gamma[q][a];
            }
        lambda += s->materials[s->material[e]].hourglass * x->sum * largest_eigenvalue(4, gram);
    }
    return lambda / mass;
}

/* That of a macro-element with the lumped masses of its tetrahedra: of its stress and of what controls the rest, added. */
static double macro_eigenvalue(const modal_tled_forces *f, int64_t macro, const double *u)
{
    const modal_tled_reference *r = (const modal_tled_reference *)f->reference;
    const modal_tled_solid *s = r->head.solid;
    const int64_t e = s->macro_offsets[macro];
    modal_tled_macro x;
    double h[9], tangent[9][9], g[MODAL_TLED_MACRO_CORNERS][3], control[MOST_ROWS][MOST_ROWS], scale[MODAL_TLED_MACRO_CORNERS];
    modal_tled_macro_shape(s, macro, &x);
    modal_tled_reference_law_gradient(r, e, u, h);
    element_tangent(r, e, &f->model->laws[s->material[e]], h, tangent);
    for (int a = 0; a < x.n_corners; a++) {
        scale[a] = 1 / sqrt(f->model->densities[s->material[e]] * x.volume * x.shares[a]);
        for (int i = 0; i < 3; i++) g[a][i] = x.gradients[a][i] * scale[a];
    }
    for (int a = 0; a < x.n_corners; a++)
        for (int b = 0; b < x.n_corners; b++) control[a][b] = x.spread[a][b] * scale[a] * scale[b];
    return x.volume * law_eigenvalue(tangent, (const double(*)[3])g, x.n_corners) +
           (x.n_corners > 4 ? s->materials[s->material[e]].control * largest_eigenvalue(x.n_corners, control) : 0);
}

/* density V / corners is what a corner has of the element: found again from the model. */
static double corner_mass(const modal_tled_forces *f, int64_t e, const double *density)
{
    const modal_tled_reference *r = (const modal_tled_reference *)f->reference;
    const modal_tled_solid *s = r->head.solid;
    return density[s->material[e]] *
           (e < s->n_tetrahedra ? r->tetrahedra[e].volume / 4 : r->hexahedra[e - s->n_tetrahedra].volume / 8);
}

/* m_ei lambda_e of every element, and its sums by node. */
static void find_stiffness(const modal_tled_forces *f, const double *u, double *elements, double *sums)
{
    const modal_tled_solid *s = &f->model->solid;
    const int64_t n_elements = s->n_tetrahedra + s->n_hexahedra, split = 4 * s->n_tetrahedra;
    modal_tled_reference_pressures((modal_tled_reference *)f->reference, u);
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static) if (n_elements > MODAL_TLED_ALONE)
    for (int64_t m = 0; m < s->n_macros; m++) {
        const double lambda = fmax(macro_eigenvalue(f, m, u), 0);
        for (int64_t e = s->macro_offsets[m]; e < s->macro_offsets[m + 1]; e++) elements[e] = corner_mass(f, e, f->model->densities) * lambda;
    }
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static) if (n_elements > MODAL_TLED_ALONE)
    for (int64_t e = s->macro_offsets ? s->n_tetrahedra : 0; e < n_elements; e++) {
        const double mass = corner_mass(f, e, f->model->densities);
        elements[e] = mass * fmax(element_eigenvalue(f, e, u, mass), 0);
    }
    for (int64_t i = 0; i < s->n_nodes; i++) {
        sums[i] = 0;
        for (int64_t p = f->offsets[i]; p < f->offsets[i + 1]; p++)
            sums[i] += elements[f->places[p] < split ? f->places[p] / 4 : s->n_tetrahedra + (f->places[p] - split) / 8];
    }
}

modal_status modal_tled_stiffness_sums(const modal_tled_forces *f, const double *u, double *sums, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *elements = NULL;
    MODAL_TRY(modal_alloc(&elements, f->model->solid.n_tetrahedra + f->model->solid.n_hexahedra, sizeof *elements, "critical step", err));
    find_stiffness(f, u, elements, sums);
done:
    modal_free(&elements);
    return status;
}

modal_status modal_tled_scale_masses(modal_tled_model *model, const modal_tled_forces *forces, const double *u, double step,
                                     double *share, int64_t *n, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_solid *s = &model->solid;
    double *sums = NULL, *weights, *mass = (double *)s->mass, before = 0, after = 0;
    MODAL_TRY(modal_alloc(&weights, s->n_nodes, sizeof *weights, "weights", err));
    s->weights = weights;
    MODAL_TRY(modal_alloc(&sums, s->n_nodes, sizeof *sums, "weights", err));
    MODAL_TRY(modal_tled_stiffness_sums(forces, u, sums, err));
    *n = 0;
    for (int64_t i = 0; i < s->n_nodes; i++) {
        const double least = step * step * sums[i] / 4;
        weights[i] = mass[i];
        before += mass[i];
        if (mass[i] < least) mass[i] = least, ++*n;
        after += mass[i];
    }
    *share = (after - before) / before;
done:
    modal_free(&sums);
    return status;
}

/* all [elements] gets m_ei lambda_e, or NULL. */
static modal_status find_bound(const modal_tled_forces *f, const double *u, modal_tled_critical *c, double *all, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &f->model->solid;
    double *elements = NULL, *sums = NULL, top = 0, worst = -1;
    int64_t node = -1;
    MODAL_TRY(modal_alloc(&elements, s->n_tetrahedra + s->n_hexahedra, sizeof *elements, "critical step", err));
    MODAL_TRY(modal_alloc(&sums, s->n_nodes, sizeof *sums, "critical step", err));
    find_stiffness(f, u, elements, sums);
    for (int64_t i = 0; i < s->n_nodes; i++)
        if (!(sums[i] / s->mass[i] <= top)) top = sums[i] / s->mass[i], node = i;
    c->bound = 2 / sqrt(top);
    for (int64_t p = node < 0 ? 0 : f->offsets[node]; node >= 0 && p < f->offsets[node + 1]; p++) {
        const int64_t place = f->places[p], split = 4 * s->n_tetrahedra;
        const int64_t e = place < split ? place / 4 : s->n_tetrahedra + (place - split) / 8;
        const double lambda = elements[e] / corner_mass(f, e, f->model->densities);
        if (lambda > worst) worst = lambda, c->element = e;
    }
    if (all) memcpy(all, elements, (size_t)(s->n_tetrahedra + s->n_hexahedra) * sizeof *all);
done:
    modal_free(&elements);
    modal_free(&sums);
    return status;
}

/* K v by a difference of forces: both sides, at a way that makes strains of about 1e-4. */
static modal_status product(modal_tled_forces *f, const double *u, const double *v, double way, double *moved, double *side,
                            double *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = 3 * f->model->solid.n_nodes;
    for (int64_t k = 0; k < n; k++) moved[k] = u[k] + way * v[k];
    MODAL_TRY(modal_tled_forces_at(f, moved, out, err));
    for (int64_t k = 0; k < n; k++) moved[k] = u[k] - way * v[k];
    MODAL_TRY(modal_tled_forces_at(f, moved, side, err));
    for (int64_t k = 0; k < n; k++) out[k] = (out[k] - side[k]) / (2 * way);
done:
    return status;
}

static double start_value(int64_t k) /* in [-1, 1), of no pattern */
{
    return (double)(modal_mix((uint64_t)k * 0x9e3779b97f4a7c15u + 0x1234567) >> 11) * 0x1p-52 - 1.0;
}

/* Zero where a component is held. */
static void let_go(const modal_tled_solid *s, double *v)
{
    for (int64_t k = 0; k < 3 * s->n_held; k++)
        if (s->held_signals[k] != MODAL_TLED_FREE) v[3 * (int64_t)s->held[k / 3] + k % 3] = 0;
}

/* Lanczos's iteration on M^-1 K in the scalar product of M; without reorthogonalisation, which only repeats values. */
modal_status modal_tled_critical_estimate(modal_tled_forces *f, const double *u, modal_tled_critical *c, modal_error *err)
{
    enum { MOST = 100, CALM = 3 };
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = &f->model->solid;
    const int64_t n = 3 * s->n_nodes;
    double *v = NULL, *last = NULL, *moved = NULL, *side = NULL, *out = NULL, low[3], high[3], extent = 0, lambda = 0;
    double diagonal[MOST], beside[MOST], norm = 0;
    int calm = 0;
    MODAL_TRY(modal_alloc(&v, n, sizeof *v, "critical step", err));
    MODAL_TRY(modal_alloc_zero(&last, n, sizeof *last, "critical step", err));
    MODAL_TRY(modal_alloc(&moved, n, sizeof *moved, "critical step", err));
    MODAL_TRY(modal_alloc(&side, n, sizeof *side, "critical step", err));
    MODAL_TRY(modal_alloc(&out, n, sizeof *out, "critical step", err));
    for (int i = 0; i < 3; i++) low[i] = HUGE_VAL, high[i] = -HUGE_VAL;
    for (int64_t k = 0; k < n; k++) low[k % 3] = fmin(low[k % 3], s->nodes[k]), high[k % 3] = fmax(high[k % 3], s->nodes[k]);
    for (int i = 0; i < 3; i++) extent = fmax(extent, high[i] - low[i]);
    for (int64_t k = 0; k < n; k++) v[k] = start_value(k);
    let_go(s, v);
    for (int64_t k = 0; k < n; k++) norm += v[k] * s->mass[k / 3] * v[k];
    for (c->products = 0; c->products < MOST && calm < CALM && norm > 0; c->products++) {
        const int m = c->products;
        double top = 0, square = 0;
        for (int64_t k = 0; k < n; k++) v[k] /= sqrt(norm), top = fmax(top, fabs(v[k]));
        /* the largest value moves a node by 1e-4 of a typical edge */
        MODAL_TRY(product(f, u, v, 1e-4 * extent / (1 + cbrt((double)s->n_nodes)) / top, moved, side, out, err));
        let_go(s, out);
        diagonal[m] = 0;
        for (int64_t k = 0; k < n; k++) diagonal[m] += v[k] * out[k];
        for (int64_t k = 0; k < n; k++) {
            const double next = out[k] / s->mass[k / 3] - diagonal[m] * v[k] - (m > 0 ? beside[m - 1] * last[k] : 0);
            last[k] = v[k];
            v[k] = next;
            square += next * s->mass[k / 3] * next;
        }
        if (!isfinite(square)) break;
        norm = square;
        beside[m] = sqrt(square);
        const double now = largest_of_tridiagonal(m + 1, diagonal, beside, 1e-12);
        calm = fabs(now - lambda) <= 1e-4 * now ? calm + 1 : 0;
        lambda = now;
        if (square <= 1e-24 * now * now) norm = 0; /* all of it is found */
    }
    c->estimate = 2 / sqrt(lambda);
done:
    modal_free(&v);
    modal_free(&last);
    modal_free(&moved);
    modal_free(&side);
    modal_free(&out);
    return status;
}

modal_status modal_tled_critical_at(modal_tled_forces *f, const double *u, modal_tled_critical *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    *c = (modal_tled_critical){.element = -1};
    MODAL_TRY(find_bound(f, u, c, NULL, err));
    MODAL_TRY(modal_tled_critical_estimate(f, u, c, err));
done:
    return status;
}

modal_status modal_tled_critical_rest(modal_tled_model *model, modal_tled_forces *f, modal_tled_critical *c, modal_error *err)
{
    static const double none[9] = {0};
    modal_status status = MODAL_OK;
    modal_tled_solid *s = &model->solid;
    const modal_tled_reference *r = (const modal_tled_reference *)f->reference;
    const int64_t n_elements = s->n_tetrahedra + s->n_hexahedra;
    double *u = NULL, *stiffness = NULL;
    *c = (modal_tled_critical){.element = -1};
    MODAL_TRY(modal_alloc_zero(&u, s->n_nodes, 3 * sizeof *u, "critical step", err));
    MODAL_TRY(modal_alloc(&stiffness, n_elements, sizeof *stiffness, "critical step", err));
    MODAL_TRY(find_bound(f, u, c, stiffness, err));
    for (int64_t e = 0; e < n_elements; e++) {
        stiffness[e] /= modal_tled_reference_measure(r, e, none);
    }
    MODAL_TRY(modal_tled_critical_estimate(f, u, c, err));
    modal_free((void *)&s->stiffness);
    s->stiffness = stiffness;
    stiffness = NULL;
done:
    modal_free(&u);
    modal_free(&stiffness);
    return status;
}
