/* SPDX-License-Identifier: Apache-2.0 */
/* The operator P (K - sigma M)^-1, and the start vectors it is applied to. */
#include <math.h>

#include "lib/base/memory.h"
#include "lib/base/mix.h"
#include "lib/modes/problem.h"

modal_status modal_modes_apply_rows(modal_modes_problem *problem, const modal_row *mx, modal_row *y,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    /* as many as were expected, or more: there is always something left, and less and less */
    const double share = (double)problem->n_solves / problem->expected_solves;
    problem->done = share <= 0.9 ? share : 1 - 0.09 / share;
    MODAL_TRY(modal_progress_report(problem->progress, "solve", problem->done, err));
    if (problem->inner)
        MODAL_TRY(modal_modes_inner_solve(problem, mx, y, err));
    else
        modal_factor_solve_rows(problem->factor, mx, y);
    modal_rows_rigid_remove(&problem->rigid, y, problem->coefficients);
    problem->n_solves += MODAL_ROW;
done:
    return status;
}

modal_status modal_modes_apply(modal_modes_problem *problem, int64_t n_vectors, const double *mx,
                               double *y, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = problem->n;
    modal_row *right = NULL, *solution = NULL;
    MODAL_TRY(modal_alloc(&right, n, sizeof *right, "solve", err));
    MODAL_TRY(modal_alloc(&solution, n, sizeof *solution, "solve", err));
    for (int64_t first = 0; first < n_vectors; first += MODAL_ROW) {
        const int64_t width = n_vectors - first < MODAL_ROW ? n_vectors - first : MODAL_ROW;
        modal_rows_from_columns(n, width, mx + first * n, right);
        MODAL_TRY(modal_modes_apply_rows(problem, right, solution, err));
        modal_rows_to_columns(n, width, solution, y + first * n);
    }
done:
    modal_free(&right);
    modal_free(&solution);
    return status;
}

static uint64_t next_random(uint64_t *state) { return modal_mix(*state += 0x9e3779b97f4a7c15u); }

void modal_modes_random(modal_modes_problem *problem, int64_t count, double *x)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = (double)(next_random(&problem->random) >> 11) * 0x1p-52 - 1;
}
