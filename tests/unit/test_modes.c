/* SPDX-License-Identifier: Apache-2.0 */
/* Natural modes against beams, against themselves by another path and in other units. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/fem/assemble.h"
#include "lib/modes/modes.h"
#include "tests/unit/modes_fixtures.h"

static const double pi = 3.14159265358979323846;

/* Residuals and orthonormality again, from the modes over all nodes and a fresh assembly. */
static void test_result_is_what_it_says(void **state)
{
    (void)state;
    int32_t fixed[16];
    first_nodes(fixed, 16);
    for (int test = 0; test < 4; test++) {
        modal_volume_mesh mesh;
        modal_modes_result result;
        modal_fem_system system;
        const int64_t n_fixed = test & 1 ? 16 : 0;
        const modal_modes_options options = {.n_modes = 12, .seed = 3, .n_threads = 2,
                                             .mass_rule = (modal_mass_rule)(test / 2)};
        solid_bar(&mesh, 12, 3, 3, bar_size, 1, 2e11, 0.3, 7800);
        solve(&mesh, fixed, n_fixed, &options, &result);
        assert_int_equal(result.dense, 0);
        assert_int_equal(result.n_rigid, n_fixed ? 0 : 6);
        assert_true(fabs(result.total_mass - 7800 * 0.03) <= 1e-10);
        assert_int_equal(modal_fem_assemble(&mesh, NULL, NULL, 0, options.mass_rule, 1, &system, NULL),
                         MODAL_OK);
        const int64_t n = 3 * mesh.n_nodes;
        double *mx = calloc((size_t)(12 * n), sizeof *mx), *kx = calloc((size_t)(12 * n), sizeof *kx);
        modal_identity_blocks_multiply(&system.pattern, system.mass, 12, result.modes, mx, 1);
        modal_blocks_multiply(&system.pattern, system.stiffness, 12, result.modes, kx, 1);
        for (int a = 0; a < 12; a++) {
            for (int b = 0; b < 12; b++) {
                double product = 0;
                for (int64_t i = 0; i < n; i++) product += result.modes[a * n + i] * mx[b * n + i];
                assert_true(fabs(product - (a == b)) <= 1e-10);
            }
            double above = 0, below = 0, participation[3] = {0};
            for (int64_t i = 0; i < n; i++) {
                participation[i % 3] += mx[a * n + i];
                if (i < 3 * n_fixed) continue;
                const double force = result.eigenvalues[a] * mx[a * n + i];
                above += pow(kx[a * n + i] - force, 2);
                below += force * force;
            }
            assert_true(sqrt(above / below) <= 1e-9);
            for (int p = 0; p < 3; p++)
                assert_true(fabs(participation[p] - result.participation[3 * a + p]) <= 1e-10);
        }
        free(mx), free(kx);
        modal_fem_system_free(&system);
        modal_modes_result_free(&result);
        modal_volume_mesh_free(&mesh);
    }
}

/* Longitudinal vibration of a bar held at one end, nu = 0: f_k = (2 k - 1) c / (4 L). Its modes have
 * the largest participation along the bar. */
static void test_longitudinal_frequencies(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result result;
    int32_t fixed[9];
    first_nodes(fixed, 9);
    const modal_modes_options options = {.n_modes = 20, .n_threads = 1};
    const double size[3] = {1, 0.2, 0.2}, c = sqrt(2e11 / 7800);
    solid_bar(&mesh, 40, 2, 2, size, 1, 2e11, 0, 7800);
    solve(&mesh, fixed, 9, &options, &result);
    int found[2] = {0, 0};
    for (int order = 0; order < 2; order++)
        for (int k = 0; k < 20; k++)
            if ((order == 0 || k != found[0]) &&
                (order == 1 && found[1] == found[0] ? 1
                                                    : fabs(result.participation[3 * k]) >
                                                          fabs(result.participation[3 * found[order]])))
                found[order] = k;
    for (int order = 0; order < 2; order++) {
        const double exact = (2 * order + 1) * c / 4;
        const double f = sqrt(result.eigenvalues[found[order]]) / (2 * pi);
        assert_true(fabs(f - exact) <= (order ? 4e-3 : 1e-3) * exact);
        /* effective mass of a bar's mode: 8 / ((2 k - 1) pi)^2 of the whole */
        const double share = pow(result.participation[3 * found[order]], 2) / result.total_mass;
        assert_true(fabs(share - 8 / pow((2 * order + 1) * pi, 2)) <= 0.01);
    }
    modal_modes_result_free(&result);
    modal_volume_mesh_free(&mesh);
}

