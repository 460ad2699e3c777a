/* SPDX-License-Identifier: Apache-2.0 */
/* The operator P (K - sigma M)^-1, and the start vectors it is applied to. */
#include <cblas.h>
#include <math.h>

#include "lib/base/memory.h"
#include "lib/modes/problem.h"

void modal_modes_project(modal_modes_problem *problem, int64_t n_vectors, double *x,
                         double *coefficients)
{
    modal_rigid_remove(&problem->rigid, n_vectors, x);
    if (problem->n_locked == 0) return;
    const int n = (int)problem->n, n_locked = (int)problem->n_locked, m = (int)n_vectors;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, n_locked, m, n, 1, problem->mass_locked, n,
                x, n, 0, coefficients, n_locked);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, m, n_locked, -1, problem->locked, n,
                coefficients, n_locked, 1, x, n);
}

modal_status modal_modes_apply(modal_modes_problem *problem, int64_t n_vectors, const double *mx,
                               double *y, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *coefficients = NULL;
    const double done_fraction = (double)problem->n_solves / problem->expected_solves;
    MODAL_TRY(modal_progress_report(problem->progress, "solve", fmin(done_fraction, 0.99), err));
    if (problem->n_locked > 0)
        MODAL_TRY(modal_alloc(&coefficients, problem->n_locked * n_vectors, sizeof *coefficients,
                              "projection", err));
    MODAL_TRY(modal_factor_solve(problem->factor, n_vectors, mx, y, err));
    problem->n_solves += n_vectors;
    modal_modes_project(problem, n_vectors, y, coefficients);
done:
    modal_free(&coefficients);
    return status;
}

/* splitmix64: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
 * 2014. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void modal_modes_random(modal_modes_problem *problem, int64_t count, double *x)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = (double)(next_random(&problem->random) >> 11) * 0x1p-52 - 1;
}
