/* SPDX-License-Identifier: Apache-2.0 */
/* Without a factor: LOBPCG (A. V. Knyazev, "Toward the optimal preconditioned eigensolver", 2001) in blocks, preconditioned by
 * PETSc's smoothed aggregation (GAMG; P. Vanek, J. Mandel, M. Brezina, 1996), which knows the six rigid motions. */
#include <float.h>
#include <malloc.h>
#include <math.h>

#include "lib/base/memory.h"
#include "lib/ranks/private.h"
#include "lib/ranks/session.h"

enum { MOST_ITERATIONS = 200, MOST_TRIES = 5, MOST_SEARCHES = 8, SEARCH_BLOCK = 8 };

/* What a run is to stop at. */
typedef struct goal {
    double tolerance; /* of ||K x - lambda M x|| / ||lambda M x|| */
    double typical_mass;  /* kg: ||M x|| is about its root where x^T M x = 1 */
    double typical_ratio; /* (rad/s)^2 */
    int locks;
} goal;

static PetscErrorCode measure_error(EPS eps, PetscScalar lambda, PetscScalar imaginary, PetscReal residual, PetscReal *error, void *context)
{
    const goal *g = context;
    (void)eps, (void)imaginary;
    /* what rounding of K x leaves cannot be taken away: lib/modes/refine.c */
    const double least = 8 * DBL_EPSILON * g->typical_ratio / fabs(lambda);
    *error = residual / (fabs(lambda) * sqrt(g->typical_mass)) * fmin(1, g->tolerance / least);
    return 0;
}

/* Means over the free degrees of freedom. */
static modal_status find_goal(ranks_problem *problem, goal *g, modal_error *err)
{
    modal_status status = MODAL_OK;
    Vec stiffness = NULL, mass = NULL;
    PetscScalar sum;
    const double n = 3.0 * (double)problem->whole.n_rows;
    g->tolerance = problem->options.tolerance;
    RANKS_TRY(MatCreateVecs(problem->stiffness, &stiffness, &mass));
    RANKS_TRY(MatGetDiagonal(problem->mass, mass));
    RANKS_TRY(MatGetDiagonal(problem->stiffness, stiffness));
    RANKS_TRY(VecSum(mass, &sum));
    g->typical_mass = sum / n;
    RANKS_TRY(VecPointwiseDivide(stiffness, stiffness, mass));
    RANKS_TRY(VecSum(stiffness, &sum));
    g->typical_ratio = sum / n;
done:
    VecDestroy(&stiffness);
    VecDestroy(&mass);
    return status;
}

/* The matrix that GAMG coarsens: K, or where the solid can move rigidly K - 100 sigma M, with the rigid motions of all nodes. */
static modal_status make_grid_matrix(ranks_problem *problem, Mat *matrix, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_piece *piece = &problem->piece;
    Vec places = NULL;
    PetscScalar *x;
    MatNullSpace near = NULL;
    if (problem->shift == 0) {
        *matrix = problem->stiffness;
        RANKS_TRY(PetscObjectReference((PetscObject)*matrix));
    } else {
        RANKS_TRY(MatDuplicate(problem->stiffness, MAT_COPY_VALUES, matrix));
        RANKS_TRY(MatAXPY(*matrix, -100 * problem->shift, problem->mass, SUBSET_NONZERO_PATTERN));
    }
    RANKS_TRY(MatSetOption(*matrix, MAT_SPD, PETSC_TRUE));
    RANKS_TRY(MatCreateVecs(problem->stiffness, &places, NULL));
    RANKS_TRY(VecSetBlockSize(places, 3));
    RANKS_TRY(VecGetArray(places, &x));
    for (int64_t i = 0; i < piece->mesh.n_nodes; i++) {
        const int64_t at = piece->rows[i] - piece->first_row;
        if (piece->rows[i] < 0 || at < 0 || at >= piece->n_own) continue;
        for (int p = 0; p < 3; p++) x[3 * at + p] = piece->mesh.nodes[3 * i + p];
    }
    RANKS_TRY(VecRestoreArray(places, &x));
    RANKS_TRY(MatNullSpaceCreateRigidBody(places, &near));
    RANKS_TRY(MatSetNearNullSpace(*matrix, near));
done:
    MatNullSpaceDestroy(&near);
    VecDestroy(&places);
    return status;
}

