/* SPDX-License-Identifier: Apache-2.0 */
/* By a factor of K - sigma M: block Lanczos on its inverse, and the count by its inertia. */
#include <float.h>
#include <malloc.h>
#include <math.h>

#include "lib/base/memory.h"
#include "lib/ranks/lanczos.h"

/* Beyond the modes that are asked for: the count needs a gap above the last one. */
enum { GUARD = 3, MOST_SEARCHES = 6 };

/* The bound of theta's error is this part of the residuals' tolerance: K amplifies what is left. */
static const double lanczos_share = 0.01;

typedef struct factor {
    Mat shifted, lower;
    Vec work;
} factor;

static void free_factor(factor *f)
{
    MatDestroy(&f->lower);
    MatDestroy(&f->shifted);
    VecDestroy(&f->work);
}

/* MUMPS' analysis, whose result serves every sigma, and what the factor will take. */
static modal_status analyse(ranks_problem *problem, factor *f, int *too_large, modal_error *err)
{
    modal_status status = MODAL_OK;
    MatFactorInfo info;
    PetscInt most = 0, all = 0;
    RANKS_TRY(MatCreateVecs(problem->stiffness, &f->work, NULL));
    RANKS_TRY(MatDuplicate(problem->stiffness, MAT_COPY_VALUES, &f->shifted));
    RANKS_TRY(MatSetOption(f->shifted, MAT_SYMMETRIC, PETSC_TRUE));
    RANKS_TRY(MatGetFactor(f->shifted, MATSOLVERMUMPS, MAT_FACTOR_CHOLESKY, &f->lower));
    RANKS_TRY(MatMumpsSetIcntl(f->lower, 13, 1)); /* no ScaLAPACK at the root: it does not tell the inertia */
    RANKS_TRY(MatMumpsSetIcntl(f->lower, 24, 1)); /* pivots of zero are counted, too */
    RANKS_TRY(MatFactorInfoInitialize(&info));
    RANKS_TRY(MatCholeskyFactorSymbolic(f->lower, f->shifted, NULL, &info));
    RANKS_TRY(MatMumpsGetInfog(f->lower, 16, &most)); /* millions of bytes */
    RANKS_TRY(MatMumpsGetInfog(f->lower, 17, &all));
    problem->report.most_factor_bytes = 1e6 * (double)most;
    problem->report.factor_bytes = 1e6 * (double)all;
    *too_large = problem->options.memory_limit > 0 && problem->report.most_factor_bytes > problem->options.memory_limit;
    if (*too_large && problem->options.route == MODAL_ROUTE_DIRECT)
        MODAL_FAIL(err, MODAL_ERROR_MEMORY, "modes: %.0f MiB needed by a rank for its share of the factor, the limit is %.0f MiB; more ranks "
                   "(--plan), or --route multigrid",
                   ceil(problem->report.most_factor_bytes / 1048576), problem->options.memory_limit / 1048576);
done:
    return status;
}

/* The factor of K - sigma M, and how many eigenvalues lie below sigma; `zero`: pivots of zero. */
static modal_status factorise(ranks_problem *problem, factor *f, double sigma, int64_t *below, int64_t *zero, modal_error *err)
{
    modal_status status = MODAL_OK;
    MatFactorInfo info;
    MatFactorError failure;
    PetscInt negative = 0, null = 0, positive = 0;
    RANKS_TRY(MatCopy(problem->stiffness, f->shifted, SAME_NONZERO_PATTERN));
    /* not SAME_NONZERO_PATTERN: on several ranks PETSc 3.18 then adds a ninth of the numbers of such blocks */
    if (sigma != 0) RANKS_TRY(MatAXPY(f->shifted, -sigma, problem->mass, SUBSET_NONZERO_PATTERN));
    RANKS_TRY(MatFactorInfoInitialize(&info));
    malloc_trim(0); /* what the division, the assembly and the analysis have held */
    RANKS_TRY(MatCholeskyFactorNumeric(f->lower, f->shifted, &info));
    RANKS_TRY(MatFactorGetError(f->lower, &failure));
    if (failure == MAT_FACTOR_OUTMEMORY) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "modes: MUMPS has no memory for the factor");
    if (failure != MAT_FACTOR_NOERROR)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: MUMPS cannot factor K - sigma M, sigma %.9g", sigma);
    RANKS_TRY(MatGetInertia(f->lower, &negative, &null, &positive));
    *below = negative;
    *zero = null;
done:
    return status;
}

