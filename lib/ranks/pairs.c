/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs: Rayleigh-Ritz, residuals. The criteria are those of lib/modes. */
#include <float.h>
#include <math.h>
#include <petscsys.h>
#include <petscblaslapack.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/mix.h"
#include "lib/ranks/private.h"

enum { MAX_REFINEMENTS = 8 };

double ranks_draw(int64_t dof, int64_t column)
{
    const uint64_t z = (uint64_t)dof * 0x9e3779b97f4a7c15u + (uint64_t)(column + 1) * 0xd1b54a32d192ed03u;
    return ldexp((double)(modal_mix(z) >> 11), -52) - 1;
}

modal_status ranks_pairs_grow(ranks_problem *problem, int64_t count, modal_error *err)
{
    modal_status status = MODAL_OK;
    Vec *vectors = NULL;
    double *eigenvalues = NULL, *residuals = NULL, *excess = NULL;
    RANKS_OWN(modal_alloc_zero(&vectors, count, sizeof *vectors, "modes", err));
    RANKS_OWN(modal_alloc_zero(&eigenvalues, count, sizeof *eigenvalues, "modes", err));
    RANKS_OWN(modal_alloc_zero(&residuals, count, sizeof *residuals, "modes", err));
    RANKS_OWN(modal_alloc_zero(&excess, count, sizeof *excess, "modes", err));
    for (int64_t k = 0; k < count; k++) {
        if (k < problem->n_found) {
            vectors[k] = problem->vectors[k];
            eigenvalues[k] = problem->eigenvalues[k];
            residuals[k] = problem->residuals[k];
        } else RANKS_TRY(MatCreateVecs(problem->stiffness, &vectors[k], NULL));
    }
    modal_free(&problem->vectors);
    modal_free(&problem->eigenvalues);
    modal_free(&problem->residuals);
    modal_free(&problem->excess);
    problem->vectors = vectors;
    problem->eigenvalues = eigenvalues;
    problem->residuals = residuals;
    problem->excess = excess;
    problem->n_found = count;
done:
    return status;
}

void ranks_pairs_cut(ranks_problem *problem, int64_t count)
{
    while (problem->n_found > count) VecDestroy(&problem->vectors[--problem->n_found]);
}

void ranks_pairs_free(ranks_problem *problem)
{
    ranks_pairs_cut(problem, 0);
    modal_free(&problem->vectors);
    modal_free(&problem->eigenvalues);
    modal_free(&problem->residuals);
    modal_free(&problem->excess);
}

/* products [n, n], the columns after one another: X^T A X. */
static modal_status project(const ranks_problem *problem, Mat matrix, Vec work, double *products, modal_error *err)
{
    modal_status status = MODAL_OK;
    const PetscInt n = (PetscInt)problem->n_found;
    for (PetscInt k = 0; k < n; k++) {
        RANKS_TRY(MatMult(matrix, problem->vectors[k], work));
        RANKS_TRY(VecMDot(work, n, problem->vectors, products + (size_t)k * (size_t)n));
    }
done:
    return status;
}

/* The same small problem on all ranks: the products are sums over them, the same bits on each. */
static modal_status rayleigh_ritz(ranks_problem *problem, Vec work, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = problem->n_found;
    double *a = NULL, *b = NULL, *scratch = NULL;
    Vec *turned = NULL;
    PetscBLASInt order = (PetscBLASInt)n, length = (PetscBLASInt)(8 * n + 8), one = 1, info = 0;
    RANKS_OWN(modal_alloc(&a, n * n, sizeof *a, "Rayleigh-Ritz", err));
    RANKS_OWN(modal_alloc(&b, n * n, sizeof *b, "Rayleigh-Ritz", err));
    RANKS_OWN(modal_alloc(&scratch, length, sizeof *scratch, "Rayleigh-Ritz", err));
    MODAL_TRY(project(problem, problem->stiffness, work, a, err));
    MODAL_TRY(project(problem, problem->mass, work, b, err));
    LAPACKsygv_(&one, "V", "L", &order, a, &order, b, &order, problem->eigenvalues, scratch, &length, &info);
    if (info != 0) MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: Rayleigh-Ritz of %lld vectors, LAPACK says %lld", (long long)n, (long long)info);
    /* every rank takes rank 0's: processors of other kinds may round otherwise */
    RANKS_TRY(MPI_Bcast(a, (int)(n * n), MPI_DOUBLE, 0, problem->comm));
    RANKS_TRY(MPI_Bcast(problem->eigenvalues, (int)n, MPI_DOUBLE, 0, problem->comm));
    RANKS_TRY(VecDuplicateVecs(work, (PetscInt)n, &turned));
    for (int64_t k = 0; k < n; k++) {
        RANKS_TRY(VecSet(turned[k], 0));
        RANKS_TRY(VecMAXPY(turned[k], (PetscInt)n, a + k * n, problem->vectors));
    }
    for (int64_t k = 0; k < n; k++) RANKS_TRY(VecCopy(turned[k], problem->vectors[k]));
done:
    if (turned) VecDestroyVecs((PetscInt)n, &turned);
    modal_free(&a);
    modal_free(&b);
    modal_free(&scratch);
    return status;
}

