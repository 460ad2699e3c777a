/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/ranks/lanczos.h"

#include <float.h>
#include <math.h>
#include <petscblaslapack.h>
#include <string.h>

#include "lib/base/memory.h"

enum { WIDTH = 8, GUARD = 8, MOST_PASSES = 8, MOST_RESTARTS = 300, SMALL = 256 };

/* Of a guard's theta; its eigenvalue is known to the square. */
static const double rough = 1e-6;

typedef struct lanczos {
    ranks_problem *problem;
    Mat factor;
    int64_t n_beside, most, n; /* vectors kept out; columns of the basis at most; now */
    int64_t last, width;       /* columns of the basis' last block, and of the block that follows it */
    BV basis, block, product;  /* [n_beside + most], the block that follows and M times it [WIDTH] */
    Mat sums, gram, turn;      /* [n_beside + most, WIDTH] basis^T product, [WIDTH, WIDTH] block^T product and what a block is turned by */
    double *t;                 /* [most, most] V^T M OP V */
    double *s, *theta, *work;  /* [n, n] eigenvectors of T by columns, [n] ascending; LAPACK's [3 most + most^2] */
    double coupling[WIDTH * WIDTH]; /* [width, last] by columns: the block times it is what the basis does not have of OP times its last block */
} lanczos;

/* ---- begin and end ---- */

static int64_t kept(int64_t wanted) { return wanted + GUARD; }

static int64_t most_columns(int64_t wanted) { return kept(wanted) + kept(wanted) / 2 + 8 * WIDTH; }

int64_t ranks_lanczos_vectors(int64_t wanted) { return most_columns(wanted) + 2 * WIDTH; }

static modal_status new_vectors(const lanczos *l, Vec like, int64_t n, BV *vectors, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = l->problem;
    RANKS_TRY(BVCreate(problem->comm, vectors));
    RANKS_TRY(BVSetSizesFromVec(*vectors, like, (PetscInt)n));
    RANKS_TRY(BVSetType(*vectors, BVSVEC));
    RANKS_TRY(BVSetMatMultMethod(*vectors, BV_MATMULT_VECS));
done:
    return status;
}

static modal_status open_all(lanczos *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_problem *problem = l->problem;
    const int64_t n_rigid = problem->whole.n_rigid, all = l->n_beside + l->most, m = l->most;
    Vec like = NULL;
    RANKS_TRY(MatCreateVecs(problem->stiffness, &like, NULL));
    MODAL_TRY(new_vectors(l, like, all, &l->basis, err));
    MODAL_TRY(new_vectors(l, like, WIDTH, &l->block, err));
    MODAL_TRY(new_vectors(l, like, WIDTH, &l->product, err));
    for (int64_t k = 0; k < l->n_beside; k++)
        RANKS_TRY(BVInsertVec(l->basis, (PetscInt)k, k < n_rigid ? problem->rigid[k] : problem->vectors[k - n_rigid]));
    RANKS_TRY(MatCreateSeqDense(PETSC_COMM_SELF, (PetscInt)all, WIDTH, NULL, &l->sums));
    RANKS_TRY(MatCreateSeqDense(PETSC_COMM_SELF, WIDTH, WIDTH, NULL, &l->gram));
    RANKS_TRY(MatCreateSeqDense(PETSC_COMM_SELF, WIDTH, WIDTH, NULL, &l->turn));
    RANKS_OWN(modal_alloc_zero(&l->t, m * m, sizeof *l->t, "Lanczos", err));
    RANKS_OWN(modal_alloc(&l->s, m * m, sizeof *l->s, "Lanczos", err));
    RANKS_OWN(modal_alloc(&l->theta, m, sizeof *l->theta, "Lanczos", err));
    RANKS_OWN(modal_alloc(&l->work, m * m + 3 * m, sizeof *l->work, "Lanczos", err));
done:
    VecDestroy(&like);
    return status;
}

