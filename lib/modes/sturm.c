/* SPDX-License-Identifier: Apache-2.0 */
/* The proof that no mode is missing: the inertia of K - sigma M, sigma just above the last mode, counts
 * the eigenvalues below sigma (J. J. Sylvester's law; B. N. Parlett, "The Symmetric Eigenvalue Problem",
 * 1998, chapter 3). Where it counts more than are known, a Lanczos run beside those finds them.
 *
 * A factor in floats has the inertia J of its pivots, and that is the one of K - sigma M if G (modal_factor_defect), which is
 * what the floats lost, seen through the factor, has a norm below 1: then J - t G is singular for no t of [0, 1], and no
 * eigenvalue changes its sign on the way from the one matrix to the other. This holds however the factor came
 * about. The norm is bounded by powers of G: of a vector x of normal random numbers ||G^k x|| >= ||G||^k |v^T x|
 * with G's dominant eigenvector v, and |v^T x| is below 0.01 for all of eight such vectors with a probability
 * of (0.008)^8 = 2e-17. So where all eight fall below 0.01 the norm is below 1: J. D. Dixon, "Estimating
 * extremal eigenvalues and condition numbers of matrices", 1983. The powers are taken in doubles. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/modes/problem.h"

enum { MOST_TRIES = 3, MOST_RECOVERIES = 4, MOST_POWERS = 64 };
static const double faint = 0.01;

/* sigma in the first gap above the modes that no error bridges; *n_known: how many of the modes and of
 * what was seen beyond them lie below. `share` of the gap is left below sigma. */
static double choose(const modal_modes_problem *problem, int32_t n_modes, const double *eigenvalues,
                     const modal_modes_guard *guard, double share, int64_t *n_known)
{
    const double floor = 1e-6;
    double below = eigenvalues[n_modes - 1], error = 1e-9 * below;
    for (int32_t k = 0; k < guard->count; k++) {
        const double above = guard->eigenvalues[k];
        const double doubt = fmin(guard->errors[k], 1) * (above - problem->shift);
        const double gap = above - doubt - (below + error);
        if (gap > floor * below) {
            *n_known = n_modes + k;
            return below + error + share * fmin(gap, 0.02 * below);
        }
        below = fmax(above, below);
        error = doubt;
    }
    /* nothing seen beyond, or no gap in it: just above the last mode */
    *n_known = n_modes;
    return eigenvalues[n_modes - 1] * (1 + 2 * share * floor);
}

/* The middle of a gap above the modes, of the first ones the widest (rank 0), the next one and so on: floats see
 * little in a narrow one, and the farther up, the more the pivots grow. 0: there are no more. */
static double choose_wide(const modal_modes_problem *problem, int32_t n_modes, const double *eigenvalues,
                          const modal_modes_guard *guard, int rank, int64_t *n_known)
{
    enum { NEAR = 8 };
    double lows[NEAR], gaps[NEAR], below = eigenvalues[n_modes - 1] * (1 + 1e-9);
    const int count = guard->count < NEAR ? guard->count : NEAR;
    for (int k = 0; k < count; k++) {
        const double above = guard->eigenvalues[k];
        const double doubt = fmin(guard->errors[k], 1) * (above - problem->shift);
        lows[k] = below;
        gaps[k] = above - doubt - below;
        below = fmax(above + doubt, below);
    }
    for (int k = 0; k < count; k++) {
        int n_wider = 0;
        for (int other = 0; other < count; other++)
            n_wider += gaps[other] > gaps[k] || (gaps[other] == gaps[k] && other < k);
        *n_known = n_modes + k;
        if (n_wider == rank && gaps[k] > 0) return lows[k] + gaps[k] / 2;
    }
    return 0;
}

/* Eight vectors of normal random numbers: G. E. P. Box, M. E. Muller, "A note on the generation of random normal
 * deviates", 1958. */
static void make_normal(modal_modes_problem *problem, modal_row *x)
{
    for (int64_t i = 0; i < problem->n; i++) {
        double u[MODAL_ROW];
        modal_modes_random(problem, MODAL_ROW, u);
        for (int k = 0; k < MODAL_ROW; k += 2) {
            const double radius = sqrt(-2 * log((u[k] + 1) / 2 + 0x1p-54)), angle = M_PI * u[k + 1];
            x[i][k] = radius * cos(angle);
            x[i][k + 1] = radius * sin(angle);
        }
    }
}

