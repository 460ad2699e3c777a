/* SPDX-License-Identifier: Apache-2.0 */
/* Reduced St. Venant-Kirchhoff forces against the full element forces, written here once more from
 * the definition, and those against differences of the energy. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/reduced/derivatives.h"
#include "lib/reduced/stvk.h"
#include "tests/unit/reduced_fixtures.h"
#include "tests/unit/solid_fixtures.h"

/* A bar of two materials, its nodes shaken so that no element is like another. */
static void make_solid(modal_volume_mesh *mesh)
{
    modal_material *two = NULL;
    solid_bar(mesh, 7, 3, 2, (double[]){1, 0.3, 0.2}, 1, 3e6, 0.4, 1100);
    assert_int_equal(modal_alloc_zero(&two, 2, sizeof *two, "", NULL), MODAL_OK);
    two[0] = mesh->materials[0];
    two[1] = (modal_material){NULL, 8e6, -0.2, 900};
    assert_int_equal(modal_copy_text(&two[1].name, "foam", 4, NULL), MODAL_OK);
    modal_free(&mesh->materials);
    mesh->materials = two;
    mesh->n_materials = 2;
    for (int64_t e = 0; e < mesh->n_elements; e += 3) mesh->element_material[e] = 1;
    random_state = 5;
    for (int64_t i = 0; i < 3 * mesh->n_nodes; i++) mesh->nodes[i] += 0.01 * random_unit();
}

/* Energy of x = X + u, J, and, where wanted, its gradient by u: F from edges, S = lambda tr(E) I +
 * 2 mu E, nodal forces P g_a V with P = F S. Every matrix is inverted by cofactors here, and nothing
 * is shared with the library. */
static double direct(const modal_volume_mesh *mesh, const double *u, double *force)
{
    double energy = 0;
    if (force) memset(force, 0, (size_t)(3 * mesh->n_nodes) * sizeof *force);
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t *c = mesh->element_nodes + 4 * e;
        const modal_material *m = &mesh->materials[mesh->element_material[e]];
        const double lambda = m->young * m->poisson / (1 + m->poisson) / (1 - 2 * m->poisson),
                     mu = m->young / 2 / (1 + m->poisson);
        double d[3][3], s[3][3], inverse[3][3], f[3][3], strain[3][3], stress[3][3], trace = 0;
        for (int p = 0; p < 3; p++)
            for (int a = 0; a < 3; a++) {
                d[p][a] = mesh->nodes[3 * c[a + 1] + p] - mesh->nodes[3 * c[0] + p];
                s[p][a] = d[p][a] + u[3 * c[a + 1] + p] - u[3 * c[0] + p];
            }
        double det = 0;
        for (int p = 0; p < 3; p++)
            for (int a = 0; a < 3; a++)
                inverse[a][p] = d[(p + 1) % 3][(a + 1) % 3] * d[(p + 2) % 3][(a + 2) % 3] -
                                d[(p + 1) % 3][(a + 2) % 3] * d[(p + 2) % 3][(a + 1) % 3];
        for (int a = 0; a < 3; a++) det += d[0][a] * inverse[a][0];
        const double volume = fabs(det) / 6;
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++) {
                f[p][q] = 0;
                for (int a = 0; a < 3; a++) f[p][q] += s[p][a] * inverse[a][q] / det;
            }
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++) {
                strain[p][q] = p == q ? -0.5 : 0;
                for (int k = 0; k < 3; k++) strain[p][q] += 0.5 * f[k][p] * f[k][q];
            }
        for (int p = 0; p < 3; p++) trace += strain[p][p];
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++) {
                stress[p][q] = 2 * mu * strain[p][q] + (p == q ? lambda * trace : 0);
                energy += 0.5 * volume * stress[p][q] * strain[p][q];
            }
        for (int a = 0; a < 3 && force; a++)
            for (int p = 0; p < 3; p++) {
                double sum = 0;
                for (int q = 0; q < 3; q++)
                    for (int k = 0; k < 3; k++) sum += f[p][k] * stress[k][q] * inverse[a][q] / det;
                force[3 * c[a + 1] + p] += volume * sum;
                force[3 * c[0] + p] -= volume * sum;
            }
    }
    return energy;
}