static void close_all(lanczos *l)
{
    BVDestroy(&l->basis);
    BVDestroy(&l->block);
    BVDestroy(&l->product);
    MatDestroy(&l->sums);
    MatDestroy(&l->gram);
    MatDestroy(&l->turn);
    modal_free(&l->t);
    modal_free(&l->s);
    modal_free(&l->theta);
    modal_free(&l->work);
}

/* ---- blocks ---- */

static modal_status set_width(lanczos *l, int64_t width, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = l->problem;
    RANKS_TRY(BVSetActiveColumns(l->block, 0, (PetscInt)width));
    RANKS_TRY(BVSetActiveColumns(l->product, 0, (PetscInt)width));
    l->width = width;
done:
    return status;
}

/* block = (K - sigma M)^-1 product */
static modal_status invert(lanczos *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_problem *problem = l->problem;
    Mat from, to;
    RANKS_TRY(BVGetMat(l->product, &from));
    RANKS_TRY(BVGetMat(l->block, &to));
    RANKS_TRY(MatMatSolve(l->factor, from, to));
    RANKS_TRY(BVRestoreMat(l->block, &to));
    RANKS_TRY(BVRestoreMat(l->product, &from));
    problem->n_solves += l->width;
done:
    return status;
}

/* product = M block; sums and gram; what the block has of the basis leaves it. `keep`: sums are added to T's last columns. */
static modal_status project(lanczos *l, int keep, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = l->problem;
    const int64_t all = l->n_beside + l->n, stride = l->n_beside + l->most;
    const double *sums;
    RANKS_TRY(BVMatMult(l->block, problem->mass, l->product));
    RANKS_TRY(BVDot(l->product, l->block, l->gram));
    if (all == 0) goto done;
    RANKS_TRY(BVSetActiveColumns(l->basis, 0, (PetscInt)all));
    RANKS_TRY(BVDot(l->product, l->basis, l->sums));
    RANKS_TRY(BVMult(l->block, -1, 1, l->basis, l->sums));
    if (!keep) goto done;
    RANKS_TRY(MatDenseGetArrayRead(l->sums, &sums));
    for (int64_t j = 0; j < l->last; j++)
        for (int64_t i = 0; i < l->n; i++) l->t[(l->n - l->last + j) * l->most + i] += sums[j * stride + l->n_beside + i];
    RANKS_TRY(MatDenseRestoreArrayRead(l->sums, &sums));
done:
    return status;
}

/* The largest square of a length that the block had before project. */
static modal_status find_scale(const lanczos *l, double *scale, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = l->problem;
    const double *gram;
    *scale = 0;
    RANKS_TRY(MatDenseGetArrayRead(l->gram, &gram));
    for (int64_t j = 0; j < l->width; j++) *scale = fmax(*scale, gram[j * WIDTH + j]);
    RANKS_TRY(MatDenseRestoreArrayRead(l->gram, &gram));
done:
    return status;
}

/* The Gram matrix [width, width] of the block after project: what it has lost is subtracted. Its distance from 1. */
static modal_status find_gram(lanczos *l, double *g, double *deviation, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = l->problem;
    const int64_t w = l->width, all = l->n_beside + l->n, stride = l->n_beside + l->most;
    const double *sums, *gram;
    RANKS_TRY(MatDenseGetArrayRead(l->sums, &sums));
    RANKS_TRY(MatDenseGetArrayRead(l->gram, &gram));
    *deviation = 0;
    for (int64_t j = 0; j < w; j++)
        for (int64_t i = 0; i < w; i++) {
            double sum = 0.5 * (gram[j * WIDTH + i] + gram[i * WIDTH + j]);
            for (int64_t k = 0; k < all; k++) sum -= sums[i * stride + k] * sums[j * stride + k];
            g[j * w + i] = sum;
            *deviation += (sum - (i == j)) * (sum - (i == j));
        }
    RANKS_TRY(MatDenseRestoreArrayRead(l->gram, &gram));
    RANKS_TRY(MatDenseRestoreArrayRead(l->sums, &sums));
done:
    return status;
}

