/* SPDX-License-Identifier: Apache-2.0 */
/* Natural modes at their limits: memory, restarts, interruption, failing allocations, bad input. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/memory.h"
#include "lib/modes/modes.h"
#include "tests/unit/modes_fixtures.h"

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
        print_message("%s\n", err.message);
        assert_non_null(strstr(err.message, "7 rigid modes found, 6 expected: parts hang together by no face, only at "
                                            "nodes 1015, 1031, 1047, 1063"));
        modal_volume_mesh_free(&mesh);
    }
}

/* The modes of a block with a tetrahedron of height h on its first boundary face, or without (h = 0). */
static void flat_modes(double h, int nx, const modal_modes_options *options, const int32_t *fixed, int64_t n_fixed,
                       modal_modes_result *result)
{
    modal_volume_mesh mesh;
    const double size[3] = {2, 1, 1};
    solid_bar(&mesh, nx, 3, 3, size, 2, 1e6, 0.3, 1000);
    /* the first node of the second copy, which is left out, is the tip above the face at z = 1 of the last cell */
    const int64_t n_nodes = mesh.n_nodes / 2, n_elements = mesh.n_elements / 2;
    const int32_t face[3] = {(int32_t)n_nodes - 1, (int32_t)n_nodes - 1 - 4, (int32_t)n_nodes - 1 - 4 - 16};
    for (int p = 0; p < 3; p++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += mesh.nodes[3 * face[k] + p] / 3;
        mesh.nodes[3 * n_nodes + p] = sum + (p == 2 ? h : 0);
    }
    const int32_t tetrahedron[4] = {face[0], face[2], face[1], (int32_t)n_nodes};
    mesh.n_nodes = n_nodes + (h > 0);
    mesh.n_elements = n_elements + (h > 0);
    memcpy(mesh.element_nodes + mesh.element_offsets[n_elements], tetrahedron, sizeof tetrahedron);
    modal_error err = {0};
    /* not by solve(), which asks for residuals of 1e-9: rounding of K phi at the tip leaves more */
    if (modal_modes_solve(&mesh, fixed, n_fixed, options, result, NULL, &err) != MODAL_OK) fail_msg("%s", err.message);
    mesh.n_nodes = 2 * n_nodes;
    mesh.n_elements = 2 * n_elements;
    modal_volume_mesh_free(&mesh);
}

/* A flat tetrahedron on a face has the largest eigenvalue by fourteen decades and adds no motion that counts: the modes
 * are those of the block without it, free and held, of Lanczos and where the block is small enough for dense matrices. */
static void test_flat_element_hides_nothing(void **state)
{
    (void)state;
    int32_t held[16];
    for (int i = 0; i < 16; i++) held[i] = i;
    for (int test = 0; test < 3; test++) {
        modal_modes_result flat, plain;
        const int nx = test == 2 ? 1 : 6;
        const modal_modes_options options = {.n_modes = 4, .n_threads = 1};
        flat_modes(1e-8, nx, &options, held, test == 1 ? 16 : 0, &flat);
        flat_modes(0, nx, &options, held, test == 1 ? 16 : 0, &plain);
        assert_int_equal(flat.n_rigid, test == 1 ? 0 : 6);
        for (int k = 0; k < 4; k++) {
            if (!(fabs(flat.eigenvalues[k] / plain.eigenvalues[k] - 1) <= 1e-7))
                fail_msg("mode %d: %.12g beside %.12g", k, flat.eigenvalues[k], plain.eigenvalues[k]);
            assert_true(flat.residuals[k] <= 1e-6);
        }
        assert_int_equal(plain.dense, test == 2);
        modal_modes_result_free(&flat);
        modal_modes_result_free(&plain);
    }
}

static void test_too_few_restarts(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result result;
    modal_error err = {0};
    const modal_modes_options options = {
        .n_modes = 12, .n_threads = 1, .max_iterations = 1, .tolerance = 1e-60, .proof = MODAL_PROOF_NEVER};
    const double size[3] = {1, 1, 1};
    solid_bar(&mesh, 9, 4, 4, size, 1, 2e11, 0.3, 7800);
    assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &result, NULL, &err),
                     MODAL_ERROR_NOT_CONVERGED);
    print_message("%s\n", err.message);
    assert_non_null(strstr(err.message, "of 12 converged after 1 restarts"));
    assert_null(result.modes);
    modal_volume_mesh_free(&mesh);
}

/* As little memory as there may be: the basis of a tiny problem, in narrow blocks, is begun anew several times and
 * finds the same. */
static void test_small_basis(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    modal_modes_result all, few;
    modal_error err = {0};
    modal_modes_options options = {.n_modes = 12, .n_threads = 1, .factor = MODAL_FACTOR_FLOAT64};
    const double size[3] = {1, 1, 1};
    int64_t most_restarts = 0;
    solid_bar(&mesh, 9, 4, 4, size, 1, 2e11, 0.3, 7800);
    assert_int_equal(modal_modes_solve(&mesh, NULL, 0, &options, &all, NULL, &err), MODAL_OK);
    assert_int_equal(all.n_iterations, 0);
    for (options.memory_limit = all.peak_bytes;; options.memory_limit *= 0.97) {
        const modal_status status = modal_modes_solve(&mesh, NULL, 0, &options, &few, NULL, &err);
        if (status == MODAL_ERROR_MEMORY) break;
        assert_int_equal(status, MODAL_OK);
        if (few.n_iterations > most_restarts) most_restarts = few.n_iterations;
        assert_int_equal(few.sturm.n_below, few.sturm.n_known);
        for (int k = 0; k < 12; k++) {
            const double error = fabs(few.eigenvalues[k] / all.eigenvalues[k] - 1);
            assert_true(error <= 1e-10);
        }
        modal_modes_result_free(&few);
    }
    print_message("%d restarts\n", (int)most_restarts);
    assert_true(most_restarts >= 2);
    modal_modes_result_free(&all);
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
    const modal_modes_options cases[3] = {
        {.n_modes = 5, .n_threads = 1, .solver = MODAL_MODES_LANCZOS},
        {.n_modes = 5, .n_threads = 1, .solver = MODAL_MODES_LANCZOS, .factor = MODAL_FACTOR_FLOAT32},
        {.n_modes = 5, .n_threads = 1, .solver = MODAL_MODES_DENSE}};
    solid_bar(&mesh, 4, 2, 2, bar_size, 1, 2e11, 0.3, 7800);
    for (int test = 0; test < 3; test++)
        for (int n = 1;; n++) {
            modal_modes_result result;
            modal_alloc_fail_at(n);
            const modal_status status = modal_modes_solve(&mesh, NULL, 0, &cases[test], &result, NULL, NULL);
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
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_hinge_is_refused),
        cmocka_unit_test(test_flat_element_hides_nothing),
        cmocka_unit_test(test_too_few_restarts),
        cmocka_unit_test(test_small_basis),
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