/* As VegaFEM counts: r, r (r + 1) / 2, r (r + 1) (r + 2) / 6 unique terms a coordinate. */
static void test_monomials(void **state)
{
    (void)state;
    assert_int_equal(modal_quadratic_count(20), 210);
    assert_int_equal(modal_cubic_count(20), 1540);
    assert_int_equal(modal_cubic_count(60), 37820);
    assert_int_equal(modal_cubic_count(1 << 20), INT64_C(192154133857304576));
    for (int r = 1; r < 9; r++) {
        int64_t second = 0, third = 0;
        for (int i = 0; i < r; i++)
            for (int j = i; j < r; j++) {
                assert_int_equal(modal_quadratic_index(r, i, j), second++);
                for (int k = j; k < r; k++) assert_int_equal(modal_cubic_index(r, i, j, k), third++);
            }
        assert_int_equal(modal_quadratic_count(r), second);
        assert_int_equal(modal_cubic_count(r), third);
    }
}

static void test_forces_equal_full_forces(void **state)
{
    (void)state;
    static const int ranks[] = {1, 2, 3, 7, 12};
    modal_volume_mesh mesh;
    make_solid(&mesh);
    const int64_t n = 3 * mesh.n_nodes;
    double *u = room(n), *full = room(n);
    for (size_t test = 0; test < sizeof ranks / sizeof *ranks; test++) {
        const int r = ranks[test];
        double *modes = make_modes(&mesh, r, 0), q[12], reduced[12];
        modal_reduced_forces forces;
        assert_int_equal(modal_stvk_reduced_forces(&mesh, r, modes, 2, NULL, &forces, NULL, NULL), MODAL_OK);
        for (int turn = 0; turn < 4; turn++) {
            /* from small motions to ones that turn elements inside out */
            double size = 0;
            for (int k = 0; k < r; k++) q[k] = random_unit() * pow(10, turn - 3);
            combine(3 * mesh.n_nodes, r, modes, q, u);
            direct(&mesh, u, full);
            evaluate(&forces, r, q, reduced);
            for (int l = 0; l < r; l++) {
                double wanted = 0;
                for (int64_t i = 0; i < n; i++) {
                    wanted += modes[n * l + i] * full[i];
                    size = fmax(size, fabs(modes[n * l + i] * full[i]));
                }
                assert_true(fabs(reduced[l] - wanted) <= 1e-12 * size * (double)mesh.n_nodes);
                assert_true(fabs(reduced[l]) > 0);
            }
        }
        modal_reduced_forces_free(&forces);
        modal_free(&modes);
    }
    modal_free(&u);
    modal_free(&full);
    modal_volume_mesh_free(&mesh);
}

/* The forces above are those of the energy: central differences, and their error falls as the square
 * of the step. */
static void test_forces_are_energy_differences(void **state)
{
    (void)state;
    enum { R = 5 };
    modal_volume_mesh mesh;
    make_solid(&mesh);
    double *modes = make_modes(&mesh, R, 0), *u = room(3 * mesh.n_nodes), q[R], f[R], errors[2] = {0};
    modal_reduced_forces forces;
    assert_int_equal(modal_stvk_reduced_forces(&mesh, R, modes, 1, NULL, &forces, NULL, NULL), MODAL_OK);
    for (int k = 0; k < R; k++) q[k] = 0.3 * random_unit();
    evaluate(&forces, R, q, f);
    for (int half = 0; half < 2; half++)
        for (int l = 0; l < R; l++) {
            const double step = half ? 1e-4 : 2e-4, at = q[l];
            q[l] = at + step;
            combine(3 * mesh.n_nodes, R, modes, q, u);
            const double above = direct(&mesh, u, NULL);
            q[l] = at - step;
            combine(3 * mesh.n_nodes, R, modes, q, u);
            const double below = direct(&mesh, u, NULL);
            q[l] = at;
            errors[half] = fmax(errors[half], fabs((above - below) / (2 * step) - f[l]) / fabs(f[l]));
        }
    assert_true(errors[1] < 1e-4);
    assert_true(errors[0] / errors[1] > 3.5 && errors[0] / errors[1] < 4.5);
    modal_reduced_forces_free(&forces);
    modal_free(&modes);
    modal_free(&u);
    modal_volume_mesh_free(&mesh);
}