/* What makes a block of this Gram matrix orthonormal: s [width, n_left] by columns, and its inverse, by columns [n_left, width]. Directions
 * that are nothing beside `scale` are left out. -1: no numbers. */
static int split(int64_t w, double *g, double nothing, int may_drop, double *s, double *inverse)
{
    double values[WIDTH], work[64 * WIDTH];
    PetscBLASInt order = (PetscBLASInt)w, length = 64 * WIDTH, info = 0;
    int n_left = 0;
    for (int64_t i = 0; i < w * w; i++)
        if (!isfinite(g[i])) return -1;
    LAPACKsyev_("V", "U", &order, g, &order, values, work, &length, &info);
    if (info != 0) return -1;
    /* a direction smaller than the noise of the others grows pass by pass, or turns out empty */
    const double noise = 4 * DBL_EPSILON * values[w - 1];
    for (int64_t j = 0; j < w; j++) n_left += !(may_drop && values[j] <= nothing);
    for (int64_t j = 0, to = 0; j < w; j++) {
        if (may_drop && values[j] <= nothing) continue;
        const double size = sqrt(fmax(values[j], noise));
        for (int64_t i = 0; i < w; i++) {
            s[to * w + i] = g[j * w + i] / size;
            inverse[i * n_left + to] = g[j * w + i] * size;
        }
        to++;
    }
    return n_left;
}

/* block = block s, of n_left columns, and product with it; coupling = inverse coupling. */
static modal_status turn(lanczos *l, int n_left, const double *s, const double *inverse, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = l->problem;
    const int64_t w = l->width;
    double before[WIDTH * WIDTH], *to;
    memcpy(before, l->coupling, sizeof before);
    for (int64_t j = 0; j < l->last; j++)
        for (int64_t i = 0; i < n_left; i++) {
            double sum = 0;
            for (int64_t k = 0; k < w; k++) sum += inverse[k * n_left + i] * before[j * w + k];
            l->coupling[j * n_left + i] = sum;
        }
    RANKS_TRY(MatDenseGetArrayWrite(l->turn, &to));
    for (int64_t j = 0; j < n_left; j++) memcpy(to + j * WIDTH, s + j * w, (size_t)w * sizeof *to);
    RANKS_TRY(MatDenseRestoreArrayWrite(l->turn, &to));
    if (n_left > 0) RANKS_TRY(BVMultInPlace(l->block, l->turn, 0, n_left));
    if (n_left > 0) RANKS_TRY(BVMultInPlace(l->product, l->turn, 0, n_left));
    MODAL_TRY(set_width(l, n_left, err));
done:
    return status;
}

/* Makes the block M-orthonormal, and orthogonal to the basis; product = M block. What it had of the basis goes into T if `keep`; directions in
 * which it has nothing else leave it. */
static modal_status orthonormalise(lanczos *l, int keep, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_problem *problem = l->problem;
    double scale;
    memset(l->coupling, 0, sizeof l->coupling);
    for (int64_t j = 0; j < l->last; j++) l->coupling[j * l->width + j] = 1;
    MODAL_TRY(project(l, keep, err));
    MODAL_TRY(find_scale(l, &scale, err));
    for (int pass = 0; pass < MOST_PASSES && l->width > 0; pass++) {
        double g[WIDTH * WIDTH], s[WIDTH * WIDTH], inverse[WIDTH * WIDTH], deviation;
        MODAL_TRY(project(l, keep && pass == 0, err));
        MODAL_TRY(find_gram(l, g, &deviation, err));
        /* what is far smaller than the block was, is nothing */
        int n_left = split(l->width, g, pass == 0 ? 1e-26 * scale : 1e-12, pass < MOST_PASSES / 2, s, inverse);
        /* every rank takes rank 0's: processors of other kinds may round otherwise */
        RANKS_TRY(MPI_Bcast(&n_left, 1, MPI_INT, 0, problem->comm));
        RANKS_TRY(MPI_Bcast(&deviation, 1, MPI_DOUBLE, 0, problem->comm));
        RANKS_TRY(MPI_Bcast(s, WIDTH * WIDTH, MPI_DOUBLE, 0, problem->comm));
        RANKS_TRY(MPI_Bcast(inverse, WIDTH * WIDTH, MPI_DOUBLE, 0, problem->comm));
        if (n_left < 0) MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: a vector is not finite");
        MODAL_TRY(turn(l, n_left, s, inverse, err));
        if (pass > 0 && deviation <= 1e-10) goto done;
    }
    if (l->width > 0 || !keep)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: the search space is exhausted after %lld vectors", (long long)l->n);
done:
    return status;
}

