/* SPDX-License-Identifier: Apache-2.0 */
/* Solves with K - sigma M to the accuracy of doubles by a factor in floats: conjugate gradients with that factor as
 * preconditioner, eight right-hand sides at once, each with its own coefficients. What floats lose shows as a
 * few small eigenvalues of the preconditioned matrix, each of which costs an iteration or two; the rest lie at
 * one. Rounds start again from the true residual: sums over iterations carry rounding errors that it does not. Sources:
 * M. R. Hestenes, E. Stiefel, "Methods of conjugate gradients for solving linear systems", 1952; M. Arioli,
 * I. S. Duff, "Using FGMRES to obtain backward stability in mixed precision", 2009; N. J. Higham, "Accuracy
 * and Stability of Numerical Algorithms", 2002, chapter 12.
 *
 * The solution is as good as one by a factor in doubles, in the same measure: the residual against the size of
 * the solution (a backward error), in the scale that makes the diagonal one. */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "lib/base/memory.h"
#include "lib/modes/problem.h"

enum { B = MODAL_ROW, MOST_ROUNDS = 8, MOST_ITERATIONS = 400 };

/* Backward errors: what a round aims at, what is good, and what is good enough where rounding stops it. */
static const double aim = 4 * DBL_EPSILON, good = 8 * DBL_EPSILON, tolerable = 256 * DBL_EPSILON;

struct modal_modes_inner {
    double *diagonal, *inverse;  /* [n] of K - sigma M */
    modal_row *r, *z, *p, *q;    /* [n] */
    modal_row *scratch;
};

modal_status modal_modes_inner_new(const modal_modes_problem *problem, modal_modes_inner **result,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_fem_system *system = &problem->system;
    const int64_t n = problem->n;
    modal_modes_inner *in = NULL;
    MODAL_TRY(modal_alloc_zero(&in, 1, sizeof *in, "solve", err));
    MODAL_TRY(modal_alloc(&in->diagonal, n, sizeof *in->diagonal, "solve", err));
    MODAL_TRY(modal_alloc(&in->inverse, n, sizeof *in->inverse, "solve", err));
    MODAL_TRY(modal_alloc(&in->r, n, sizeof *in->r, "solve", err));
    MODAL_TRY(modal_alloc(&in->z, n, sizeof *in->z, "solve", err));
    MODAL_TRY(modal_alloc(&in->p, n, sizeof *in->p, "solve", err));
    MODAL_TRY(modal_alloc(&in->q, n, sizeof *in->q, "solve", err));
    MODAL_TRY(modal_alloc(&in->scratch, modal_rows_gram_scratch(n, 1), sizeof *in->scratch, "solve", err));
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = system->pattern.offsets[i / 3];
        in->diagonal[i] = fabs(system->stiffness[9 * at + 4 * (i % 3)] - problem->shift * system->mass[at]);
        in->inverse[i] = 1 / in->diagonal[i];
    }
    *result = in;
    in = NULL;
done:
    modal_modes_inner_delete(in);
    return status;
}

modal_modes_inner *modal_modes_inner_delete(modal_modes_inner *in)
{
    if (!in) return NULL;
    modal_free(&in->diagonal);
    modal_free(&in->inverse);
    modal_free(&in->r);
    modal_free(&in->z);
    modal_free(&in->p);
    modal_free(&in->q);
    modal_free(&in->scratch);
    modal_free(&in);
    return NULL;
}

/* The backward error of each solution x whose residual is in r. */
static void backward_errors(const modal_modes_problem *problem, const modal_row *x, double error[B])
{
    const modal_modes_inner *in = problem->inner;
    modal_row above, below;
    modal_rows_dot(problem->n, in->r, in->r, in->inverse, &above, in->scratch, problem->n_threads);
    modal_rows_dot(problem->n, x, x, in->diagonal, &below, in->scratch, problem->n_threads);
    for (int i = 0; i < B; i++) error[i] = above[i] == 0 ? 0 : sqrt(above[i] / below[i]);
}