/* Bounds the norm of what floats lost of K - sigma M; 1 or more: it may be anything. */
static modal_status bound_defect(modal_modes_problem *problem, double *bound, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = problem->n;
    modal_row *x = NULL, *work = NULL, *scratch = NULL;
    MODAL_TRY(modal_alloc(&x, n, sizeof *x, "count", err));
    MODAL_TRY(modal_alloc(&work, 2 * n, sizeof *work, "count", err));
    MODAL_TRY(modal_alloc(&scratch, modal_rows_gram_scratch(n, 1), sizeof *scratch, "count", err));
    make_normal(problem, x);
    *bound = INFINITY;
    double largest = INFINITY, before = INFINITY;
    for (int k = 1; k <= MOST_POWERS && !(largest <= faint); k++) {
        modal_row squares;
        MODAL_TRY(modal_progress_report(problem->progress, "count", -1, err));
        modal_factor_defect(problem->factor, x, x, work);
        modal_rows_dot(n, x, x, NULL, &squares, scratch, problem->n_threads);
        largest = 0;
        for (int i = 0; i < MODAL_ROW; i++)
            if (!(sqrt(squares[i]) <= largest)) largest = sqrt(squares[i]);
        *bound = pow(largest / faint, 1.0 / k);
        if (k > 4 && !(largest < 0.9 * before)) break; /* goes down by the norm each time, or not at all */
        before = largest;
    }
done:
    modal_free(&x);
    modal_free(&work);
    modal_free(&scratch);
    return status;
}

/* By the inertia of a factor in floats, where what they lost is bounded. */
static modal_status count_in_floats(modal_modes_problem *problem, int32_t n_modes, const double *eigenvalues,
                                    const modal_modes_guard *guard, modal_modes_sturm *sturm, modal_error *err)
{
    modal_status status = MODAL_OK;
    sturm->n_below = -1;
    sturm->defect = INFINITY;
    for (int attempt = 0; attempt < MOST_TRIES; attempt++) {
        int64_t n_known = 0, n_below = -1;
        const double sigma = choose_wide(problem, n_modes, eigenvalues, guard, attempt, &n_known);
        if (sigma == 0) break;
        sturm->shift = sigma;
        sturm->n_known = problem->rigid.n_rigid + n_known;
        MODAL_TRY(modal_factor_count(problem->factor, sigma, &n_below, &sturm->growth, problem->progress, err));
        if (n_below < 0) continue;
        MODAL_TRY(bound_defect(problem, &sturm->defect, err));
        if (!(sturm->defect < 1)) continue;
        sturm->n_below = n_below;
        break;
    }
done:
    return status;
}

modal_status modal_modes_count(modal_modes_problem *problem, int32_t n_modes,
                               const double *eigenvalues, const modal_modes_guard *guard,
                               modal_modes_sturm *sturm, modal_error *err)
{
    static const double shares[MOST_TRIES] = {0.5, 0.3, 0.8};
    if (problem->inner) return count_in_floats(problem, n_modes, eigenvalues, guard, sturm, err);
    for (int attempt = 0; attempt < MOST_TRIES; attempt++) {
        int64_t n_known = 0;
        sturm->shift = choose(problem, n_modes, eigenvalues, guard, shares[attempt], &n_known);
        sturm->n_known = problem->rigid.n_rigid + n_known;
        const modal_status status = modal_factor_count(
            problem->factor, sturm->shift, &sturm->n_below, &sturm->growth, problem->progress, err);
        if (status != MODAL_OK || sturm->n_below >= 0) return status;
    }
    return MODAL_OK;
}

