/* SPDX-License-Identifier: Apache-2.0 */
/* Natural modes against beams, against themselves by another path, and at their limits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/memory.h"
#include "lib/fem/assemble.h"
#include "lib/modes/modes.h"
#include "lib/modes/problem.h"
#include "tests/unit/solid_fixtures.h"

static const double pi = 3.14159265358979323846;
static const double bar_size[3] = {1.0, 0.2, 0.15};

static void first_nodes(int32_t *fixed, int n)
{
    for (int i = 0; i < n; i++) fixed[i] = i;
}

/* Solves and checks what holds for every result. */
static void solve(const modal_volume_mesh *mesh, const int32_t *fixed, int64_t n_fixed,
                  const modal_modes_options *options, modal_modes_result *result)
{
    modal_error err = {0};
    const modal_status status = modal_modes_solve(mesh, fixed, n_fixed, options, result, NULL, &err);
    if (status != MODAL_OK) print_message("%s\n", err.message);
    assert_int_equal(status, MODAL_OK);
    assert_int_equal(result->n_modes, options->n_modes);
    assert_true(result->orthogonality <= 1e-10);
    assert_true(result->sturm.n_below >= result->n_modes + result->n_rigid);
    assert_int_equal(result->sturm.n_below, result->sturm.n_known);
    assert_true(result->sturm.shift > result->eigenvalues[result->n_modes - 1]);
    for (int32_t k = 0; k < result->n_modes; k++) {
        assert_true(result->orthogonalities[k] <= result->orthogonality);
        const double *mode = result->modes + 3 * mesh->n_nodes * k;
        double top = 0;
        assert_true(result->residuals[k] <= 1e-9);
        assert_true(fabs(result->modal_masses[k] - 1) <= 1e-10);
        assert_true(result->eigenvalues[k] > 0);
        assert_true(k == 0 || result->eigenvalues[k] >= result->eigenvalues[k - 1]);
        for (int64_t i = 0; i < n_fixed; i++)
            for (int p = 0; p < 3; p++) assert_true(mode[3 * (int64_t)fixed[i] + p] == 0);
        for (int64_t i = 0; i < 3 * mesh->n_nodes; i++) top = fmax(top, fabs(mode[i]));
        int64_t at = 0;
        while (fabs(mode[at]) < top * (1 - 1e-6)) at++;
        assert_true(mode[at] > 0);
    }
    for (int32_t k = 0; k < result->n_rigid; k++)
        assert_true(fabs(result->rigid_eigenvalues[k]) <= 1e-6 * result->eigenvalues[0]);
}

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

/* Lanczos as the solver calls it (the linker leads its calls here): where drop_vector says so, the next
 * run loses one of the vectors that it would have found, as a run does whose start vector has nothing of
 * them. */
static int drop_vector = -1;
modal_status __real_modal_modes_lanczos(modal_modes_problem *problem, int32_t n_wanted,
                                        const modal_modes_limits *limits, double *vectors,
                                        modal_modes_guard *guard, int64_t *n_restarts,
                                        modal_error *err);
modal_status __wrap_modal_modes_lanczos(modal_modes_problem *problem, int32_t n_wanted,
                                        const modal_modes_limits *limits, double *vectors,
                                        modal_modes_guard *guard, int64_t *n_restarts,
                                        modal_error *err);
modal_status __wrap_modal_modes_lanczos(modal_modes_problem *problem, int32_t n_wanted,
                                        const modal_modes_limits *limits, double *vectors,
                                        modal_modes_guard *guard, int64_t *n_restarts, modal_error *err)
{
    if (drop_vector < 0)
        return __real_modal_modes_lanczos(problem, n_wanted, limits, vectors, guard, n_restarts, err);
    double *more = NULL;
    const size_t n = (size_t)problem->n, before = (size_t)drop_vector;
    drop_vector = -1;
    assert_int_equal(modal_alloc(&more, (n_wanted + 1) * problem->n, sizeof *more, "more", err),
                     MODAL_OK);
    modal_status status = __real_modal_modes_lanczos(problem, n_wanted + 1, limits, more, guard,
                                                     n_restarts, err);
    memcpy(vectors, more, before * n * sizeof *more);
    memcpy(vectors + before * n, more + (before + 1) * n,
           ((size_t)n_wanted - before) * n * sizeof *more);
    modal_free(&more);
    return status;
}

