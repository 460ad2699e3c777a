/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of elements and laws that all back ends share, against their definitions; layouts without memory. */
#include <math.h>

#include "lib/base/memory.h"
#include "tests/kernels/tled_solids.h"

static void hold(harness *h, const char *what, double got, double want, double tolerance)
{
    h->n_values++;
    if (!(fabs(got - want) <= tolerance)) harness_fail(h, "%s: %.17g, not %.17g", what, got, want);
}

/* sum_a X_a grad N_a^T = I, volumes, and hourglass modes that no linear field has. */
static void check_shapes(harness *h, const modal_tled_solid *s)
{
    double volume = 0, mass = 0;
    for (int64_t e = 0; e < s->n_tetrahedra + s->n_hexahedra; e++) {
        const int n = e < s->n_tetrahedra ? 4 : 8;
        const int32_t *corners = n == 4 ? s->tetrahedra + 4 * e : s->hexahedra + 8 * (e - s->n_tetrahedra);
        double g[8][3] = {{0}};
        modal_tled_hexahedron x;
        if (n == 4) {
            volume += modal_tled_tetrahedron_shape(s->nodes, corners, g + 1);
            for (int a = 1; a < 4; a++)
                for (int i = 0; i < 3; i++) g[0][i] -= g[a][i];
        } else {
            modal_tled_hexahedron_shape(s->nodes, corners, s->centre, &x);
            volume += x.volume;
            for (int a = 0; a < 8; a++)
                for (int i = 0; i < 3; i++) g[a][i] = x.gradients[a][i];
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double sum = 0, mode[4] = {0, 0, 0, 0};
                for (int a = 0; a < n; a++) {
                    sum += s->nodes[3 * corners[a] + i] * g[a][j];
                    for (int m = 0; n == 8 && m < 4; m++) mode[m] += x.gamma[m][a] * (1 + s->nodes[3 * corners[a] + i]);
                }
                hold(h, "gradient of X", sum, i == j, 1e-13);
                for (int m = 0; m < 4; m++) hold(h, "an hourglass mode of X", mode[m], 0, 1e-13);
            }
    }
    for (int64_t i = 0; i < s->n_nodes; i++) mass += s->mass[i];
    hold(h, "mass", mass, 1000 * volume, 1e-12 * mass);
}

/* sum_a X_a b_a^T = I, shares of 1, and control that no linear field feels. */
static void check_macros(harness *h, const modal_tled_solid *s)
{
    double volume = 0, all = 0, g[3][3];
    for (int64_t e = 0; e < s->n_tetrahedra; e++) all += modal_tled_tetrahedron_shape(s->nodes, s->tetrahedra + 4 * e, g);
    for (int64_t m = 0; m < s->n_macros; m++) {
        modal_tled_macro x;
        double shares = 0;
        modal_tled_macro_shape(s, m, &x);
        volume += x.volume;
        for (int a = 0; a < x.n_corners; a++) shares += x.shares[a];
        hold(h, "shares", shares, 1, 1e-13);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double sum = 0;
                for (int a = 0; a < x.n_corners; a++) sum += s->nodes[3 * x.corners[a] + i] * x.gradients[a][j];
                hold(h, "mean gradient of X", sum, i == j, 1e-12);
            }
        for (int a = 0; a < x.n_corners; a++)
            for (int i = 0; i < 3; i++) {
                double sum = 0;
                for (int b = 0; b < x.n_corners; b++) sum += x.spread[a][b] * (1 + s->nodes[3 * x.corners[b] + i]);
                hold(h, "control of X", sum, 0, 1e-13);
            }
    }
    hold(h, "volume", volume, all, 1e-12 * all);
}