/* One V-cycle, and nothing of what is kept out: near rigid motions it would be all that is left. */
typedef struct cycle {
    ranks_problem *problem;
    ranks_cycle *grid;
    PetscInt n_beside;
    Vec *beside; /* [n_beside] M-orthonormal */
    PetscScalar *products;
    Vec work;
} cycle;

static PetscErrorCode remove_beside(cycle *c, Vec y)
{
    PetscCall(MatMult(c->problem->mass, y, c->work));
    PetscCall(VecMDot(c->work, c->n_beside, c->beside, c->products));
    for (PetscInt k = 0; k < c->n_beside; k++) c->products[k] = -c->products[k];
    return VecMAXPY(y, c->n_beside, c->products, c->beside);
}

static PetscErrorCode apply_cycle(PC pc, Vec x, Vec y)
{
    cycle *c;
    const PetscScalar *from;
    PetscScalar *to;
    PetscCall(PCShellGetContext(pc, &c));
    PetscCall(VecGetArrayRead(x, &from));
    PetscCall(VecGetArrayWrite(y, &to));
    PetscCall(ranks_cycle_apply(c->grid, 1, from, 0, to, 0));
    PetscCall(VecRestoreArrayWrite(y, &to));
    PetscCall(VecRestoreArrayRead(x, &from));
    return c->n_beside > 0 ? remove_beside(c, y) : 0;
}

static PetscErrorCode apply_cycles(PC pc, Mat x, Mat y)
{
    cycle *c;
    const PetscScalar *from;
    PetscScalar *to;
    PetscInt n, stride_x, stride_y;
    PetscCall(PCShellGetContext(pc, &c));
    PetscCall(MatGetSize(x, NULL, &n));
    PetscCall(MatDenseGetLDA(x, &stride_x));
    PetscCall(MatDenseGetLDA(y, &stride_y));
    PetscCall(MatDenseGetArrayRead(x, &from));
    PetscCall(MatDenseGetArrayWrite(y, &to));
    PetscCall(ranks_cycle_apply(c->grid, n, from, stride_x, to, stride_y));
    PetscCall(MatDenseRestoreArrayWrite(y, &to));
    PetscCall(MatDenseRestoreArrayRead(x, &from));
    for (PetscInt k = 0; k < n && c->n_beside > 0; k++) {
        Vec column;
        PetscCall(MatDenseGetColumnVec(y, k, &column));
        PetscCall(remove_beside(c, column));
        PetscCall(MatDenseRestoreColumnVec(y, k, &column));
    }
    return 0;
}

static modal_status set_preconditioner(EPS eps, cycle *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = c->problem;
    ST transform;
    KSP ksp;
    PC pc;
    RANKS_TRY(EPSGetST(eps, &transform));
    RANKS_TRY(STSetType(transform, STPRECOND));
    RANKS_TRY(STGetKSP(transform, &ksp));
    RANKS_TRY(KSPSetType(ksp, KSPPREONLY));
    RANKS_TRY(KSPGetPC(ksp, &pc));
    RANKS_TRY(PCSetType(pc, PCSHELL));
    RANKS_TRY(PCShellSetContext(pc, c));
    RANKS_TRY(PCShellSetApply(pc, apply_cycle));
    RANKS_TRY(PCShellSetMatApply(pc, apply_cycles));
done:
    return status;
}

/* The rigid motions and the first n_beside pairs. */
static modal_status keep_out(cycle *c, int64_t n_beside, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = c->problem;
    const int64_t n_rigid = problem->whole.n_rigid;
    c->n_beside = (PetscInt)(n_rigid + n_beside);
    RANKS_OWN(modal_alloc(&c->beside, c->n_beside, sizeof *c->beside, "modes", err));
    RANKS_OWN(modal_alloc(&c->products, c->n_beside, sizeof *c->products, "modes", err));
    for (int64_t k = 0; k < c->n_beside; k++) c->beside[k] = k < n_rigid ? problem->rigid[k] : problem->vectors[k - n_rigid];
    RANKS_TRY(MatCreateVecs(problem->stiffness, &c->work, NULL));
done:
    return status;
}