/* The count as the solver makes it, with an error where count_error says so. */
static int count_error = 0;
modal_status __real_modal_factor_count(modal_factor *factor, double shift, int64_t *n_below,
                                       double *growth, const modal_progress *progress,
                                       modal_error *err);
modal_status __wrap_modal_factor_count(modal_factor *factor, double shift, int64_t *n_below,
                                       double *growth, const modal_progress *progress,
                                       modal_error *err);
modal_status __wrap_modal_factor_count(modal_factor *factor, double shift, int64_t *n_below,
                                       double *growth, const modal_progress *progress,
                                       modal_error *err)
{
    const modal_status status =
        __real_modal_factor_count(factor, shift, n_below, growth, progress, err);
    *n_below = count_error == -99 ? -1 : *n_below + count_error;
    return status;
}

static void test_count_that_disagrees(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result result;
    modal_modes_options options = {.n_modes = 10, .n_threads = 1};
    solid_bar(&mesh, 9, 4, 4, bar_size, 1, 2e11, 0.3, 7800);
    for (count_error = -1; count_error <= 1; count_error += 2) {
        modal_error err = {0};
        assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &result, NULL, &err),
                         MODAL_ERROR_NOT_CONVERGED);
        print_message("%s\n", err.message);
        assert_non_null(strstr(err.message, count_error < 0 ? "15 eigenvalues lie below"
                                                            : "17 eigenvalues lie below"));
        assert_non_null(strstr(err.message, "16 are known (6 rigid)"));
        assert_null(result.modes);
    }
    count_error = -99; /* pivots that say nothing: an error only for who insists */
    assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &result, NULL, NULL), MODAL_OK);
    assert_int_equal(result.sturm.n_below, -1);
    modal_modes_result_free(&result);
    options.proof = MODAL_PROOF_ALWAYS;
    assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &result, NULL, NULL),
                     MODAL_ERROR_NOT_CONVERGED);
    count_error = 0;
    modal_volume_mesh_free(&mesh);
}

/* The count itself: at any shift what the dense solver's spectrum says. */
static void test_count_is_inertia(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result all;
    modal_fem_system system;
    modal_factor *factor = NULL;
    modal_factor_report report = {0};
    int32_t fixed[12];
    first_nodes(fixed, 12);
    solid_bar(&mesh, 7, 3, 2, bar_size, 1, 1e6, 0.4, 1000);
    const modal_modes_options options = {.n_modes = 200, .n_threads = 1, .solver = MODAL_MODES_DENSE};
    solve(&mesh, fixed, 12, &options, &all);
    assert_int_equal(modal_fem_assemble(&mesh, fixed, NULL, 12, MODAL_MASS_CONSISTENT, 1, &system, NULL),
                     MODAL_OK);
    assert_int_equal(modal_factor_new(&system, 2, &factor, &report, NULL, NULL), MODAL_OK);
    for (int k = 0; k + 1 < 200; k += 7) {
        int64_t n_below = 0;
        double growth = 0;
        const double shift = (all.eigenvalues[k] + all.eigenvalues[k + 1]) / 2;
        assert_int_equal(modal_factor_count(factor, shift, &n_below, &growth, NULL, NULL), MODAL_OK);
        assert_true(growth >= 1 && growth < 1e6);
        assert_int_equal(n_below, k + 1);
    }
    modal_factor_delete(factor);
    modal_fem_system_free(&system);
    modal_modes_result_free(&all);
    modal_volume_mesh_free(&mesh);
}