/* A random right-hand side is smoothed by the solve, and counts as M x of some x. */
static modal_status start(lanczos *l, int64_t width, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_problem *problem = l->problem;
    MODAL_TRY(set_width(l, width, err));
    for (int64_t k = 0; k < width; k++) {
        Vec column;
        PetscScalar *x;
        RANKS_TRY(BVGetColumn(l->product, (PetscInt)k, &column));
        RANKS_TRY(VecGetArrayWrite(column, &x));
        for (int64_t i = 0; i < 3 * problem->piece.n_own; i++)
            x[i] = problem->held[i / 3] >> (i % 3) & 1 ? 0 : ranks_draw(3 * (int64_t)problem->piece.own_nodes[i / 3] + i % 3, l->n + k);
        RANKS_TRY(VecRestoreArrayWrite(column, &x));
        RANKS_TRY(BVRestoreColumn(l->product, (PetscInt)k, &column));
    }
    MODAL_TRY(invert(l, err));
    l->last = 0;
    MODAL_TRY(orthonormalise(l, 0, err));
done:
    return status;
}

/* The block goes into the basis; the next one is what OP makes of it and the basis does not have. */
static modal_status extend(lanczos *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = l->problem;
    const PetscInt first = (PetscInt)(l->n_beside + l->n);
    RANKS_TRY(BVSetActiveColumns(l->basis, first, first + (PetscInt)l->width));
    RANKS_TRY(BVCopy(l->block, l->basis));
    l->n += l->width;
    l->last = l->width;
    for (int64_t j = l->n - l->last; j < l->n; j++) memset(l->t + j * l->most, 0, (size_t)l->most * sizeof *l->t);
    MODAL_TRY(invert(l, err));
    MODAL_TRY(orthonormalise(l, 1, err));
done:
    return status;
}

/* ---- the projected problem ---- */

/* Eigenvalues and vectors of T, whose columns have what is above their blocks. */
static modal_status solve_projected(lanczos *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_problem *problem = l->problem;
    const int64_t n = l->n;
    PetscBLASInt order = (PetscBLASInt)n, length = (PetscBLASInt)(l->most * l->most + 3 * l->most), info = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i <= j; i++) l->s[j * n + i] = l->t[j * l->most + i];
    if (problem->rank == 0) LAPACKsyev_("V", "U", &order, l->s, &order, l->theta, l->work, &length, &info);
    RANKS_TRY(MPI_Bcast(&info, 1, MPI_INT, 0, problem->comm));
    if (info != 0) MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: Lanczos, %lld vectors, LAPACK says %lld", (long long)n, (long long)info);
    RANKS_TRY(MPI_Bcast(l->theta, (int)n, MPI_DOUBLE, 0, problem->comm));
    RANKS_TRY(MPI_Bcast(l->s, (int)(n * n), MPI_DOUBLE, 0, problem->comm));
done:
    return status;
}

/* How many of the largest are there. */
static int64_t count_converged(const lanczos *l, const ranks_lanczos *how)
{
    for (int64_t k = 0; k < how->wanted; k++) {
        if (k >= l->n) return k;
        const double *s = l->s + (l->n - 1 - k) * l->n + l->n - l->last, theta = l->theta[l->n - 1 - k];
        double bound = 0; /* of the residual: the coupling times the last rows of the eigenvector */
        for (int64_t i = 0; i < l->width; i++) {
            double sum = 0;
            for (int64_t j = 0; j < l->last; j++) sum += l->coupling[j * l->width + i] * s[j];
            bound += sum * sum;
        }
        if (!(theta > 0) || !(sqrt(bound) <= (k < how->exact ? how->tolerance : rough) * theta)) return k;
    }
    return how->wanted;
}