/* Bending of a cantilever: linear tetrahedra are too stiff by an error of order h^2; what is left after
 * extrapolation is shear and rotary inertia, half a per cent here. */
static void test_bending_converges(void **state)
{
    (void)state;
    const double size[3] = {10, 1, 1}, young = 1e7, density = 1000;
    const double exact =
        1.8751040687 * 1.8751040687 / (2 * pi) * sqrt(young / 12 / (density * 1e4));
    double f[3];
    for (int level = 0; level < 3; level++) {
        modal_volume_mesh mesh;
        modal_modes_result result;
        int32_t fixed[81];
        const int cells = 2 << level, n_fixed = (cells + 1) * (cells + 1);
        const modal_modes_options options = {.n_modes = 2, .n_threads = 2};
        modal_error err = {0};
        first_nodes(fixed, n_fixed);
        solid_bar(&mesh, 10 * cells, cells, cells, size, 1, young, 0, density);
        assert_int_equal(modal_modes_solve(&mesh, fixed, n_fixed, &options, &result, NULL, &err),
                         MODAL_OK);
        f[level] = sqrt(result.eigenvalues[0]) / (2 * pi);
        /* what rounding leaves at the first mode of the finest mesh */
        assert_true(result.residuals[0] <= 1e-8);
        modal_modes_result_free(&result);
        modal_volume_mesh_free(&mesh);
    }
    const double order = log2((f[0] - f[1]) / (f[1] - f[2]));
    const double limit = f[2] - (f[1] - f[2]) / 3;
    print_message("bending %.5f %.5f %.5f Hz, order %.2f, limit %.5f, beam theory %.5f\n", f[0], f[1],
                  f[2], order, limit, exact);
    assert_true(f[0] > f[1] && f[1] > f[2]);
    assert_true(order >= 1.6 && order <= 2.3);
    assert_true(fabs(limit - exact) <= 0.015 * exact);
}

static void test_rigid_counts(void **state)
{
    (void)state;
    const int32_t corner[3] = {0, 1, 4};
    const int expected[4] = {6, 3, 1, 0};
    for (int solver = MODAL_MODES_LANCZOS; solver <= MODAL_MODES_DENSE; solver++) {
        modal_volume_mesh mesh;
        modal_modes_result result;
        const modal_modes_options options = {
            .n_modes = 8, .n_threads = 1, .solver = (modal_modes_solver)solver};
        solid_bar(&mesh, 6, 3, 3, bar_size, 1, 2e11, 0.3, 7800);
        for (int n_fixed = 0; n_fixed <= 3; n_fixed++) {
            solve(&mesh, corner, n_fixed, &options, &result);
            assert_int_equal(result.n_rigid, expected[n_fixed]);
            assert_true(expected[n_fixed] ? result.shift < 0 : result.shift == 0);
            modal_modes_result_free(&result);
        }
        modal_volume_mesh_free(&mesh);
        solid_bar(&mesh, 5, 3, 3, bar_size, 2, 2e11, 0.3, 7800);
        solve(&mesh, NULL, 0, &options, &result);
        assert_int_equal(result.n_rigid, 12);
        for (int k = 0; k < 8; k += 2) /* two equal parts: every mode twice */
            assert_true(fabs(result.eigenvalues[k + 1] / result.eigenvalues[k] - 1) <= 1e-9);
        modal_modes_result_free(&result);
        modal_volume_mesh_free(&mesh);
    }
}