static void test_same_bytes_for_every_thread_count(void **state)
{
    (void)state;
    enum { R = 17 };
    modal_volume_mesh mesh;
    make_solid(&mesh);
    double *modes = make_modes(&mesh, R, 0);
    modal_reduced_forces first, other;
    assert_int_equal(modal_stvk_reduced_forces(&mesh, R, modes, 1, NULL, &first, NULL, NULL), MODAL_OK);
    for (int threads = 2; threads < 5; threads++) {
        assert_int_equal(modal_stvk_reduced_forces(&mesh, R, modes, threads, NULL, &other, NULL, NULL), MODAL_OK);
        assert_memory_equal(first.linear, other.linear, R * R * sizeof(double));
        assert_memory_equal(first.quadratic, other.quadratic,
                            (size_t)(R * modal_quadratic_count(R)) * sizeof(double));
        assert_memory_equal(first.cubic, other.cubic,
                            (size_t)(R * modal_cubic_count(R)) * sizeof(double));
        modal_reduced_forces_free(&other);
    }
    modal_reduced_forces_free(&first);
    modal_free(&modes);
    modal_volume_mesh_free(&mesh);
}

/* The same coefficients from a device; the reference back end always is one, a GPU where it is there. */
static void test_device(void **state)
{
    (void)state;
    enum { R = 9 };
    modal_volume_mesh mesh;
    make_solid(&mesh);
    double *modes = make_modes(&mesh, R, 0);
    modal_reduced_forces forces, other;
    assert_int_equal(modal_stvk_reduced_forces(&mesh, R, modes, 2, NULL, &forces, NULL, NULL), MODAL_OK);
    for (int i = 0; i < modal_device_count(); i++) {
        modal_device device;
        assert_int_equal(modal_device_describe(i, &device, NULL), MODAL_OK);
        assert_int_equal(modal_stvk_reduced_forces(&mesh, R, modes, 2, &device, &other, NULL, NULL), MODAL_OK);
        double top = 0;
        for (int64_t k = 0; k < R * modal_cubic_count(R); k++) top = fmax(top, fabs(forces.cubic[k]));
        for (int64_t k = 0; k < R * modal_cubic_count(R); k++)
            assert_true(fabs(forces.cubic[k] - other.cubic[k]) <= 1e-13 * top);
        for (int64_t k = 0; k < R * R; k++)
            assert_true(fabs(forces.linear[k] - other.linear[k]) <= 1e-13 * fabs(forces.linear[0]) * R);
        modal_reduced_forces_free(&other);
        print_message("%s: %s\n", device.name, device.hardware);
    }
    modal_device reference;
    assert_int_equal(modal_device_open(&reference, "ref", NULL), MODAL_OK);
    for (int n = 1;; n++) {
        modal_alloc_fail_at(n);
        const modal_status status =
            modal_stvk_reduced_forces(&mesh, 3, modes, 1, &reference, &other, NULL, NULL);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        modal_reduced_forces_free(&other);
        if (!fired) break;
    }
    modal_reduced_forces_free(&forces);
    modal_free(&modes);
    modal_volume_mesh_free(&mesh);
}

static int stop(void *context, const char *stage, double fraction)
{
    (void)context, (void)stage, (void)fraction;
    return 1;
}