/* Finds `n_missed` modes beside the known ones and takes the lowest of all; *n_known afterwards. */
static modal_status recover(modal_modes_problem *problem, int32_t n_missed,
                            const modal_modes_limits *limits, const modal_modes_pairs *pairs, double sigma,
                            int64_t *n_known, modal_modes_cost *cost, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = problem->n, n_modes = pairs->count, n_all = n_modes + n_missed;
    modal_modes_pairs more = {.count = n_all};
    modal_modes_guard ignored;
    MODAL_TRY(modal_alloc(&more.vectors, n_all * n, sizeof(double), "missed modes", err));
    MODAL_TRY(modal_alloc(&more.mass_vectors, n_all * n, sizeof(double), "missed modes", err));
    MODAL_TRY(modal_alloc(&more.eigenvalues, n_all, sizeof(double), "missed modes", err));
    MODAL_TRY(modal_alloc(&more.residuals, n_all, sizeof(double), "missed modes", err));
    problem->n_locked = n_modes;
    problem->locked = pairs->vectors;
    status = modal_modes_lanczos(problem, n_missed, limits, more.vectors + n_modes * n, &ignored,
                                 &cost->n_restarts, err);
    problem->n_locked = 0;
    if (status != MODAL_OK) goto done;
    memcpy(more.vectors, pairs->vectors, (size_t)(n_modes * n) * sizeof(double));
    MODAL_TRY(modal_modes_refine(problem, limits->tolerance, &more, &cost->n_refinements, err));
    memcpy(pairs->vectors, more.vectors, (size_t)(n_modes * n) * sizeof(double));
    memcpy(pairs->mass_vectors, more.mass_vectors, (size_t)(n_modes * n) * sizeof(double));
    memcpy(pairs->eigenvalues, more.eigenvalues, (size_t)n_modes * sizeof(double));
    memcpy(pairs->residuals, more.residuals, (size_t)n_modes * sizeof(double));
    *n_known = problem->rigid.n_rigid;
    for (int64_t k = 0; k < n_all; k++) *n_known += more.eigenvalues[k] < sigma;
done:
    modal_free(&more.vectors);
    modal_free(&more.mass_vectors);
    modal_free(&more.eigenvalues);
    modal_free(&more.residuals);
    return status;
}

modal_status modal_modes_prove(modal_modes_problem *problem, const modal_modes_limits *limits, const modal_modes_guard *guard,
                               const modal_modes_pairs *pairs, modal_modes_sturm *sturm, modal_modes_cost *cost,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n_modes = (int32_t)pairs->count;
    modal_factor_report ignored = {0};
    int definite = 0;
    int64_t pivot = -1;
    MODAL_TRY(modal_modes_count(problem, n_modes, pairs->eigenvalues, guard, sturm, err));
    if (sturm->n_below < 0 || sturm->n_below == sturm->n_known) goto done;
    for (int attempt = 0; attempt < MOST_RECOVERIES && sturm->n_known < sturm->n_below; attempt++) {
        /* what was seen beyond the modes is not at hand any more */
        const int64_t n_missed = sturm->n_below - problem->rigid.n_rigid - n_modes;
        if (n_missed < 1 || n_missed > 4 * (int64_t)n_modes + 64) break;
        if (!definite)
            MODAL_TRY(modal_factor_compute(problem->factor, problem->shift, &definite, &pivot, &ignored,
                                           problem->progress, err));
        if (!definite) break;
        const int64_t before = sturm->n_known;
        MODAL_TRY(recover(problem, (int32_t)n_missed, limits, pairs, sturm->shift, &sturm->n_known, cost, err));
        if (sturm->n_known > before) cost->n_recovered += (int32_t)(sturm->n_known - before);
    }
    if (sturm->n_known != sturm->n_below)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
                   "modes: %" PRId64 " eigenvalues lie below %.9g by the inertia of K - sigma M, %" PRId64
                   " are known (%" PRId64 " rigid)",
                   sturm->n_below, sturm->shift, sturm->n_known, problem->rigid.n_rigid);
done:
    return status;
}

modal_status modal_modes_search(modal_modes_problem *problem, const modal_modes_limits *limits, const modal_modes_pairs *pairs,
                                modal_modes_cost *cost, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n_modes = (int32_t)pairs->count;
    const int64_t left = problem->n - problem->rigid.n_rigid - problem->system.n_held - n_modes;
    for (int attempt = 0; attempt < MOST_RECOVERIES && left > 4 * MODAL_ROW; attempt++) {
        /* equal to the last mode is not lower */
        const double sigma = pairs->eigenvalues[n_modes - 1] * (1 - 1e-8);
        int64_t n_before = problem->rigid.n_rigid, n_known = 0;
        for (int32_t k = 0; k < n_modes; k++) n_before += pairs->eigenvalues[k] < sigma;
        MODAL_TRY(recover(problem, 1, limits, pairs, sigma, &n_known, cost, err));
        if (n_known <= n_before) goto done;
        cost->n_recovered += (int32_t)(n_known - n_before);
    }
    if (left > 4 * MODAL_ROW)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: missed modes turn up after %d searches",
                   MOST_RECOVERIES);
done:
    return status;
}