/* Sixteen equal cubes have every eigenvalue sixteen times or more, twice what a block of vectors shows. */
static void test_many_equal_modes(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result one, result;
    modal_modes_options options = {.n_modes = 10, .n_threads = 2};
    const double size[3] = {1, 0.6, 0.7};
    solid_bar(&mesh, 3, 3, 3, size, 1, 2e11, 0.3, 7800);
    solve(&mesh, NULL, 0, &options, &one);
    modal_volume_mesh_free(&mesh);
    solid_bar(&mesh, 3, 3, 3, size, 16, 2e11, 0.3, 7800);
    options.n_modes = 40;
    solve(&mesh, NULL, 0, &options, &result);
    assert_int_equal(result.n_rigid, 96);
    for (int k = 0; k < 40; k++)
        assert_true(fabs(result.eigenvalues[k] / one.eigenvalues[k / 16] - 1) <= 1e-9);
    modal_modes_result_free(&one);
    modal_modes_result_free(&result);
    modal_volume_mesh_free(&mesh);
}

/* A free cube and a square bar: nearly equal modes come as whole spaces, whatever the start vectors. */
static void test_near_multiples(void **state)
{
    (void)state;
    enum { N = 24 };
    const double sizes[2][3] = {{1, 1, 1}, {4, 1, 1}};
    for (int test = 0; test < 2; test++) {
        modal_volume_mesh mesh;
        modal_modes_result a, b;
        modal_fem_system system;
        modal_modes_options options = {.n_modes = N, .n_threads = 2, .seed = 1};
        int clusters = 0, first = 0;
        solid_bar(&mesh, test ? 20 : 7, test ? 5 : 7, test ? 5 : 7, sizes[test], 1, 2e11, 0.3, 7800);
        solve(&mesh, NULL, 0, &options, &a);
        options.seed = 77;
        solve(&mesh, NULL, 0, &options, &b);
        assert_int_equal(modal_fem_assemble(&mesh, NULL, NULL, 0, MODAL_MASS_CONSISTENT, 1, &system, NULL),
                         MODAL_OK);
        const int64_t n = 3 * mesh.n_nodes;
        double *mb = calloc((size_t)(N * n), sizeof *mb);
        modal_identity_blocks_multiply(&system.pattern, system.mass, N, b.modes, mb, 1);
        for (int end = 1; end < N; end++) {
            if (a.eigenvalues[end] <= 1.03 * a.eigenvalues[end - 1]) continue;
            double overlap = 0; /* the size of the cluster where both span the same space */
            for (int i = first; i < end; i++)
                for (int j = first; j < end; j++) {
                    double product = 0;
                    for (int64_t k = 0; k < n; k++) product += a.modes[i * n + k] * mb[j * n + k];
                    overlap += product * product;
                }
            assert_true(fabs(overlap - (end - first)) <= 1e-9);
            clusters += end - first > 1;
            first = end;
        }
        assert_true(clusters >= 2);
        free(mb);
        modal_fem_system_free(&system);
        modal_modes_result_free(&a), modal_modes_result_free(&b);
        modal_volume_mesh_free(&mesh);
    }
}

static void test_memory_limit(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result roomy, tight, none;
    modal_error err = {0};
    modal_modes_options options = {.n_modes = 12, .n_threads = 1};
    solid_bar(&mesh, 24, 8, 8, bar_size, 1, 2e11, 0.3, 7800);
    solve(&mesh, NULL, 0, &options, &roomy);
    int n_tight = 0;
    for (int percent = 98; percent > 50; percent -= 4) {
        options.memory_limit = 0.01 * percent * roomy.peak_bytes;
        if (modal_modes_solve(&mesh, NULL, 0, &options, &tight, NULL, NULL) != MODAL_OK) break;
        assert_true(tight.peak_bytes <= options.memory_limit);
        n_tight += tight.n_iterations > roomy.n_iterations;
        for (int k = 0; k < 12; k++)
            assert_true(fabs(tight.eigenvalues[k] / roomy.eigenvalues[k] - 1) <= 1e-10);
        modal_modes_result_free(&tight);
    }
    assert_true(n_tight > 0);
    options.memory_limit = 0.4 * roomy.peak_bytes;
    assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &none, NULL, &err),
                     MODAL_ERROR_MEMORY);
    print_message("%s\n", err.message);
    assert_non_null(strstr(err.message, "MiB needed (factor "));
    assert_null(none.modes);
    modal_modes_result_free(&roomy);
    modal_volume_mesh_free(&mesh);
}

/* Whichever mode a Lanczos run misses, the count finds it out: also one of the two equal ones of a square
 * bar, or of the six of three such bars. */
