/* SPDX-License-Identifier: Apache-2.0 */
/* Decomposition of snapshots where it fails: memory, interrupts, readers. What it computes is checked
 * against numpy (tests/python/check_snapshots.py). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/memory.h"
#include "lib/reduced/snapshots.h"
#include "tests/unit/solid_fixtures.h"

typedef struct made_up {
    int64_t n_nodes;
    int64_t fails_at; /* reading this snapshot fails, -1: none does */
} made_up;

/* Two motions that vanish at the first node. */
static modal_status read_made_up(void *context, int64_t first, int64_t count, double *u, modal_error *err)
{
    const made_up *m = context;
    for (int64_t k = first; k < first + count; k++) {
        if (k == m->fails_at) return modal_error_set(err, MODAL_ERROR_INPUT, "snapshot %d", (int)k);
        for (int64_t i = 0; i < 3 * m->n_nodes; i++)
            u[(k - first) * 3 * m->n_nodes + i] =
                i < 3 ? 0 : sin((double)k) * (double)(i % 3) + cos(2.0 * (double)k) * sin((double)i);
    }
    return MODAL_OK;
}

static int stop(void *context, const char *stage, double fraction)
{
    (void)fraction;
    return strcmp(stage, context) == 0;
}

static void test_failures(void **state)
{
    (void)state;
    modal_volume_mesh mesh;
    solid_bar(&mesh, 3, 2, 2, (double[]){1, 0.3, 0.2}, 1, 3e6, 0.4, 1100);
    const int32_t fixed[1] = {0};
    made_up made = {mesh.n_nodes, -1};
    modal_snapshot_source source = {40, 0, read_made_up, &made};
    modal_snapshots_options options = {.n_modes = 5, .energy = 1, .n_fixed = 1, .fixed_nodes = fixed, .n_threads = 1};
    modal_modes_result result;
    modal_snapshots_report report;
    modal_error err = {0};
#define SOLVE(progress, error) \
    modal_snapshots_solve(&mesh, &source, &options, &result, &report, progress, error)
    for (int n = 1;; n++) {
        modal_alloc_fail_at(n);
        const modal_status status = SOLVE(NULL, NULL);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        if (fired) {
            assert_null(result.modes);
            assert_null(report.singular_values);
            continue;
        }
        assert_true(n > 30);
        break;
    }
    assert_int_equal(result.n_modes, 2);
    assert_int_equal(report.rank, 2);
    assert_true(report.worst <= 1e-12 && report.energy >= 1 - 1e-14 && result.orthogonality <= 1e-13);
    modal_modes_result_free(&result);
    modal_snapshots_report_free(&report);

    char *stages[] = {"decompose", "measure"};
    for (int k = 0; k < 2; k++) {
        const modal_progress progress = {stop, stages[k]};
        assert_int_equal(SOLVE(&progress, NULL), MODAL_ERROR_INTERRUPTED);
    }
    made.fails_at = 33;
    assert_int_equal(SOLVE(NULL, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "snapshot 33");
    made.fails_at = -1;
    const int32_t other[1] = {5};
    memset(&err, 0, sizeof err);
    options.fixed_nodes = other;
    assert_int_equal(modal_snapshots_solve(&mesh, &source, &options, &result, &report, NULL, &err),
                     MODAL_ERROR_INPUT);
    options.fixed_nodes = fixed;
    assert_non_null(strstr(err.message, "snapshot 0: node 5 is fixed and moves by"));
    /* one component of a node that moves in all: refused; of the first, which does not: fine */
    const uint8_t y[1] = {2};
    options.fixed_components = y;
    memset(&err, 0, sizeof err);
    options.fixed_nodes = other;
    assert_int_equal(modal_snapshots_solve(&mesh, &source, &options, &result, &report, NULL, &err),
                     MODAL_ERROR_INPUT);
    options.fixed_nodes = fixed;
    assert_int_equal(SOLVE(NULL, NULL), MODAL_OK);
    assert_int_equal(report.rank, 2);
    assert_true(report.worst <= 1e-12);
    for (int k = 0; k < 2; k++) assert_true(result.modes[3 * mesh.n_nodes * k + 1] == 0);
    modal_modes_result_free(&result);
    modal_snapshots_report_free(&report);
    options.fixed_components = NULL;
    options.n_modes = 0;
    assert_int_equal(SOLVE(NULL, NULL), MODAL_ERROR_USAGE);
    options.n_modes = 5;
    options.energy = NAN;
    assert_int_equal(SOLVE(NULL, NULL), MODAL_ERROR_USAGE);
    options.energy = 1;
    source.n_snapshots = 0;
    assert_int_equal(SOLVE(NULL, NULL), MODAL_ERROR_USAGE);
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