/* LOBPCG for the lowest `wanted` pairs beside the rigid motions and the first n_beside of those that are there, in blocks of
 * `block`; it starts from the others and from random vectors. The pairs found are appended. */
static modal_status lobpcg(ranks_problem *problem, ranks_cycle *grid, goal *g, int64_t n_beside, int64_t wanted, int64_t block,
                           modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_start = problem->n_found - n_beside;
    cycle c = {.problem = problem, .grid = grid};
    EPS eps = NULL;
    PetscInt n_converged = 0, n_iterations = 0;
    RANKS_TRY(EPSCreate(problem->comm, &eps));
    RANKS_TRY(EPSSetOperators(eps, problem->stiffness, problem->mass));
    RANKS_TRY(EPSSetProblemType(eps, EPS_GHEP));
    RANKS_TRY(EPSSetType(eps, EPSLOBPCG));
    RANKS_TRY(EPSLOBPCGSetBlockSize(eps, (PetscInt)block));
    RANKS_TRY(EPSLOBPCGSetLocking(eps, g->locks ? PETSC_TRUE : PETSC_FALSE));
    RANKS_TRY(EPSSetWhichEigenpairs(eps, EPS_SMALLEST_REAL));
    RANKS_TRY(EPSSetDimensions(eps, (PetscInt)wanted, PETSC_DEFAULT, PETSC_DEFAULT));
    RANKS_TRY(EPSSetTolerances(eps, g->tolerance, MOST_ITERATIONS));
    RANKS_TRY(EPSSetConvergenceTestFunction(eps, measure_error, g, NULL));
    MODAL_TRY(keep_out(&c, n_beside, err));
    MODAL_TRY(set_preconditioner(eps, &c, err));
    if (c.n_beside > 0) RANKS_TRY(EPSSetDeflationSpace(eps, c.n_beside, c.beside));
    if (n_start > 0) RANKS_TRY(EPSSetInitialSpace(eps, (PetscInt)n_start, problem->vectors + n_beside));
    /* The small problem is the same on all ranks, and so is its failure: the three blocks have become dependent. */
    if (EPSSolve(eps) != 0) {
        const modal_status said = ranks_session_error(NULL);
        if (said != MODAL_ERROR_SYSTEM) RANKS_OWN(modal_error_set(err, said, "SLEPc: LOBPCG has no memory"));
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
                   "modes: LOBPCG broke down, as it may for slender solids and flat elements; a factor may do (--route direct)");
    }
    RANKS_TRY(EPSGetConverged(eps, &n_converged));
    RANKS_TRY(EPSGetIterationNumber(eps, &n_iterations));
    problem->n_iterations += n_iterations;
    if (n_converged < wanted)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: %lld of %lld converged in %lld iterations of LOBPCG; a factor may do (--route direct)",
                   (long long)n_converged, (long long)wanted, (long long)n_iterations);
    ranks_pairs_cut(problem, n_beside);
    MODAL_TRY(ranks_pairs_grow(problem, n_beside + wanted, err));
    for (int64_t k = 0; k < wanted; k++)
        RANKS_TRY(EPSGetEigenpair(eps, (PetscInt)k, NULL, NULL, problem->vectors[n_beside + k], NULL));
done:
    EPSDestroy(&eps);
    VecDestroy(&c.work);
    modal_free(&c.beside);
    modal_free(&c.products);
    return status;
}

/* The modes, until their residuals are small enough: LOBPCG measures them against a mean of the masses. With locking it does not look
 * again at the leading pairs that were good once. Where a lower one comes late and moves them, as happens with free bodies, some of what
 * it gives is none; then it begins anew without locking, where it goes on less long (blocks become dependent), but surely. */