/* r = P^T (right - (K - sigma M) x). */
static void find_residual(modal_modes_problem *problem, const modal_row *right, const modal_row *x)
{
    const modal_row plus = {1, 1, 1, 1, 1, 1, 1, 1}, minus = -plus;
    const modal_row_matrix matrix = modal_factor_matrix(problem->factor);
    modal_row_matrix_multiply(&matrix, x, problem->inner->r, problem->n_threads);
    modal_rows_combine(problem->n, &plus, right, &minus, problem->inner->r, problem->n_threads);
    modal_rows_rigid_relieve(&problem->rigid, problem->inner->r, problem->coefficients);
}

/* z = P F P^T r; and r^T z. What rounding puts into r of rigid motions would stay there for ever. */
static void precondition(modal_modes_problem *problem, modal_row *rz)
{
    modal_modes_inner *in = problem->inner;
    modal_rows_rigid_relieve(&problem->rigid, in->r, problem->coefficients);
    modal_factor_solve_rows(problem->factor, in->r, in->z);
    modal_rows_rigid_remove(&problem->rigid, in->z, problem->coefficients);
    modal_rows_dot(problem->n, in->r, in->z, NULL, rz, in->scratch, problem->n_threads);
    problem->n_inner += B;
}

/* A round: x comes nearer until the residual that is carried along says that it is near enough. */
static modal_status improve(modal_modes_problem *problem, modal_row *x, double error[B], modal_error *err)
{
    modal_modes_inner *in = problem->inner;
    const modal_row_matrix matrix = modal_factor_matrix(problem->factor);
    const modal_row one = {1, 1, 1, 1, 1, 1, 1, 1};
    const int threads = problem->n_threads;
    const int64_t n = problem->n;
    modal_row rz, before = {0};
    int done[B];
    for (int i = 0; i < B; i++) done[i] = error[i] <= good;
    for (int64_t i = 0; i < n; i++) in->p[i] = before; /* the first direction adds 0 times it, which is not 0 of any memory */
    for (int iteration = 0;; iteration++) {
        modal_row beta, pq, alpha = {0};
        int n_left = 0;
        precondition(problem, &rz);
        for (int i = 0; i < B; i++) beta[i] = iteration > 0 && !done[i] ? rz[i] / before[i] : 0;
        modal_rows_combine(n, &one, in->z, &beta, in->p, threads);
        modal_row_matrix_multiply(&matrix, in->p, in->q, threads);
        modal_rows_dot(n, in->p, in->q, NULL, &pq, in->scratch, threads);
        for (int i = 0; i < B; i++) {
            if (done[i]) continue;
            /* so happens when nothing but rounding is left; if it is not that, the true residual says so */
            if (!(rz[i] > 0 && pq[i] > 0))
                done[i] = 1;
            else
                alpha[i] = rz[i] / pq[i];
        }
        const modal_row minus = -alpha;
        modal_rows_combine(n, &alpha, in->p, &one, x, threads);
        modal_rows_combine(n, &minus, in->q, &one, in->r, threads);
        before = rz;
        backward_errors(problem, x, error);
        for (int i = 0; i < B; i++) {
            done[i] = done[i] || error[i] <= aim;
            n_left += !done[i];
        }
        if (n_left == 0) return MODAL_OK;
        if (iteration == MOST_ITERATIONS)
            return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED,
                                   "modes: a solve with a factor in floats has not converged after %d iterations",
                                   MOST_ITERATIONS);
        const modal_status status = modal_progress_report(problem->progress, "solve", problem->done, err);
        if (status != MODAL_OK) return status;
    }
}

modal_status modal_modes_inner_solve(modal_modes_problem *problem, const modal_row *right, modal_row *x,
                                     modal_error *err)
{
    double error[B], worst = INFINITY;
    const modal_row zero = {0};
    for (int64_t i = 0; i < problem->n; i++) x[i] = zero, problem->inner->r[i] = right[i];
    modal_rows_rigid_relieve(&problem->rigid, problem->inner->r, problem->coefficients);
    backward_errors(problem, x, error);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const modal_status status = improve(problem, x, error, err);
        if (status != MODAL_OK) return status;
        const double before = worst;
        find_residual(problem, right, x);
        backward_errors(problem, x, error);
        worst = 0;
        for (int i = 0; i < B; i++)
            if (!(error[i] <= worst)) worst = error[i];
        if (worst <= good) return MODAL_OK;
        if (!(worst < 0.5 * before)) break;
    }
    if (worst <= tolerable) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED,
                           "modes: a solve with a factor in floats comes to a backward error of %.3g only", worst);
}
