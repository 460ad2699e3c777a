/* SPDX-License-Identifier: Apache-2.0 */
/* That no natural mode is missing: the Sturm count, what it recovers, equal and nearly equal modes. */
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
#include "tests/unit/modes_fixtures.h"

/* Lanczos as the solver calls it (the linker leads its calls here): where drop_vector says so, the next
 * run loses one of the vectors that it would have found, as a run does whose start vector has nothing of
 * them; and it tells of no more than most_guard of what it saw beyond. */
static int drop_vector = -1, most_guard = MODAL_GUARD;
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
    if (drop_vector < 0) {
        const modal_status whole =
            __real_modal_modes_lanczos(problem, n_wanted, limits, vectors, guard, n_restarts, err);
        if (guard->count > most_guard) guard->count = most_guard;
        return whole;
    }
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

/* The inertia of a factor in floats, proven: as many as there are, whatever is missed is found, what disagrees is
 * refused. */
static void test_floats_are_counted(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result doubles, whole, again;
    modal_error err = {0};
    modal_modes_options options = {.n_modes = 70, .n_threads = 2, .solver = MODAL_MODES_LANCZOS};
    const double size[3] = {1, 0.2, 0.2};
    solid_bar(&mesh, 9, 4, 4, size, 1, 2e11, 0.3, 7800);
    solve(&mesh, NULL, 0, &options, &doubles);
    options.n_modes = 20;
    options.factor = MODAL_FACTOR_FLOAT32;
    assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &whole, NULL, NULL), MODAL_OK);
    assert_int_equal(whole.sturm.n_below, -1); /* on request only */
    modal_modes_result_free(&whole);
    options.proof = MODAL_PROOF_ALWAYS;
    solve(&mesh, NULL, 0, &options, &whole);
    int64_t n_below = whole.n_rigid;
    for (int k = 0; k < 70; k++) n_below += doubles.eigenvalues[k] < whole.sturm.shift;
    assert_true(whole.factor_float32 && doubles.eigenvalues[69] > whole.sturm.shift);
    assert_true(whole.sturm.shift > whole.eigenvalues[19]);
    assert_int_equal(whole.sturm.n_below, n_below);
    assert_int_equal(whole.sturm.n_known, n_below);
    assert_true(whole.sturm.defect > 0 && whole.sturm.defect < 1);
    for (int lost = 0; lost <= 10; lost += 5) {
        drop_vector = lost;
        solve(&mesh, NULL, 0, &options, &again);
        assert_true(drop_vector == -1 && again.n_recovered >= 1);
        for (int k = 0; k < 20; k++) assert_true(fabs(again.eigenvalues[k] / doubles.eigenvalues[k] - 1) <= 1e-9);
        modal_modes_result_free(&again);
    }
    count_error = -1;
    assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &again, NULL, &err), MODAL_ERROR_NOT_CONVERGED);
    assert_non_null(strstr(err.message, "eigenvalues lie below"));
    count_error = 0;
    modal_modes_result_free(&whole), modal_modes_result_free(&doubles);
    modal_volume_mesh_free(&mesh);
}

/* A bar two hundred times as long as thick: floats do not see its lowest modes, and nothing is claimed of a gap
 * between them; far above they see well, and there the count is that of doubles. */
static void test_floats_that_prove_nothing(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result result;
    modal_error err = {0};
    const int32_t fixed[4] = {0, 1, 2, 3};
    const double size[3] = {20, 0.1, 0.1};
    modal_modes_options options = {.n_modes = 2, .n_threads = 1, .solver = MODAL_MODES_LANCZOS,
                                   .factor = MODAL_FACTOR_FLOAT32, .proof = MODAL_PROOF_ALWAYS};
    solid_bar(&mesh, 200, 1, 1, size, 1, 2e11, 0.3, 7800);
    most_guard = 1;
    assert_int_equal(modal_modes_solve(&mesh, fixed, 4, &options, &result, NULL, &err), MODAL_ERROR_NOT_CONVERGED);
    print_message("%s\n", err.message);
    assert_non_null(strstr(err.message, "times of what turns a sign"));
    most_guard = MODAL_GUARD;
    assert_int_equal(modal_modes_solve(&mesh, fixed, 4, &options, &result, NULL, &err), MODAL_OK);
    assert_true(result.sturm.n_below > 8 && result.sturm.n_below == result.sturm.n_known);
    modal_modes_result_free(&result);
    modal_volume_mesh_free(&mesh);
}

/* Without a count: where modes are crowded a search beside them finds the one that was lost. */
static void test_missed_modes_are_searched(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result whole, again;
    const modal_modes_options options = {.n_modes = 20, .n_threads = 1, .factor = MODAL_FACTOR_FLOAT32};
    const double size[3] = {1, 0.6, 0.7};
    solid_bar(&mesh, 3, 3, 3, size, 12, 2e11, 0.3, 7800);
    assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &whole, NULL, NULL), MODAL_OK);
    assert_true(whole.eigenvalues[11] <= whole.eigenvalues[0] * (1 + 1e-9));
    assert_true(whole.eigenvalues[12] > whole.eigenvalues[0] * 1.01);
    drop_vector = 5;
    assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &again, NULL, NULL), MODAL_OK);
    assert_int_equal(drop_vector, -1);
    assert_true(again.n_recovered >= 1);
    for (int k = 0; k < options.n_modes; k++)
        assert_true(fabs(again.eigenvalues[k] / whole.eigenvalues[k] - 1) <= 1e-9);
    modal_modes_result_free(&whole);
    modal_modes_result_free(&again);
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missed_modes_are_recovered),
        cmocka_unit_test(test_missed_modes_are_searched),
        cmocka_unit_test(test_floats_are_counted),
        cmocka_unit_test(test_floats_that_prove_nothing),
        cmocka_unit_test(test_count_that_disagrees),
        cmocka_unit_test(test_count_is_inertia),
        cmocka_unit_test(test_many_equal_modes),
        cmocka_unit_test(test_near_multiples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