static void test_dense_equals_lanczos(void **state)
{
    (void)state;
    int32_t fixed[12];
    first_nodes(fixed, 12);
    for (int n_fixed = 0; n_fixed <= 12; n_fixed += 12) {
        modal_volume_mesh mesh;
        modal_modes_result results[2];
        modal_modes_options options = {.n_modes = 20, .n_threads = 1, .seed = 5};
        solid_bar(&mesh, 7, 3, 2, bar_size, 1, 1e6, 0.4, 1000);
        for (int path = 0; path < 2; path++) {
            options.solver = path ? MODAL_MODES_DENSE : MODAL_MODES_LANCZOS;
            solve(&mesh, fixed, n_fixed, &options, &results[path]);
            assert_int_equal(results[path].dense, path);
        }
        for (int k = 0; k < 20; k++) {
            assert_true(fabs(results[0].eigenvalues[k] / results[1].eigenvalues[k] - 1) <= 1e-10);
            const int64_t n = 3 * mesh.n_nodes;
            double difference = 0, size = 0;
            for (int64_t i = k * n; i < (k + 1) * n; i++) {
                difference += pow(results[0].modes[i] - results[1].modes[i], 2);
                size += pow(results[0].modes[i], 2);
            }
            assert_true(sqrt(difference / size) <= 1e-6); /* none of them is repeated */
        }
        modal_modes_result_free(&results[0]);
        modal_modes_result_free(&results[1]);
        modal_volume_mesh_free(&mesh);
    }
}

/* lambda scales with E / (rho L^2), from soft and large to stiff and small. */
static void test_units(void **state)
{
    (void)state;
    static const double lengths[4] = {1e-3, 1e3, 1, 1e-3}, youngs[4] = {1e3, 1e12, 1e3, 1e12};
    int32_t fixed[16];
    first_nodes(fixed, 16);
    for (int n_fixed = 0; n_fixed <= 16; n_fixed += 16) {
        modal_volume_mesh mesh;
        modal_modes_result reference, result;
        const modal_modes_options options = {.n_modes = 10, .n_threads = 1};
        solid_bar(&mesh, 8, 3, 3, bar_size, 1, 1e9, 0.3, 1000);
        solve(&mesh, fixed, n_fixed, &options, &reference);
        modal_volume_mesh_free(&mesh);
        for (int test = 0; test < 4; test++) {
            const double density = test == 3 ? 20000 : 10;
            solid_bar(&mesh, 8, 3, 3, bar_size, 1, youngs[test], 0.3, density);
            solid_scale(&mesh, lengths[test]);
            solve(&mesh, fixed, n_fixed, &options, &result);
            assert_int_equal(result.n_rigid, n_fixed ? 0 : 6);
            const double factor = youngs[test] / density / (1e9 / 1000) / pow(lengths[test], 2);
            for (int k = 0; k < 10; k++)
                assert_true(fabs(result.eigenvalues[k] / (factor * reference.eigenvalues[k]) - 1) <=
                            1e-9);
            modal_modes_result_free(&result);
            modal_volume_mesh_free(&mesh);
        }
        modal_modes_result_free(&reference);
    }
}

static void test_same_bytes_twice(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result a, b, other;
    modal_modes_options options = {.n_modes = 10, .n_threads = 2, .seed = 9};
    solid_bar(&mesh, 30, 8, 8, bar_size, 1, 2e11, 0.3, 7800);
    solve(&mesh, NULL, 0, &options, &a);
    solve(&mesh, NULL, 0, &options, &b);
    assert_memory_equal(a.eigenvalues, b.eigenvalues, 10 * sizeof(double));
    assert_memory_equal(a.modes, b.modes, (size_t)(30 * mesh.n_nodes) * sizeof(double));
    assert_memory_equal(a.residuals, b.residuals, 10 * sizeof(double));
    options.n_threads = 1;
    modal_modes_result_free(&b);
    solve(&mesh, NULL, 0, &options, &b);
    assert_memory_equal(a.modes, b.modes, (size_t)(30 * mesh.n_nodes) * sizeof(double));
    options.seed = 10; /* the seed is used, and does not matter */
    solve(&mesh, NULL, 0, &options, &other);
    assert_true(memcmp(a.modes, other.modes, (size_t)(30 * mesh.n_nodes) * sizeof(double)) != 0);
    for (int k = 0; k < 10; k++)
        assert_true(fabs(a.eigenvalues[k] / other.eigenvalues[k] - 1) <= 1e-10);
    modal_modes_result_free(&a);
    modal_modes_result_free(&b);
    modal_modes_result_free(&other);
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_result_is_what_it_says),
        cmocka_unit_test(test_longitudinal_frequencies),
        cmocka_unit_test(test_bending_converges),
        cmocka_unit_test(test_rigid_counts),
        cmocka_unit_test(test_dense_equals_lanczos),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_same_bytes_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