static void test_refusals(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_reduced_forces forces;
    make_solid(&mesh);
    double *modes = make_modes(&mesh, 3, 0);
    modal_error err = {0};
    assert_int_equal(modal_stvk_reduced_forces(&mesh, 0, modes, 1, NULL, &forces, NULL, &err), MODAL_ERROR_USAGE);
    assert_int_equal(modal_stvk_reduced_forces(&mesh, MODAL_STVK_MOST_MODES + 1, modes, 1, NULL, &forces, NULL,
                                               NULL),
                     MODAL_ERROR_USAGE);
    /* what is said beforehand: more columns take longer, and 3.3 GB of products and more at most */
    const double few = modal_stvk_seconds(&mesh, 20, 1), many = modal_stvk_seconds(&mesh, MODAL_STVK_MOST_MODES, 1);
    assert_true(few > 0 && many > few && isfinite(many));
    assert_true(modal_stvk_bytes(MODAL_STVK_MOST_MODES) > 3.2e9 && modal_stvk_bytes(MODAL_STVK_MOST_MODES) < 6e9);
    const modal_progress progress = {stop, NULL};
    assert_int_equal(modal_stvk_reduced_forces(&mesh, 3, modes, 1, NULL, &forces, &progress, NULL),
                     MODAL_ERROR_INTERRUPTED);
    memset(&err, 0, sizeof err);
    modes[7] = 1e200;
    assert_int_equal(modal_stvk_reduced_forces(&mesh, 3, modes, 1, NULL, &forces, NULL, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "overflow"));
    modes[7] = NAN;
    assert_int_equal(modal_stvk_reduced_forces(&mesh, 3, modes, 1, NULL, &forces, NULL, NULL), MODAL_ERROR_INPUT);
    modes[7] = 1;
    mesh.element_material[11] = -1;
    memset(&err, 0, sizeof err);
    assert_int_equal(modal_stvk_reduced_forces(&mesh, 3, modes, 1, NULL, &forces, NULL, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "element 5011: no material"));
    mesh.element_material[11] = 1;
    for (int n = 1;; n++) {
        modal_alloc_fail_at(n);
        const modal_status status = modal_stvk_reduced_forces(&mesh, 3, modes, 1, NULL, &forces, NULL, NULL);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        modal_reduced_forces_free(&forces);
        if (fired) continue;
        assert_true(n > 6);
        break;
    }
    modal_free(&modes);
    modal_volume_mesh_free(&mesh);
}

/* ---- modal derivatives ---- */

enum { K = 4, PAIRS = K * (K + 1) / 2 };

static void solve_modes(const modal_volume_mesh *mesh, const int32_t *fixed, const uint8_t *components,
                        int64_t n_fixed, modal_modes_result *modes)
{
    const modal_modes_options options = {.n_modes = 12, .fixed_components = components, .n_threads = 1};
    assert_int_equal(modal_modes_solve(mesh, fixed, n_fixed, &options, modes, NULL, NULL), MODAL_OK);
}

/* out = f(a x + b y) */
static void force_at(const modal_volume_mesh *mesh, double a, const double *x, double b,
                     const double *y, double *out)
{
    double *u = room(3 * mesh->n_nodes);
    for (int64_t i = 0; i < 3 * mesh->n_nodes; i++) u[i] = a * x[i] + b * y[i];
    direct(mesh, u, out);
    modal_free(&u);
}

/* The part of f that is linear, and the one that is quadratic, from values of f: the forces are of
 * third degree, so these differences are exact at any step. image = K x; curvature = H(x, y). */
static void linear_part(const modal_volume_mesh *mesh, double h, const double *x, double *image)
{
    const int64_t n = 3 * mesh->n_nodes;
    double *f = room(n);
    memset(image, 0, (size_t)n * sizeof *image);
    for (int at = -2; at <= 2; at++) {
        const double weight = at == 0 ? 0 : (at < 0 ? -1 : 1) * (abs(at) == 1 ? 8 : -1) / (12 * h);
        force_at(mesh, at * h, x, 0, x, f);
        for (int64_t i = 0; i < n; i++) image[i] += weight * f[i];
    }
    modal_free(&f);
}

static void quadratic_part(const modal_volume_mesh *mesh, double h, const double *x, const double *y,
                           double *curvature)
{
    const int64_t n = 3 * mesh->n_nodes;
    double *f = room(n);
    memset(curvature, 0, (size_t)n * sizeof *curvature);
    for (int a = -1; a <= 1; a += 2)
        for (int b = -1; b <= 1; b += 2) {
            force_at(mesh, a * h, x, b * h, y, f);
            for (int64_t i = 0; i < n; i++) curvature[i] += a * b * f[i] / (4 * h * h);
        }
    modal_free(&f);
}