/* sigma as lib/modes has it, made larger until K - sigma M is positive definite. */
static modal_status factor_below(ranks_problem *problem, factor *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double noise = 16 * DBL_EPSILON * problem->largest_ratio;
    for (int attempt = 0; attempt < 5; attempt++) {
        int64_t below = 0, zero = 0;
        MODAL_TRY(factorise(problem, f, problem->shift, &below, &zero, err));
        if (below == 0 && zero == 0) goto done;
        problem->shift = problem->shift < 0 ? 100 * problem->shift : -16 * noise;
    }
    MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: K - sigma M is not positive definite, sigma %.3g", problem->shift);
done:
    return status;
}

/* y = (K - sigma M)^-1 M x. */
static modal_status invert(ranks_problem *problem, void *context, Vec x, Vec y, modal_error *err)
{
    modal_status status = MODAL_OK;
    factor *f = context;
    RANKS_TRY(MatMult(problem->mass, x, f->work));
    RANKS_TRY(MatSolve(f->lower, f->work, y));
    problem->n_solves++;
done:
    return status;
}

/* The widest gap above pair n_modes: so many pairs lie below *sigma. 0: there is none. */
static int64_t find_gap(const ranks_problem *problem, double *sigma)
{
    double widest = 1e-6; /* narrower ones may be one multiple eigenvalue */
    int64_t found = 0;
    for (int64_t k = problem->options.n_modes; k < problem->n_found; k++) {
        const double below = problem->eigenvalues[k - 1], above = problem->eigenvalues[k], width = (above - below) / above;
        if (!(width > widest)) continue;
        widest = width;
        *sigma = below + 0.5 * (above - below);
        found = k;
    }
    return found;
}

/* How many pairs more are of use: all there are at most. */
static int64_t room_for(const ranks_problem *problem, int64_t n)
{
    const int64_t all = 3 * problem->whole.n_rows - problem->whole.n_rigid - problem->whole.n_held;
    return n < all - problem->n_found ? n : all - problem->n_found;
}

/* Counts below a gap; *missing eigenvalues are not known. Where all pairs of the problem are known, above the last one. */
static modal_status count(ranks_problem *problem, factor *f, int64_t *missing, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_modes_sturm *sturm = &problem->sturm;
    int64_t n_below = 0, n_zero = 0, n_pairs = find_gap(problem, &sturm->shift);
    if (n_pairs == 0 && room_for(problem, 1) > 0) {
        *missing = -1;
        goto done;
    }
    if (n_pairs == 0) { /* held components lie at largest_ratio and above */
        n_pairs = problem->n_found;
        sturm->shift = problem->eigenvalues[n_pairs - 1] * (1 + 1e-6);
    }
    MODAL_TRY(factorise(problem, f, sturm->shift, &n_below, &n_zero, err));
    if (n_zero > 0)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: Sturm count at %.9g: %lld pivots of zero", sturm->shift, (long long)n_zero);
    sturm->n_below = n_below;
    sturm->n_known = problem->whole.n_rigid + n_pairs;
    *missing = n_below - sturm->n_known;
    if (*missing < 0)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: Sturm count at %.9g: %lld eigenvalues below, %lld known", sturm->shift,
                   (long long)n_below, (long long)sturm->n_known);
done:
    return status;
}

modal_status ranks_direct(ranks_problem *problem, int *too_large, modal_error *err)
{
    modal_status status = MODAL_OK;
    factor f = {0};
    int64_t missing = 0;
    ranks_lanczos how = {.exact = problem->options.n_modes, .tolerance = lanczos_share * problem->options.tolerance};
    problem->sturm.n_below = -1;
    MODAL_TRY(analyse(problem, &f, too_large, err));
    if (*too_large) goto done;
    how.wanted = room_for(problem, problem->options.n_modes + GUARD);
    for (int search = 0; search < MOST_SEARCHES; search++) {
        MODAL_TRY(factor_below(problem, &f, err));
        MODAL_TRY(ranks_lanczos_solve(problem, f.lower, &how, err));
        MODAL_TRY(ranks_refine(problem, invert, &f, err));
        MODAL_TRY(count(problem, &f, &missing, err));
        if (missing == 0) goto done;
        how.exact = how.wanted = room_for(problem, missing > 0 ? missing : problem->n_found);
    }
    MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: Sturm count at %.9g: %lld eigenvalues below, %lld known", problem->sturm.shift,
               (long long)problem->sturm.n_below, (long long)problem->sturm.n_known);
done:
    free_factor(&f);
    return status;
}