static void test_missed_modes_are_recovered(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result whole, again;
    modal_modes_options options = {.n_modes = 20, .n_threads = 1, .solver = MODAL_MODES_LANCZOS};
    const double size[3] = {1, 0.2, 0.2};
    for (int n_parts = 1; n_parts <= 3; n_parts += 2) {
        solid_bar(&mesh, 9, 4, 4, size, n_parts, 2e11, 0.3, 7800);
        solve(&mesh, NULL, 0, &options, &whole);
        assert_int_equal(whole.n_rigid, 6 * n_parts);
        for (int lost = 0; lost <= 10; lost += 5) {
            assert_true(whole.eigenvalues[lost] < 0.99 * whole.eigenvalues[options.n_modes - 1]);
            drop_vector = lost;
            solve(&mesh, NULL, 0, &options, &again);
            assert_int_equal(drop_vector, -1);
            assert_true(again.n_recovered >= 1);
            for (int k = 0; k < options.n_modes; k++)
                assert_true(fabs(again.eigenvalues[k] / whole.eigenvalues[k] - 1) <= 1e-9);
            modal_modes_result_free(&again);
        }
        modal_modes_result_free(&whole);
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

static void test_refusals(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result result;
    modal_error err = {0};
    int32_t fixed[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    modal_modes_options options = {.n_modes = 50, .n_threads = 1};
    solid_bar(&mesh, 3, 1, 1, bar_size, 1, 1, 0, 1);
    assert_int_equal(modal_modes_solve(&mesh, fixed, 4, &options, &result, NULL, &err),
                     MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "modes: 50 asked for, 36 degrees of freedom");
    assert_null(result.modes);
    err = (modal_error){0};
    assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &result, NULL, &err),
                     MODAL_ERROR_INPUT);
    assert_string_equal(err.message,
                        "modes: 50 asked for, 42 degrees of freedom besides the rigid ones");
    options.n_modes = 36; /* all of them */
    solve(&mesh, fixed, 4, &options, &result);
    modal_modes_result_free(&result);
    options.n_modes = 42;
    solve(&mesh, NULL, 0, &options, &result);
    assert_int_equal(result.n_rigid, 6);
    modal_modes_result_free(&result);
    options.n_modes = 0;
    assert_int_equal(modal_modes_solve(&mesh, fixed, 4, &options, &result, NULL, NULL),
                     MODAL_ERROR_USAGE);
    options.n_modes = 1;
    options.tolerance = NAN;
    assert_int_equal(modal_modes_solve(&mesh, fixed, 4, &options, &result, NULL, NULL),
                     MODAL_ERROR_USAGE);
    options.tolerance = 0;
    mesh.n_elements = 6; /* one cell, all nodes of which are fixed */
    mesh.n_nodes = 8;
    err = (modal_error){0};
    assert_int_equal(modal_modes_solve(&mesh, fixed, 8, &options, &result, NULL, &err),
                     MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "fixed nodes: all 8 nodes are fixed");
    mesh.n_elements = 18;
    mesh.n_nodes = 16;
    modal_volume_mesh_free(&mesh);
}

/* Two blocks that share the nodes of one edge turn about it: one zero eigenvalue too many. */
static void test_hinge_is_refused(void **state)
{
    (void)state;
    const int solvers[2] = {MODAL_MODES_LANCZOS, MODAL_MODES_DENSE};
    const double size[3] = {1, 1, 1};
    for (int test = 0; test < 2; test++) {
        modal_volume_mesh mesh;
        modal_modes_result result;
        modal_error err = {0};
        const modal_modes_options options = {
            .n_modes = 6, .n_threads = 1, .solver = (modal_modes_solver)solvers[test]};
        solid_bar(&mesh, 3, 3, 3, size, 2, 1e6, 0.3, 1000);
        int32_t left[4];
        for (int i = 0; i < 4; i++) {
            left[i] = 64 + 16 * i; /* (i, 0, 0) of the second block, unused from here on, hence fixed */
            for (int64_t k = 0; k < 4 * mesh.n_elements; k++)
                if (mesh.element_nodes[k] == left[i]) mesh.element_nodes[k] = 16 * i + 15; /* (i, 3, 3) */
        }
        for (int64_t i = 64; i < 128; i++) {
            mesh.nodes[3 * i + 1] -= 0.5;
            mesh.nodes[3 * i + 2] += 1;
        }
        assert_int_equal(modal_modes_solve(&mesh, left, 4, &options, &result, NULL, &err),
                         MODAL_ERROR_NOT_CONVERGED);
        assert_non_null(strstr(err.message, "7 rigid modes found, 6 expected"));
        modal_volume_mesh_free(&mesh);
    }
}

static void test_too_few_restarts(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result result;
    modal_error err = {0};
    const modal_modes_options options = {
        .n_modes = 12, .n_threads = 1, .max_iterations = 1, .tolerance = 1e-18};
    const double size[3] = {1, 1, 1};
    solid_bar(&mesh, 9, 4, 4, size, 1, 2e11, 0.3, 7800);
    assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &result, NULL, &err),
                     MODAL_ERROR_NOT_CONVERGED);
    print_message("%s\n", err.message);
    assert_non_null(strstr(err.message, "of 12 converged after 1 restarts"));
    assert_null(result.modes);
    modal_volume_mesh_free(&mesh);
}

