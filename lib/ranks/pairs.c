/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs: Rayleigh-Ritz, residuals, orthogonality, and their way to rank 0. The criteria are those of lib/modes. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <petscsys.h>
#include <petscblaslapack.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/ranks/private.h"

enum { MAX_REFINEMENTS = 8 };

modal_status ranks_pairs_grow(ranks_problem *problem, int64_t count, modal_error *err)
{
    modal_status status = MODAL_OK;
    Vec *vectors = NULL;
    double *eigenvalues = NULL, *residuals = NULL;
    RANKS_OWN(modal_alloc_zero(&vectors, count, sizeof *vectors, "modes", err));
    RANKS_OWN(modal_alloc_zero(&eigenvalues, count, sizeof *eigenvalues, "modes", err));
    RANKS_OWN(modal_alloc_zero(&residuals, count, sizeof *residuals, "modes", err));
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
    problem->vectors = vectors;
    problem->eigenvalues = eigenvalues;
    problem->residuals = residuals;
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
    const double tolerance = problem->options.tolerance;
    double worst = 0;
    *allowed = 1;
    *at = 0;
    for (int64_t k = 0; k < problem->n_found; k++) {
        const double excess = problem->residuals[k] / fmax(tolerance, 4 * rounding[k]);
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

/* ---- to rank 0 ---- */

static modal_status allocate_result(const ranks_problem *problem, modal_modes_result *result, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n_modes = problem->options.n_modes;
    int64_t n_values = 0;
    result->n_modes = n_modes;
    result->n_nodes = problem->solid->mesh.n_nodes;
    result->n_rigid = (int32_t)problem->whole.n_rigid;
    if (!modal_size_multiply(n_modes, result->n_nodes, &n_values)) n_values = -1;
    MODAL_TRY(modal_alloc_zero(&result->modes, n_values, 3 * sizeof(double), "modes", err));
    MODAL_TRY(modal_alloc(&result->eigenvalues, n_modes, sizeof(double), "eigenvalues", err));
    MODAL_TRY(modal_alloc(&result->residuals, n_modes, sizeof(double), "residuals", err));
    MODAL_TRY(modal_alloc_zero(&result->orthogonalities, n_modes, sizeof(double), "orthogonality", err));
    MODAL_TRY(modal_alloc(&result->modal_masses, n_modes, sizeof(double), "modal masses", err));
    MODAL_TRY(modal_alloc(&result->participation, n_modes, 3 * sizeof(double), "participation", err));
    MODAL_TRY(modal_alloc_zero(&result->rigid_eigenvalues, result->n_rigid, sizeof(double), "rigid eigenvalues", err));
done:
    return status;
}

/* Lengths and starts of the ranks' shares of a vector; rank 0. MPI counts with 31 bits, as the matrix does here. */
typedef struct shares {
    int *lengths, *starts;
    double *values; /* [3 n_rows] */
} shares;

static modal_status make_shares(const ranks_problem *problem, shares *all, modal_error *err)
{
    modal_status status = MODAL_OK;
    const PetscInt *ranges;
    RANKS_OWN(modal_alloc(&all->lengths, problem->n_ranks, sizeof *all->lengths, "shares", err));
    RANKS_OWN(modal_alloc(&all->starts, problem->n_ranks, sizeof *all->starts, "shares", err));
    RANKS_TRY(MatGetOwnershipRanges(problem->stiffness, &ranges));
    for (int r = 0; r < problem->n_ranks; r++) {
        all->starts[r] = (int)ranges[r];
        all->lengths[r] = (int)(ranges[r + 1] - ranges[r]);
    }
    if (problem->rank == 0) RANKS_OWN(modal_alloc(&all->values, 3 * problem->whole.n_rows, sizeof *all->values, "shares", err));
done:
    return status;
}

/* Rank 0: the sign of lib/modes (the first component within 1e-6 of the largest magnitude is positive, in the user's order). */
static double place(const ranks_problem *problem, const double *values, double *mode, int64_t n_nodes)
{
    double top = 0, sign = 1;
    for (int64_t i = 0; i < problem->whole.n_rows; i++)
        memcpy(mode + 3 * (int64_t)problem->order[i], values + 3 * i, 3 * sizeof *mode);
    for (int64_t i = 0; i < 3 * n_nodes; i++) top = fmax(top, fabs(mode[i]));
    for (int64_t i = 0; i < 3 * n_nodes; i++)
        if (fabs(mode[i]) >= top * (1 - 1e-6)) {
            sign = mode[i] < 0 ? -1 : 1;
            break;
        }
    for (int64_t i = 0; i < 3 * n_nodes; i++) mode[i] *= sign;
    return sign;
}

/* What a held component has of a mode is rounding. */
static modal_status gather_mode(ranks_problem *problem, int32_t k, const shares *all, modal_modes_result *result, modal_error *err)
{
    modal_status status = MODAL_OK;
    PetscScalar *x;
    double local[3] = {0}, sums[3];
    RANKS_TRY(VecGetArray(problem->vectors[k], &x));
    for (int64_t i = 0; i < problem->piece.n_own; i++)
        for (int p = 0; p < 3; p++) {
            if (problem->held[i] >> p & 1) x[3 * i + p] = 0;
            local[p] += problem->nodal_mass[i] * x[3 * i + p];
        }
    RANKS_TRY(MPI_Gatherv(x, (int)(3 * problem->piece.n_own), MPI_DOUBLE, all->values, all->lengths, all->starts, MPI_DOUBLE, 0,
                          problem->comm));
    RANKS_TRY(VecRestoreArray(problem->vectors[k], &x));
    RANKS_TRY(MPI_Reduce(local, sums, 3, MPI_DOUBLE, MPI_SUM, 0, problem->comm));
    if (problem->rank > 0) goto done;
    const double sign = place(problem, all->values, result->modes + 3 * result->n_nodes * k, result->n_nodes);
    for (int p = 0; p < 3; p++) result->participation[3 * k + p] = sign * sums[p];
    result->eigenvalues[k] = problem->eigenvalues[k];
    result->residuals[k] = problem->residuals[k];
done:
    return status;
}

/* orthogonality of the modes, and phi^T K phi of the rigid ones; both on all ranks. */
static modal_status check(ranks_problem *problem, double *masses, double *worst, double *rigid, modal_error *err)
{
    modal_status status = MODAL_OK;
    const PetscInt n = problem->options.n_modes;
    double *products = NULL;
    Vec work = NULL;
    RANKS_TRY(MatCreateVecs(problem->stiffness, &work, NULL));
    RANKS_OWN(modal_alloc(&products, n, sizeof *products, "orthogonality", err));
    for (PetscInt k = 0; k < n; k++) {
        RANKS_TRY(MatMult(problem->mass, problem->vectors[k], work));
        RANKS_TRY(VecMDot(work, n, problem->vectors, products));
        masses[k] = products[k];
        worst[k] = 0;
        for (PetscInt j = 0; j < n; j++) {
            const double error = fabs(products[j] - (j == k));
            if (!(error <= worst[k])) worst[k] = error;
            if (isnan(error)) break;
        }
    }
    for (int64_t k = 0; k < problem->whole.n_rigid; k++) {
        RANKS_TRY(MatMult(problem->stiffness, problem->rigid[k], work));
        RANKS_TRY(VecDot(work, problem->rigid[k], &rigid[k]));
        for (int64_t i = k; i > 0 && fabs(rigid[i]) < fabs(rigid[i - 1]); i--) {
            const double swap = rigid[i];
            rigid[i] = rigid[i - 1];
            rigid[i - 1] = swap;
        }
    }
done:
    modal_free(&products);
    VecDestroy(&work);
    return status;
}

static modal_status refuse(const ranks_problem *problem, const double *worst, const double *rigid, double *most, modal_error *err)
{
    *most = 0;
    for (int32_t k = 0; k < problem->options.n_modes; k++)
        if (!(worst[k] <= *most)) *most = worst[k];
    if (!(*most <= 1e-10)) return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED, "modes: M-orthonormal to %.3g only", *most);
    for (int32_t k = 0; k < problem->options.n_modes; k++)
        if (!(problem->eigenvalues[k] > 0) || (k > 0 && !(problem->eigenvalues[k] >= problem->eigenvalues[k - 1])))
            return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED, "modes: eigenvalue %d is %.9g", k, problem->eigenvalues[k]);
    for (int64_t k = 0; k < problem->whole.n_rigid; k++)
        if (!(fabs(rigid[k]) <= 1e-3 * problem->eigenvalues[0]))
            return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED,
                                   "modes: %lld rigid modes found, %lld expected: eigenvalue %.3g beside the first elastic one, %.3g",
                                   (long long)k, (long long)problem->whole.n_rigid, rigid[k], problem->eigenvalues[0]);
    return MODAL_OK;
}

