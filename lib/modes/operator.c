/* SPDX-License-Identifier: Apache-2.0 */
/* The operator P (K - sigma M)^-1, and the start vectors it is applied to. */
#include <math.h>

#include "lib/base/memory.h"
#include "lib/modes/problem.h"

modal_status modal_modes_apply(modal_modes_problem *problem, int64_t n_vectors, const double *mx,
                               double *y, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double done_fraction = (double)problem->n_solves / problem->expected_solves;
    MODAL_TRY(modal_progress_report(problem->progress, "solve", fmin(done_fraction, 0.99), err));
    MODAL_TRY(modal_factor_solve(problem->factor, n_vectors, mx, y, err));
    problem->n_solves += n_vectors;
    modal_rigid_remove(&problem->rigid, n_vectors, y);
done:
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