/* K phi_ij = -H(phi_i, phi_j): at all free components of a held body, of which 1 holds twelve nodes and 2 some of
 * them in y alone; tested with elastic modes, which see no inertia of rigid motions, for a free one, 0. */
static void test_derivatives_are_second_differences(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    make_solid(&mesh);
    const int64_t n = 3 * mesh.n_nodes;
    int32_t fixed[12];
    const uint8_t components[12] = {7, 7, 7, 7, 7, 7, 2, 2, 2, 2, 2, 2};
    for (int i = 0; i < 12; i++) fixed[i] = i;
    double *image = room(n), *curvature = room(n), *derivatives;
    for (int test = 0; test < 6; test++) { /* by a factor in doubles, and in floats */
        const int held = test % 3;
        modal_modes_result modes;
        modal_derivatives_report report;
        const uint8_t *of_each = held == 2 ? components : NULL;
        const modal_derivatives_options options = {
            .n_linear = K, .n_modes = 1, .fixed_components = of_each, .n_threads = 2, .factor_float32 = test / 3};
        solve_modes(&mesh, fixed, of_each, held ? 12 : 0, &modes);
        const reduced_solid solid = {&mesh, fixed, held ? 12 : 0, &options, modes.eigenvalues, modes.modes};
        assert_int_equal(modal_derivatives_compute(&solid, &derivatives, &report, NULL, NULL),
                         MODAL_OK);
        assert_int_equal(report.n_derivatives, PAIRS);
        assert_true(report.load_residual <= 1e-9);
        for (int i = 0, at = 0; i < K; i++)
            for (int j = i; j < K; j++, at++) {
                const double *x = modes.modes + n * i, *y = modes.modes + n * j, *d = derivatives + n * at;
                linear_part(&mesh, 0.1 / largest(n, d), d, image);
                quadratic_part(&mesh, 0.1 / fmax(largest(n, x), largest(n, y)), x, y, curvature);
                const double size = largest(n, curvature);
                for (int64_t k = 0; k < n && held; k++) {
                    const int fast = k < 36 && (held == 1 || components[k / 3] >> k % 3 & 1);
                    assert_true(fast ? d[k] == 0 : fabs(image[k] + curvature[k]) <= 1e-8 * size);
                }
                for (int m = 0; m < modes.n_modes && !held; m++) {
                    double sum = 0, terms = 0;
                    for (int64_t k = 0; k < n; k++) {
                        sum += modes.modes[n * m + k] * (image[k] + curvature[k]);
                        terms += fabs(modes.modes[n * m + k] * curvature[k]);
                    }
                    assert_true(fabs(sum) <= 1e-8 * terms);
                }
            }
        modal_free(&derivatives);
        modal_modes_result_free(&modes);
    }
    modal_free(&image);
    modal_free(&curvature);
    modal_volume_mesh_free(&mesh);
}

/* The static answer to p K phi_0 + s K phi_1 is p phi_0 + s phi_1 + (p^2 phi_00 + 2 p s phi_01 + s^2 phi_11) / 2
 * but for third order: halving p and s leaves an eighth of the missing force. Without derivatives, a
 * quarter. */