/* The basis becomes the vectors of the n_kept largest. */
static modal_status restart(lanczos *l, int64_t n_kept, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = l->problem;
    const PetscInt first = (PetscInt)l->n_beside, all = first + (PetscInt)l->n;
    Mat turned = NULL;
    double *to;
    RANKS_TRY(MatCreateSeqDense(PETSC_COMM_SELF, all, all, NULL, &turned));
    RANKS_TRY(MatDenseGetArrayWrite(turned, &to));
    for (int64_t k = 0; k < n_kept; k++)
        memcpy(to + (first + k) * all + first, l->s + (l->n - 1 - k) * l->n, (size_t)l->n * sizeof *to);
    RANKS_TRY(MatDenseRestoreArrayWrite(turned, &to));
    RANKS_TRY(BVSetActiveColumns(l->basis, first, all));
    RANKS_TRY(BVMultInPlace(l->basis, turned, first, first + (PetscInt)n_kept));
    memset(l->t, 0, (size_t)(l->most * l->most) * sizeof *l->t);
    for (int64_t k = 0; k < n_kept; k++) l->t[k * l->most + k] = l->theta[l->n - 1 - k];
    l->n = n_kept;
done:
    MatDestroy(&turned);
    return status;
}

static modal_status take(lanczos *l, int64_t wanted, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_problem *problem = l->problem;
    const int64_t before = problem->n_found;
    MODAL_TRY(ranks_pairs_grow(problem, before + wanted, err));
    RANKS_TRY(BVSetActiveColumns(l->basis, (PetscInt)l->n_beside, (PetscInt)(l->n_beside + l->n)));
    for (int64_t k = 0; k < wanted; k++)
        RANKS_TRY(BVMultVec(l->basis, 1, 0, problem->vectors[before + k], l->s + (l->n - 1 - k) * l->n));
done:
    return status;
}

/* ---- the iteration ---- */

static modal_status iterate(lanczos *l, const ranks_lanczos *how, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_problem *problem = l->problem;
    int64_t look_at = kept(how->wanted);
    MODAL_TRY(start(l, WIDTH, err));
    for (int n_restarts = 0;;) {
        MODAL_TRY(extend(l, err));
        const int full = l->n + WIDTH > l->most;
        if (l->width == 0 || full || l->n >= look_at) {
            MODAL_TRY(solve_projected(l, err));
            const int64_t n_converged = count_converged(l, how);
            if (n_converged == how->wanted) goto done;
            if (full && n_restarts == MOST_RESTARTS)
                MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: %lld of %lld converged in %d restarts", (long long)n_converged,
                           (long long)how->wanted, n_restarts);
            look_at = l->n + (l->n > SMALL ? 4 : 1) * WIDTH;
        }
        if (full) {
            MODAL_TRY(restart(l, kept(how->wanted), err));
            look_at = l->n + 2 * WIDTH;
            n_restarts++;
            problem->n_iterations++;
        }
        if (l->width == 0) MODAL_TRY(start(l, WIDTH, err)); /* OP leads nowhere else from here */
    }
done:
    return status;
}

modal_status ranks_lanczos_solve(ranks_problem *problem, Mat factor, const ranks_lanczos *how, modal_error *err)
{
    modal_status status = MODAL_OK;
    lanczos l = {.problem = problem, .factor = factor, .n_beside = problem->whole.n_rigid + problem->n_found, .most = most_columns(how->wanted)};
    MODAL_TRY(open_all(&l, err));
    MODAL_TRY(iterate(&l, how, err));
    MODAL_TRY(take(&l, how->wanted, err));
done:
    close_all(&l);
    return status;
}