/* W of the law by its formula, of F = I + H. */
static double energy(const modal_tled_material *m, const double g[9])
{
    double f[9], square = 0, trace = 0, strain = 0;
    for (int k = 0; k < 9; k++) f[k] = g[k] + (k % 4 == 0), square += f[k] * f[k];
    const double j = f[0] * (f[4] * f[8] - f[5] * f[7]) + f[1] * (f[5] * f[6] - f[3] * f[8]) +
                     f[2] * (f[3] * f[7] - f[4] * f[6]);
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) {
            const double e = (f[p] * f[q] + f[3 + p] * f[3 + q] + f[6 + p] * f[6 + q] - (p == q)) / 2;
            strain += e * e;
            if (p == q) trace += e;
        }
    if (m->law == MODAL_TLED_STVK) return m->modulus / 2 * trace * trace + m->mu * strain;
    if (m->law == MODAL_TLED_LOGARITHMIC)
        return m->mu / 2 * (square - 3) - m->mu * log(j) + m->modulus / 2 * (j - 1) * (j - 1);
    return m->mu / 2 * (square * pow(j, -2.0 / 3) - 3) + m->modulus / 2 * (j - 1) * (j - 1);
}

/* P is the derivative of W: differences of the fourth order. */
static void check_laws(harness *h, const modal_tled_solid *s)
{
    for (int32_t k = 0; k < s->n_materials; k++)
        for (int trial = 0; trial < 20; trial++) {
            const double size = trial % 2 ? 0.3 : 0.02, step = 1e-3;
            double g[9], stress[9];
            for (int i = 0; i < 9; i++) g[i] = size * harness_random(h);
            modal_tled_stress(&s->materials[k], g, stress);
            for (int i = 0; i < 9; i++) {
                double w[4];
                for (int p = 0; p < 4; p++) {
                    double moved[9];
                    for (int q = 0; q < 9; q++) moved[q] = g[q];
                    moved[i] += step * (p < 2 ? p - 2 : p - 1);
                    w[p] = energy(&s->materials[k], moved);
                }
                hold(h, "P", stress[i], (w[0] - 8 * w[1] + 8 * w[2] - w[3]) / (12 * step), 1e-4);
            }
        }
}

static void check_layout(harness *h, const modal_tled_solid *s)
{
    for (int p = 0; p < 2; p++)
        for (int64_t n = 0; n < 100; n++) {
            modal_tled_layout *layout = NULL;
            modal_error err = {0};
            const modal_tled_layout_task task = {s, (modal_tled_precision)p, h->device, &layout};
            modal_alloc_fail_at(n);
            const modal_status status = h->kernels->tled_layout(&task, h->stream, &err);
            const int fired = n > 0 && modal_alloc_fired();
            modal_alloc_fail_at(0);
            h->n_values++;
            if (fired && (status != MODAL_ERROR_MEMORY || layout)) harness_fail(h, "allocation %lld", (long long)n);
            if (!fired) {
                harness_ok(h, status, &err);
                if (!layout || layout->solid != s || layout->precision != task.precision || layout->bytes < s->n_tetrahedra)
                    harness_fail(h, "the layout's head");
            }
            modal_tled_layout_free(&layout);
            if (n > 0 && !fired) break;
        }
}

static void run(harness *h)
{
    if (!h->kernels->tled_layout) {
        harness_unsupported(h, "tled_layout");
        return;
    }
    static const int sizes[][3] = {{1, 1, 1}, {2, 3, 2}, {5, 4, 7}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int elements = TLED_TETRAHEDRA; elements <= TLED_BOTH; elements++) {
            harness_case(h, "%d x %d x %d, elements %d", sizes[i][0], sizes[i][1], sizes[i][2], elements);
            modal_tled_solid *s = tled_solid_new(h, sizes[i][0], sizes[i][1], sizes[i][2], (tled_elements)elements, 3, 1);
            check_shapes(h, s);
            check_laws(h, s);
            check_layout(h, s);
            tled_solid_make_macros(h, s, sizes[i][0]);
            check_macros(h, s);
            check_layout(h, s);
            tled_solid_free(s);
        }
}

int main(int argc, char **argv) { return harness_main(argc, argv, "tled_layout", run); }