static void test_derivatives_bend_statics(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    make_solid(&mesh);
    const int64_t n = 3 * mesh.n_nodes;
    int32_t fixed[12];
    for (int i = 0; i < 12; i++) fixed[i] = i;
    modal_modes_result modes;
    modal_derivatives_report report;
    const modal_derivatives_options options = {.n_linear = K, .n_modes = 1, .n_threads = 1};
    double *derivatives, *u = room(n), *f = room(n), *images[2] = {room(n), room(n)}, missing[2][2];
    solve_modes(&mesh, fixed, NULL, 12, &modes);
    const reduced_solid solid = {&mesh, fixed, 12, &options, modes.eigenvalues, modes.modes};
    assert_int_equal(modal_derivatives_compute(&solid, &derivatives, &report, NULL, NULL),
                     MODAL_OK);
    const double *x = modes.modes, *y = modes.modes + n;
    linear_part(&mesh, 0.1 / largest(n, x), x, images[0]);
    linear_part(&mesh, 0.1 / largest(n, y), y, images[1]);
    for (int with = 0; with < 2; with++)
        for (int half = 0; half < 2; half++) {
            const double p = 0.002 / (1 + half) / largest(n, x), s = 0.003 / (1 + half) / largest(n, y);
            for (int64_t i = 0; i < n; i++)
                u[i] = p * x[i] + s * y[i] +
                       with * (p * p * derivatives[i] / 2 + p * s * derivatives[n + i] +
                               s * s * derivatives[K * n + i] / 2);
            direct(&mesh, u, f);
            missing[with][half] = 0;
            for (int64_t i = 36; i < n; i++)
                missing[with][half] += pow(f[i] - p * images[0][i] - s * images[1][i], 2);
            missing[with][half] = sqrt(missing[with][half]);
        }
    const double without = missing[0][0] / missing[0][1], ratio = missing[1][0] / missing[1][1];
    assert_true(without > 3.8 && without < 4.3);
    assert_true(ratio > 7.5 && ratio < 8.5);
    assert_true(missing[1][1] < 0.1 * missing[0][1]);
    modal_free(&derivatives);
    modal_free(&u);
    modal_free(&f);
    modal_free(&images[0]);
    modal_free(&images[1]);
    modal_modes_result_free(&modes);
    modal_volume_mesh_free(&mesh);
}

static void test_derivative_refusals(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    make_solid(&mesh);
    modal_modes_result modes, result;
    modal_derivatives_report report;
    modal_derivatives_options options = {.n_linear = 2, .n_modes = 5, .n_threads = 1};
    solve_modes(&mesh, NULL, NULL, 0, &modes);
    const reduced_solid solid = {&mesh, NULL, 0, &options, modes.eigenvalues, modes.modes};
#define DERIVE(progress) modal_derivatives_solve(&solid, &result, &report, progress, NULL)
    options.n_modes = 6;
    assert_int_equal(DERIVE(NULL), MODAL_ERROR_USAGE);
    options.n_modes = 0;
    assert_int_equal(DERIVE(NULL), MODAL_ERROR_USAGE);
    options.n_modes = 5;
    options.n_linear = 0;
    assert_int_equal(DERIVE(NULL), MODAL_ERROR_USAGE);
    options.n_linear = 2;
    const modal_progress progress = {stop, NULL};
    assert_int_equal(DERIVE(&progress), MODAL_ERROR_INTERRUPTED);
    assert_null(result.modes);
    for (int n = 1;; n++) {
        modal_alloc_fail_at(n);
        const modal_status status = DERIVE(NULL);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        if (fired) continue;
        assert_true(n > 40);
        assert_int_equal(result.n_modes, 5);
        assert_true(result.orthogonality <= 1e-12 && report.energy > 0.999999);
        break;
    }
    modal_modes_result_free(&result);
    modal_derivatives_report_free(&report);
    /* the same mode twice: five columns, of which two are independent */
    memcpy(modes.modes + 3 * mesh.n_nodes, modes.modes, (size_t)(3 * mesh.n_nodes) * sizeof(double));
    modes.eigenvalues[1] = modes.eigenvalues[0];
    assert_int_equal(DERIVE(NULL), MODAL_ERROR_INPUT);
    options.n_modes = 2;
    assert_int_equal(DERIVE(NULL), MODAL_OK);
    assert_int_equal(report.rank, 2);
    modal_modes_result_free(&result);
    modal_derivatives_report_free(&report);
    modal_modes_result_free(&modes);
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_monomials),
        cmocka_unit_test(test_forces_equal_full_forces),
        cmocka_unit_test(test_forces_are_energy_differences),
        cmocka_unit_test(test_same_bytes_for_every_thread_count),
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_derivatives_are_second_differences),
        cmocka_unit_test(test_derivatives_bend_statics),
        cmocka_unit_test(test_derivative_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
