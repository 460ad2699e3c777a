/* SPDX-License-Identifier: Apache-2.0 */
/* Without a factor: LOBPCG (lobpcg.h), preconditioned by a V-cycle of PETSc's smoothed aggregation (GAMG; P. Vanek, J. Mandel,
 * M. Brezina, 1996), which knows the six rigid motions. */
#include <malloc.h>
#include <math.h>

#include "lib/base/memory.h"
#include "lib/ranks/lobpcg.h"

enum { MOST_SEARCHES = 8, SEARCH_BLOCK = 8, MOST_STEPS = 30 };

/* Of the square of a residual in the cycle's norm. */
static const double enough = 1e-4;

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

/* y = x + e with K e = rho M x - K x, by conjugate gradients with the cycle: a step of inverse iteration whose rounding is that of one sum. The sums of
 * LOBPCG have many terms, of which each leaves some; where stiffnesses are far apart that is more than may stay. */
static modal_status improve(ranks_problem *problem, void *context, Vec x, Vec y, modal_error *err)
{
    modal_status status = MODAL_OK;
    enum { R, Z, P, Q, N_WORK };
    Vec *work = NULL;
    double energy, mass, rz = 1, next, pq, first = 0;
    const int column = 0;
    RANKS_TRY(VecDuplicateVecs(x, N_WORK, &work));
    RANKS_TRY(VecSet(y, 0));
    RANKS_TRY(MatMult(problem->stiffness, x, work[Q]));
    RANKS_TRY(MatMult(problem->mass, x, work[R]));
    RANKS_TRY(VecDot(work[Q], x, &energy));
    RANKS_TRY(VecDot(work[R], x, &mass));
    RANKS_TRY(VecAXPBY(work[R], -1, energy / mass, work[Q]));
    for (int k = 0; k < MOST_STEPS; k++, rz = next) {
        PetscScalar *z;
        RANKS_TRY(VecCopy(work[R], work[Z]));
        RANKS_TRY(VecGetArray(work[Z], &z));
        RANKS_TRY(ranks_cycle_apply(context, 1, &column, z, 1));
        RANKS_TRY(VecRestoreArray(work[Z], &z));
        RANKS_TRY(VecDot(work[R], work[Z], &next));
        if (k == 0) first = next;
        if (!(next > enough * first)) break; /* a hundredth of what it was is far below what rounding leaves */
        if (k == 0) RANKS_TRY(VecCopy(work[Z], work[P]));
        else RANKS_TRY(VecAYPX(work[P], next / rz, work[Z]));
        RANKS_TRY(MatMult(problem->stiffness, work[P], work[Q]));
        RANKS_TRY(VecDot(work[P], work[Q], &pq));
        if (!(pq > 0)) break;
        RANKS_TRY(VecAXPY(y, next / pq, work[P]));
        RANKS_TRY(VecAXPY(work[R], -next / pq, work[Q]));
    }
    RANKS_TRY(VecAXPY(y, 1, x));
done:
    if (work) VecDestroyVecs(N_WORK, &work);
    return status;
}

/* The modes; those whose residuals are not small enough after the Rayleigh-Ritz of all of them are improved. */
static modal_status find(ranks_problem *problem, ranks_cycle *grid, int64_t block, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_lobpcg how = {0, problem->options.n_modes, block, 0.5 * problem->options.tolerance};
    double worst = 0;
    int64_t at = 0;
    int allowed = 0;
    MODAL_TRY(ranks_lobpcg_solve(problem, grid, &how, err));
    MODAL_TRY(ranks_examine(problem, &worst, &at, &allowed, err));
    if (!(worst <= 1)) MODAL_TRY(ranks_refine(problem, improve, grid, err));
done:
    return status;
}

/* Blocks of random vectors beside the modes: the lowest mode that they find is not below the last one that is known, or it
 * is taken in and another block looks again. */
static modal_status search(ranks_problem *problem, ranks_cycle *grid, int64_t block, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = problem->options.n_modes;
    /* of a residual: the eigenvalue is known to its square */
    const ranks_lobpcg rough = {n, 1, block < SEARCH_BLOCK ? block : SEARCH_BLOCK, 1e-4};
    for (int found = 0; found < MOST_SEARCHES; found++) {
        double worst = 0, energy = 0, mass = 0;
        int64_t at = 0;
        int allowed = 0;
        const double last = problem->eigenvalues[n - 1];
        MODAL_TRY(ranks_lobpcg_solve(problem, grid, &rough, err));
        MODAL_TRY(ranks_energies(problem, problem->vectors[n], &energy, &mass, err));
        if (energy / mass >= last * (1 - 1e-6)) {
            ranks_pairs_cut(problem, n);
            goto done;
        }
        /* the one above all others leaves, and the rest becomes exact */
        MODAL_TRY(ranks_examine(problem, &worst, &at, &allowed, err));
        ranks_pairs_cut(problem, n);
        MODAL_TRY(find(problem, grid, block, err));
    }
    MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: random vectors beside the modes found lower ones %d times; a factor may do (--route direct)",
               MOST_SEARCHES);
done:
    return status;
}

/* Who makes P^T K P on several ranks. PETSc's default holds 12 kB a node more than hypre's, which takes 0.2 ms a node longer; PETSc's
 * product all at once takes 1 ms. */
#ifdef PETSC_HAVE_HYPRE
static const char product[] = "hypre";
#else
static const char product[] = "allatonce";
#endif

/* GAMG's levels. */
static modal_status make_grid(ranks_problem *problem, PC *gamg, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *const option = "-matptap_via";
    Mat matrix = NULL;
    MODAL_TRY(make_grid_matrix(problem, &matrix, err));
    if (problem->n_ranks > 1) RANKS_TRY(PetscOptionsSetValue(NULL, option, product));
    RANKS_TRY(PCCreate(problem->comm, gamg));
    RANKS_TRY(PCSetType(*gamg, PCGAMG));
    RANKS_TRY(PCSetOperators(*gamg, matrix, matrix));
    RANKS_TRY(PCSetUp(*gamg));
    RANKS_TRY(PetscOptionsClearValue(NULL, option));
    malloc_trim(0); /* what the products held is as much as the cycle will take */
done:
    MatDestroy(&matrix);
    return status;
}

/* More than the modes: what is near the last one converges slowly. */
int64_t ranks_block_size(int64_t n_modes) { return n_modes + (n_modes < 30 ? 6 : n_modes / 5); }

modal_status ranks_multigrid(ranks_problem *problem, modal_error *err)
{
    modal_status status = MODAL_OK;
    PC gamg = NULL;
    ranks_cycle *grid = NULL;
    const int64_t n = problem->options.n_modes;
    const int64_t all = 3 * problem->whole.n_rows - problem->whole.n_rigid - problem->whole.n_held;
    const int64_t block = ranks_block_size(n);
    problem->sturm.n_below = -1;
    /* LOBPCG takes three blocks, which must be independent */
    if (3 * block > all)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "--route multigrid: %lld modes need %lld degrees of freedom, %lld", (long long)n,
                   (long long)(3 * block), (long long)all);
    MODAL_TRY(make_grid(problem, &gamg, err));
    MODAL_TRY(ranks_cycle_new(problem, gamg, &grid, err));
    RANKS_TRY(PCDestroy(&gamg));
    malloc_trim(0); /* what GAMG held is worth more than half of what comes now */
    MODAL_TRY(find(problem, grid, block, err));
    MODAL_TRY(search(problem, grid, block, err));
done:
    ranks_cycle_delete(grid);
    PCDestroy(&gamg);
    return status;
}