static modal_status find(ranks_problem *problem, ranks_cycle *grid, goal *g, int64_t block, modal_error *err)
{
    static const double far = 1e3; /* from what is wanted: no matter of the measure */
    modal_status status = MODAL_OK;
    const int64_t n = problem->options.n_modes;
    double worst = 0;
    int64_t at = 0;
    int allowed = 0;
    g->locks = 1;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        status = lobpcg(problem, grid, g, 0, n, block, err);
        if (status == MODAL_OK) status = ranks_examine(problem, &worst, &at, &allowed, err);
        if (g->locks && (status == MODAL_ERROR_NOT_CONVERGED || (status == MODAL_OK && !(worst <= far)))) {
            g->locks = 0;
            ranks_pairs_cut(problem, 0);
            status = MODAL_OK;
            continue;
        }
        if (status != MODAL_OK || worst <= 1) goto done;
        g->tolerance /= fmax(4, fmin(2 * worst, 100));
    }
    if (!allowed)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: residual of mode %lld is %.3g, wanted %.3g", (long long)at,
                   problem->residuals[at], problem->options.tolerance);
done:
    return status;
}

/* Blocks of random vectors beside the modes: the lowest mode that they find is not below the last one that is known, or it
 * is taken in and another block looks again. */
static modal_status search(ranks_problem *problem, ranks_cycle *grid, const goal *g, int64_t block, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = problem->options.n_modes;
    goal rough = *g;
    rough.tolerance = 1e-4; /* of a residual: the eigenvalue is known to its square */
    for (int found = 0; found < MOST_SEARCHES; found++) {
        double worst = 0;
        int64_t at = 0;
        int allowed = 0;
        const double last = problem->eigenvalues[n - 1];
        MODAL_TRY(lobpcg(problem, grid, &rough, n, 1, block < SEARCH_BLOCK ? block : SEARCH_BLOCK, err));
        const Vec x = problem->vectors[n];
        double energy = 0, mass = 0;
        MODAL_TRY(ranks_energies(problem, x, &energy, &mass, err));
        if (energy / mass >= last * (1 - 1e-6)) {
            ranks_pairs_cut(problem, n);
            goto done;
        }
        /* the one above all others leaves, and the rest becomes exact */
        MODAL_TRY(ranks_examine(problem, &worst, &at, &allowed, err));
        ranks_pairs_cut(problem, n);
        goal again = *g;
        MODAL_TRY(find(problem, grid, &again, block, err));
    }
    MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: random vectors beside the modes found lower ones %d times; a factor may do (--route direct)",
               MOST_SEARCHES);
done:
    return status;
}

/* More than the modes: what is near the last one converges slowly. */
int64_t ranks_block_size(int64_t n_modes) { return n_modes + (n_modes < 30 ? 6 : n_modes / 5); }

modal_status ranks_multigrid(ranks_problem *problem, modal_error *err)
{
    modal_status status = MODAL_OK;
    Mat matrix = NULL;
    PC gamg = NULL;
    ranks_cycle *grid = NULL;
    goal g;
    const int64_t n = problem->options.n_modes;
    const int64_t all = 3 * problem->whole.n_rows - problem->whole.n_rigid - problem->whole.n_held;
    const int64_t block = ranks_block_size(n);
    problem->sturm.n_below = -1;
    /* LOBPCG takes three blocks, which must be independent */
    if (3 * block > all)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "--route multigrid: %lld modes need %lld degrees of freedom, %lld", (long long)n,
                   (long long)(3 * block), (long long)all);
    MODAL_TRY(find_goal(problem, &g, err));
    MODAL_TRY(make_grid_matrix(problem, &matrix, err));
    RANKS_TRY(PCCreate(problem->comm, &gamg));
    RANKS_TRY(PCSetType(gamg, PCGAMG));
    RANKS_TRY(PCSetOperators(gamg, matrix, matrix));
    RANKS_TRY(PCSetUp(gamg));
    MODAL_TRY(ranks_cycle_new(problem, gamg, &grid, err));
    RANKS_TRY(PCDestroy(&gamg));
    RANKS_TRY(MatDestroy(&matrix));
    malloc_trim(0); /* what GAMG held is worth more than half of what comes now */
    MODAL_TRY(find(problem, grid, &g, block, err));
    MODAL_TRY(search(problem, grid, &g, block, err));
done:
    ranks_cycle_delete(grid);
    PCDestroy(&gamg);
    MatDestroy(&matrix);
    return status;
}
