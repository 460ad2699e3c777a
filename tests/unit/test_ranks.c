/* SPDX-License-Identifier: Apache-2.0 */
/* lib/ranks with faults put in, one rank: a mode that multigrid misses, indices that are too short. The linker puts __wrap_f in the
 * place of f. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/ranks/private.h"
#include "tests/unit/solid_fixtures.h"

enum { N_MODES = 8, MISSED = 2 };

static int misses; /* how many modes are still to be taken away */
static int64_t most_index;

modal_status __real_ranks_examine(ranks_problem *problem, double *worst, int64_t *at, int *allowed, modal_error *err);
modal_status __wrap_ranks_examine(ranks_problem *problem, double *worst, int64_t *at, int *allowed, modal_error *err);
int64_t __wrap_ranks_most_index(void);

/* The modes are good; then one of them is taken away, as if it had never been found. */
modal_status __wrap_ranks_examine(ranks_problem *problem, double *worst, int64_t *at, int *allowed, modal_error *err)
{
    const modal_status status = __real_ranks_examine(problem, worst, at, allowed, err);
    if (status != MODAL_OK || misses == 0 || !(*worst <= 1)) return status;
    misses--;
    VecDestroy(&problem->vectors[MISSED]);
    problem->n_found--;
    for (int64_t k = MISSED; k < problem->n_found; k++) {
        problem->vectors[k] = problem->vectors[k + 1];
        problem->eigenvalues[k] = problem->eigenvalues[k + 1];
        problem->residuals[k] = problem->residuals[k + 1];
    }
    problem->vectors[problem->n_found] = NULL;
    problem->options.n_modes--;
    return status;
}

int64_t __wrap_ranks_most_index(void) { return most_index; }

static modal_status solve(modal_modes_route route, int32_t n_modes, int free_body, modal_modes_result *result, modal_error *err)
{
    modal_solid solid = {0};
    modal_ranks_report report;
    int32_t fixed[64];
    uint8_t components[64];
    static const double size[3] = {0.8, 0.45, 0.4};
    solid_bar(&solid.mesh, 8, 4, 4, size, 1, 2e11, 0.3, 7800);
    for (int64_t i = 0; i < solid.mesh.n_nodes && !free_body; i++)
        if (solid.mesh.nodes[3 * i] == 0) {
            fixed[solid.n_fixed_nodes] = (int32_t)i;
            components[solid.n_fixed_nodes++] = MODAL_FIXED_ALL;
        }
    solid.fixed_nodes = fixed;
    solid.fixed_components = components;
    const modal_ranks_options options = {.n_modes = n_modes, .route = route};
    const modal_status status = modal_ranks()->solve(&solid, &options, result, &report, NULL, err);
    modal_volume_mesh_free(&solid.mesh);
    return status;
}

static void test_missed_mode(void **state)
{
    (void)state;
    for (int free_body = 0; free_body < 2; free_body++) {
        modal_modes_result exact, found;
        modal_error err = {0};
        most_index = INT32_MAX;
        misses = 0;
        if (solve(MODAL_ROUTE_DIRECT, N_MODES, free_body, &exact, &err) != MODAL_OK) fail_msg("%s", err.message);
        misses = 1; /* one is asked for more, since it goes */
        if (solve(MODAL_ROUTE_MULTIGRID, N_MODES + 1, free_body, &found, &err) != MODAL_OK) fail_msg("%s", err.message);
        assert_int_equal(misses, 0);
        assert_int_equal(found.sturm.n_below, -1);
        for (int k = 0; k < N_MODES; k++)
            if (!(fabs(found.eigenvalues[k] / exact.eigenvalues[k] - 1) <= 1e-9))
                fail_msg("mode %d: %.12g, %.12g", k, found.eigenvalues[k], exact.eigenvalues[k]);
        modal_modes_result_free(&exact);
        modal_modes_result_free(&found);
    }
}

/* 9 x 5 x 5 nodes, 25 of them held. */
static void test_short_indices(void **state)
{
    (void)state;
    static const struct {
        int64_t most;
        modal_modes_route route;
        const char *message;
    } cases[] = {{599, MODAL_ROUTE_DIRECT, "600 degrees of freedom, this PETSc's indices reach 599 (libpetsc64-real-dev)"},
                 {600, MODAL_ROUTE_DIRECT, "entries of K on a rank, this PETSc's indices reach 600"},
                 {600, MODAL_ROUTE_MULTIGRID, "entries of K on a rank, this PETSc's indices reach 600"}};
    misses = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        modal_modes_result result;
        modal_error err = {0};
        most_index = cases[i].most;
        assert_int_equal(solve(cases[i].route, N_MODES, 0, &result, &err), MODAL_ERROR_MEMORY);
        if (!strstr(err.message, cases[i].message)) fail_msg("%s", err.message);
        modal_modes_result_free(&result);
    }
    most_index = INT32_MAX; /* and what was refused leaves nothing in the way */
    modal_modes_result result;
    modal_error err = {0};
    if (solve(MODAL_ROUTE_MULTIGRID, N_MODES, 0, &result, &err) != MODAL_OK) fail_msg("%s", err.message);
    modal_modes_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_missed_mode), cmocka_unit_test(test_short_indices)};
    modal_error err = {0};
    int rank, n_ranks;
    if (modal_ranks()->begin(1, NULL, NULL, &rank, &n_ranks, &err) != MODAL_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    modal_ranks()->end();
    return failed;
}
