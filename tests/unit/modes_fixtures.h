/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of natural modes share. After cmocka.h. */
#ifndef MODAL_TESTS_MODES_FIXTURES_H
#define MODAL_TESTS_MODES_FIXTURES_H

#include <math.h>

#include "lib/modes/modes.h"
#include "tests/unit/solid_fixtures.h"

static const double bar_size[3] = {1.0, 0.2, 0.15};

static inline void first_nodes(int32_t *fixed, int n)
{
    for (int i = 0; i < n; i++) fixed[i] = i;
}

/* Solves and checks what holds for every result. */
static inline void solve(const modal_volume_mesh *mesh, const int32_t *fixed, int64_t n_fixed,
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

#endif