/* residuals[k], and what of it rounding explains (lib/modes/refine.c); zeros: eigenvalues that are not above their rounding. */
static modal_status compute_residuals(ranks_problem *problem, Vec diagonal, Vec force, Vec work, double *rounding, int64_t *n_zero,
                                      modal_error *err)
{
    modal_status status = MODAL_OK;
    *n_zero = 0;
    for (int64_t k = 0; k < problem->n_found; k++) {
        const Vec x = problem->vectors[k];
        double below, noise, energy;
        RANKS_TRY(MatMult(problem->mass, x, force));
        RANKS_TRY(VecScale(force, problem->eigenvalues[k]));
        RANKS_TRY(VecNorm(force, NORM_2, &below));
        RANKS_TRY(VecPointwiseMult(work, diagonal, x));
        RANKS_TRY(VecNorm(work, NORM_2, &noise));
        RANKS_TRY(VecDot(work, x, &energy));
        RANKS_TRY(MatMult(problem->stiffness, x, work));
        RANKS_TRY(VecAXPY(work, -1, force));
        RANKS_TRY(VecNorm(work, NORM_2, &problem->residuals[k]));
        problem->residuals[k] /= below;
        rounding[k] = DBL_EPSILON * noise / below;
        *n_zero += !(problem->eigenvalues[k] > 64 * DBL_EPSILON * energy); /* modal_energy_rounding */
    }
done:
    return status;
}

static modal_status remove_rigid(ranks_problem *problem, Vec x, Vec work, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int64_t k = 0; k < problem->whole.n_rigid; k++) {
        PetscScalar product;
        RANKS_TRY(MatMult(problem->mass, problem->rigid[k], work));
        RANKS_TRY(VecDot(x, work, &product));
        RANKS_TRY(VecAXPY(x, -product, problem->rigid[k]));
    }
done:
    return status;
}

/* How far the pairs are from what is wanted: 1 and less is there; and the worst of them. `most`: whether all are within what a
 * stop allows. */
static double judge(const ranks_problem *problem, const double *rounding, int64_t *at, int *allowed)
{
    static const double rough = 1e-5; /* an eigenvalue is known to its square */
    double worst = 0;
    *allowed = 1;
    *at = 0;
    for (int64_t k = 0; k < problem->n_found; k++) {
        const double tolerance = k < problem->options.n_modes ? problem->options.tolerance : fmax(rough, problem->options.tolerance);
        const double excess = problem->excess[k] = problem->residuals[k] / fmax(tolerance, 4 * rounding[k]);
        if (!(excess <= worst)) worst = excess, *at = k;
        if (!(problem->residuals[k] <= fmax(tolerance, 16 * rounding[k]))) *allowed = 0;
    }
    return worst;
}

modal_status ranks_energies(ranks_problem *problem, Vec x, double *energy, double *mass, modal_error *err)
{
    modal_status status = MODAL_OK;
    Vec work = NULL;
    RANKS_TRY(VecDuplicate(x, &work));
    RANKS_TRY(MatMult(problem->stiffness, x, work));
    RANKS_TRY(VecDot(work, x, energy));
    RANKS_TRY(MatMult(problem->mass, x, work));
    RANKS_TRY(VecDot(work, x, mass));
done:
    VecDestroy(&work);
    return status;
}

modal_status ranks_examine(ranks_problem *problem, double *worst, int64_t *at, int *allowed, modal_error *err)
{
    modal_status status = MODAL_OK;
    Vec diagonal = NULL, force = NULL, work = NULL;
    double *rounding = NULL;
    int64_t n_zero = 0;
    RANKS_TRY(MatCreateVecs(problem->stiffness, &work, &force));
    RANKS_TRY(VecDuplicate(work, &diagonal));
    RANKS_TRY(MatGetDiagonal(problem->stiffness, diagonal));
    RANKS_OWN(modal_alloc(&rounding, problem->n_found, sizeof *rounding, "refinement", err));
    MODAL_TRY(rayleigh_ritz(problem, work, err));
    MODAL_TRY(compute_residuals(problem, diagonal, force, work, rounding, &n_zero, err));
    if (n_zero > 0)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: %lld rigid modes found, %lld expected",
                   (long long)(problem->whole.n_rigid + n_zero), (long long)problem->whole.n_rigid);
    *worst = judge(problem, rounding, at, allowed);
done:
    VecDestroy(&diagonal);
    VecDestroy(&force);
    VecDestroy(&work);
    modal_free(&rounding);
    return status;
}

modal_status ranks_refine(ranks_problem *problem, ranks_step *step, void *context, modal_error *err)
{
    modal_status status = MODAL_OK;
    Vec next = NULL, work = NULL;
    double worst, previous = INFINITY;
    RANKS_TRY(MatCreateVecs(problem->stiffness, &work, &next));
    for (int round = 0;; round++) {
        int64_t at;
        int allowed;
        MODAL_TRY(ranks_examine(problem, &worst, &at, &allowed, err));
        if (worst <= 1) goto done;
        if (round == MAX_REFINEMENTS || !(worst < 0.5 * previous)) {
            if (allowed) goto done;
            MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: residual of mode %lld is %.3g after %d refinements, wanted %.3g",
                       (long long)at, problem->residuals[at], round, problem->options.tolerance);
        }
        previous = worst;
        for (int64_t k = 0; k < problem->n_found; k++) {
            if (problem->excess[k] <= 1) continue;
            MODAL_TRY(step(problem, context, problem->vectors[k], next, err));
            MODAL_TRY(remove_rigid(problem, next, work, err));
            RANKS_TRY(VecCopy(next, problem->vectors[k]));
        }
    }
done:
    VecDestroy(&next);
    VecDestroy(&work);
    return status;
}