typedef struct stopper {
    int calls, stop_at, backwards;
    double last;
    char stage[16];
} stopper;

static int stop_later(void *context, const char *stage, double fraction)
{
    stopper *s = context;
    assert_true(stage[0] != '\0' && fraction <= 1);
    if (strcmp(s->stage, stage) != 0) s->last = 0;
    snprintf(s->stage, sizeof s->stage, "%s", stage);
    if (fraction >= 0) {
        s->backwards += fraction < s->last;
        s->last = fraction;
    }
    return ++s->calls == s->stop_at;
}

static void test_interrupt(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result result;
    const modal_modes_options options = {.n_modes = 6, .n_threads = 1};
    solid_bar(&mesh, 6, 3, 3, bar_size, 1, 2e11, 0.3, 7800);
    stopper s = {.stop_at = -1};
    modal_progress progress = {stop_later, &s};
    assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &result, &progress, NULL), MODAL_OK);
    const int calls = s.calls;
    assert_true(calls > 12 && s.backwards == 0);
    modal_modes_result_free(&result);
    for (int at = 1; at <= calls; at += at < 12 ? 1 : 3) {
        modal_error err = {0};
        s = (stopper){.stop_at = at};
        assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &result, &progress, &err),
                         MODAL_ERROR_INTERRUPTED);
        assert_int_equal(s.calls, at);
        assert_null(result.modes);
    }
    modal_volume_mesh_free(&mesh);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    const int solvers[2] = {MODAL_MODES_LANCZOS, MODAL_MODES_DENSE};
    solid_bar(&mesh, 4, 2, 2, bar_size, 1, 2e11, 0.3, 7800);
    for (int test = 0; test < 2; test++)
        for (int n = 1;; n++) {
            modal_modes_result result;
            const modal_modes_options options = {
                .n_modes = 5, .n_threads = 1, .solver = (modal_modes_solver)solvers[test]};
            modal_alloc_fail_at(n);
            const modal_status status =
                modal_modes_solve(&mesh, NULL, 0, &options, &result, NULL, NULL);
            const int fired = modal_alloc_fired();
            modal_alloc_fail_at(0);
            assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
            modal_modes_result_free(&result);
            if (!fired) {
                assert_true(n > 40);
                break;
            }
        }
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_result_is_what_it_says),
        cmocka_unit_test(test_longitudinal_frequencies),
        cmocka_unit_test(test_bending_converges),
        cmocka_unit_test(test_rigid_counts),
        cmocka_unit_test(test_missed_modes_are_recovered),
        cmocka_unit_test(test_count_that_disagrees),
        cmocka_unit_test(test_count_is_inertia),
        cmocka_unit_test(test_many_equal_modes),
        cmocka_unit_test(test_near_multiples),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_dense_equals_lanczos),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_same_bytes_twice),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_hinge_is_refused),
        cmocka_unit_test(test_too_few_restarts),
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