modal_status ranks_gather(ranks_problem *problem, modal_modes_result *result, modal_error *err)
{
    modal_status status = MODAL_OK;
    shares all = {0};
    double *masses = NULL, *worst = NULL, *rigid = NULL, most = 0;
    const int32_t n_modes = problem->options.n_modes;
    if (problem->rank == 0) status = allocate_result(problem, result, err);
    MODAL_TRY(ranks_agree(problem, status, err));
    RANKS_OWN(modal_alloc(&masses, n_modes, sizeof *masses, "orthogonality", err));
    RANKS_OWN(modal_alloc(&worst, n_modes, sizeof *worst, "orthogonality", err));
    RANKS_OWN(modal_alloc(&rigid, problem->whole.n_rigid, sizeof *rigid, "orthogonality", err));
    MODAL_TRY(make_shares(problem, &all, err));
    for (int32_t k = 0; k < n_modes; k++) MODAL_TRY(gather_mode(problem, k, &all, result, err));
    MODAL_TRY(check(problem, masses, worst, rigid, err));
    MODAL_TRY(refuse(problem, worst, rigid, &most, err));
    if (problem->rank > 0) goto done;
    memcpy(result->modal_masses, masses, (size_t)n_modes * sizeof *masses);
    memcpy(result->orthogonalities, worst, (size_t)n_modes * sizeof *worst);
    memcpy(result->rigid_eigenvalues, rigid, (size_t)problem->whole.n_rigid * sizeof *rigid);
    result->orthogonality = most;
    result->total_mass = problem->whole.total_mass;
    result->sturm = problem->sturm;
    result->shift = problem->shift;
    result->n_dof = 3 * problem->whole.n_rows;
    result->n_solves = problem->n_solves;
    result->n_iterations = problem->n_iterations;
done:
    modal_free(&masses);
    modal_free(&worst);
    modal_free(&rigid);
    modal_free(&all.lengths);
    modal_free(&all.starts);
    modal_free(&all.values);
    return status;
}
