/* SPDX-License-Identifier: Apache-2.0 */
/* A V-cycle for some vectors at a time, in float32. A cycle moves little but matrices: they are half as large as in float64,
 * and are read once for WIDTH vectors, whose values at a row lie side by side. What it gets and gives is scaled, so that
 * float32 holds it; that it is exact to seven digits only changes the steps of LOBPCG, not what they arrive at. */
#include <math.h>
#include <petscsf.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/ranks/private.h"

enum { WIDTH = 8, STEPS = 2 };

/* A rank's rows of a matrix; columns below n_in are its own, the others it gets. */
typedef struct rows {
    int64_t n, n_in, n_ghosts;
    int64_t *offsets; /* [n + 1] */
    int32_t *columns;
    float *values;
    PetscSF ghosts; /* NULL: one rank */
} rows;

typedef struct level {
    int64_t n;
    rows matrix, up, down; /* from the coarser level and to it; the coarsest has none of them */
    float *inverse;        /* [n] of the diagonal */
    double high;           /* of the eigenvalues of inverse times matrix */
    float *x, *r, *d;      /* [n and ghosts, WIDTH] solution, residual, step */
} level;

struct ranks_cycle {
    const ranks_problem *problem;
    int n_levels;
    level *levels; /* [n_levels] the coarsest first */
    double scale;  /* that all matrices were divided by */
    KSP coarsest;
    Vec load, answer; /* of it */
    MPI_Datatype unit; /* WIDTH floats */
};

static void free_rows(rows *r)
{
    modal_free(&r->offsets);
    modal_free(&r->columns);
    modal_free(&r->values);
    PetscSFDestroy(&r->ghosts);
}

ranks_cycle *ranks_cycle_delete(ranks_cycle *c)
{
    if (!c) return NULL;
    for (int k = 0; c->levels && k < c->n_levels; k++) {
        level *l = &c->levels[k];
        free_rows(&l->matrix);
        free_rows(&l->up);
        free_rows(&l->down);
        modal_free(&l->inverse);
        modal_free(&l->x);
        modal_free(&l->r);
        modal_free(&l->d);
    }
    modal_free(&c->levels);
    KSPDestroy(&c->coarsest);
    VecDestroy(&c->load);
    VecDestroy(&c->answer);
    if (c->unit != MPI_DATATYPE_NULL) MPI_Type_free(&c->unit);
    modal_free(&c);
    return NULL;
}

/* ---- set-up ---- */

/* The columns of other ranks, ascending, and how they come. */
static modal_status find_ghosts(const ranks_problem *problem, Mat matrix, rows *m, PetscInt **ghosts, modal_error *err)
{
    modal_status status = MODAL_OK;
    PetscInt first, end, low, high, n = 0;
    PetscLayout layout;
    RANKS_TRY(MatGetOwnershipRange(matrix, &first, &end));
    RANKS_TRY(MatGetOwnershipRangeColumn(matrix, &low, &high));
    m->n = end - first;
    m->n_in = high - low;
    RANKS_OWN(modal_alloc(&m->offsets, m->n + 1, sizeof *m->offsets, "cycle", err));
    for (int pass = 0; pass < 2; pass++) {
        m->offsets[0] = 0;
        n = 0;
        for (PetscInt i = first; i < end; i++) {
            PetscInt width;
            const PetscInt *columns;
            RANKS_TRY(MatGetRow(matrix, i, &width, &columns, NULL));
            m->offsets[i - first + 1] = m->offsets[i - first] + width;
            for (PetscInt k = 0; k < width; k++) {
                if (columns[k] >= low && columns[k] < high) continue;
                if (pass == 1) (*ghosts)[n] = columns[k];
                n++;
            }
            RANKS_TRY(MatRestoreRow(matrix, i, &width, &columns, NULL));
        }
        if (pass == 0) RANKS_OWN(modal_alloc(ghosts, n, sizeof **ghosts, "cycle", err));
    }
    RANKS_TRY(PetscSortRemoveDupsInt(&n, *ghosts));
    m->n_ghosts = n;
    if (problem->n_ranks == 1) goto done;
    RANKS_TRY(MatGetLayouts(matrix, NULL, &layout));
    RANKS_TRY(PetscSFCreate(problem->comm, &m->ghosts));
    RANKS_TRY(PetscSFSetGraphLayout(m->ghosts, layout, n, NULL, PETSC_COPY_VALUES, *ghosts));
    RANKS_TRY(PetscSFSetUp(m->ghosts));
done:
    return status;
}

static modal_status copy_rows(const ranks_problem *problem, Mat matrix, double scale, rows *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    PetscInt *ghosts = NULL, first, end, low, high;
    MODAL_TRY(find_ghosts(problem, matrix, m, &ghosts, err));
    RANKS_OWN(modal_alloc(&m->columns, m->offsets[m->n], sizeof *m->columns, "cycle", err));
    RANKS_OWN(modal_alloc(&m->values, m->offsets[m->n], sizeof *m->values, "cycle", err));
    RANKS_TRY(MatGetOwnershipRange(matrix, &first, &end));
    RANKS_TRY(MatGetOwnershipRangeColumn(matrix, &low, &high));
    for (PetscInt i = first; i < end; i++) {
        PetscInt width, at;
        const PetscInt *columns;
        const PetscScalar *values;
        RANKS_TRY(MatGetRow(matrix, i, &width, &columns, &values));
        for (PetscInt k = 0; k < width; k++) {
            const int64_t to = m->offsets[i - first] + k;
            if (columns[k] >= low && columns[k] < high) at = columns[k] - low;
            else {
                RANKS_TRY(PetscFindInt(columns[k], (PetscInt)m->n_ghosts, ghosts, &at));
                at += high - low;
            }
            m->columns[to] = (int32_t)at;
            m->values[to] = (float)(values[k] / scale);
        }
        RANKS_TRY(MatRestoreRow(matrix, i, &width, &columns, &values));
    }
done:
    modal_free(&ghosts);
    return status;
}

/* The diagonal's inverse, and ten steps of conjugate gradients for the highest eigenvalue with it. Where coarse levels have
 * nothing (an aggregate of one node cannot turn) nothing is smoothed. */
static modal_status find_smoother(const ranks_problem *problem, Mat matrix, double scale, level *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    Vec diagonal = NULL, load = NULL;
    KSP ksp = NULL;
    PC pc;
    const PetscScalar *values;
    PetscReal low;
    RANKS_OWN(modal_alloc(&l->inverse, l->n, sizeof *l->inverse, "cycle", err));
    RANKS_TRY(MatCreateVecs(matrix, &load, &diagonal));
    RANKS_TRY(MatGetDiagonal(matrix, diagonal));
    RANKS_TRY(VecGetArrayRead(diagonal, &values));
    for (int64_t i = 0; i < l->n; i++) l->inverse[i] = values[i] > 0 ? (float)(scale / values[i]) : 0;
    RANKS_TRY(VecRestoreArrayRead(diagonal, &values));
    RANKS_TRY(KSPCreate(problem->comm, &ksp));
    RANKS_TRY(KSPSetOperators(ksp, matrix, matrix));
    RANKS_TRY(KSPSetType(ksp, KSPCG));
    RANKS_TRY(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
    RANKS_TRY(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 10));
    RANKS_TRY(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
    RANKS_TRY(KSPGetPC(ksp, &pc));
    RANKS_TRY(PCSetType(pc, PCJACOBI));
    RANKS_TRY(VecSetRandom(load, NULL));
    RANKS_TRY(KSPSolve(ksp, load, diagonal));
    RANKS_TRY(KSPComputeExtremeSingularValues(ksp, &l->high, &low));
done:
    KSPDestroy(&ksp);
    VecDestroy(&load);
    VecDestroy(&diagonal);
    return status;
}

/* As GAMG solves it: a factor on each rank, of a matrix that may have empty rows. Of a copy: the product that it is in GAMG
 * holds the finer levels. */
static modal_status factor_coarsest(ranks_cycle *c, Mat product, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = c->problem;
    Mat matrix = NULL;
    KSP inner;
    PC pc;
    RANKS_TRY(MatDuplicate(product, MAT_COPY_VALUES, &matrix));
    RANKS_TRY(KSPCreate(problem->comm, &c->coarsest));
    RANKS_TRY(KSPSetOperators(c->coarsest, matrix, matrix));
    RANKS_TRY(KSPSetType(c->coarsest, KSPPREONLY));
    RANKS_TRY(KSPGetPC(c->coarsest, &pc));
    RANKS_TRY(PCSetType(pc, PCREDUNDANT));
    RANKS_TRY(PCRedundantGetKSP(pc, &inner));
    RANKS_TRY(KSPGetPC(inner, &pc));
    RANKS_TRY(PCSetType(pc, PCLU));
    RANKS_TRY(PCFactorSetShiftType(pc, MAT_SHIFT_INBLOCKS));
    RANKS_TRY(KSPSetUp(c->coarsest));
    RANKS_TRY(MatCreateVecs(matrix, &c->answer, &c->load));
done:
    MatDestroy(&matrix);
    return status;
}

static modal_status make_level(ranks_cycle *c, PC grid, int k, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = c->problem;
    level *l = &c->levels[k];
    KSP smoother;
    Mat matrix, up, down = NULL;
    PetscInt first, end;
    RANKS_TRY(PCMGGetSmoother(grid, k, &smoother));
    RANKS_TRY(KSPGetOperators(smoother, NULL, &matrix));
    RANKS_TRY(MatGetOwnershipRange(matrix, &first, &end));
    l->n = end - first;
    if (k == 0) {
        MODAL_TRY(factor_coarsest(c, matrix, err));
    } else {
        RANKS_TRY(PCMGGetInterpolation(grid, k, &up));
        RANKS_TRY(MatTranspose(up, MAT_INITIAL_MATRIX, &down));
        MODAL_TRY(copy_rows(problem, matrix, c->scale, &l->matrix, err));
        MODAL_TRY(copy_rows(problem, up, 1, &l->up, err));
        MODAL_TRY(copy_rows(problem, down, 1, &l->down, err));
        MODAL_TRY(find_smoother(problem, matrix, c->scale, l, err));
    }
    int64_t most = l->matrix.n_ghosts > l->down.n_ghosts ? l->matrix.n_ghosts : l->down.n_ghosts;
    if (k + 1 < c->n_levels && c->levels[k + 1].up.n_ghosts > most) most = c->levels[k + 1].up.n_ghosts;
    RANKS_OWN(modal_alloc(&l->x, (l->n + most) * WIDTH, sizeof *l->x, "cycle", err));
    RANKS_OWN(modal_alloc(&l->r, (l->n + most) * WIDTH, sizeof *l->r, "cycle", err));
    RANKS_OWN(modal_alloc(&l->d, (l->n + most) * WIDTH, sizeof *l->d, "cycle", err));
done:
    MatDestroy(&down);
    return status;
}

modal_status ranks_cycle_new(const ranks_problem *problem, PC grid, ranks_cycle **cycle, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_cycle *c = NULL;
    PetscInt n_levels;
    KSP finest;
    Mat matrix;
    RANKS_OWN(modal_alloc_zero(&c, 1, sizeof *c, "cycle", err));
    *cycle = c;
    c->problem = problem;
    c->unit = MPI_DATATYPE_NULL;
    RANKS_TRY(MPI_Type_contiguous(WIDTH, MPI_FLOAT, &c->unit));
    RANKS_TRY(MPI_Type_commit(&c->unit));
    RANKS_TRY(PCMGGetLevels(grid, &n_levels));
    c->n_levels = n_levels;
    RANKS_OWN(modal_alloc_zero(&c->levels, n_levels, sizeof *c->levels, "cycle", err));
    RANKS_TRY(PCMGGetSmoother(grid, n_levels - 1, &finest));
    RANKS_TRY(KSPGetOperators(finest, NULL, &matrix));
    RANKS_TRY(MatNorm(matrix, NORM_INFINITY, &c->scale));
    for (int k = c->n_levels - 1; k >= 0; k--) MODAL_TRY(make_level(c, grid, k, err));
done:
    return status;
}

/* ---- the cycle ---- */

/* The values of other ranks' rows, after the own ones. */
static PetscErrorCode exchange(const ranks_cycle *c, const rows *m, float *x)
{
    if (!m->ghosts) return 0;
    PetscCall(PetscSFBcastBegin(m->ghosts, c->unit, x, x + m->n_in * WIDTH, MPI_REPLACE));
    return PetscSFBcastEnd(m->ghosts, c->unit, x, x + m->n_in * WIDTH, MPI_REPLACE);
}

/* y = m x, or y -= m x. */
static void multiply(const rows *m, const float *restrict x, int subtracts, float *restrict y)
{
    for (int64_t i = 0; i < m->n; i++) {
        float sum[WIDTH] = {0};
        for (int64_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
            const float value = m->values[k], *from = x + (int64_t)m->columns[k] * WIDTH;
            for (int j = 0; j < WIDTH; j++) sum[j] += value * from[j];
        }
        for (int j = 0; j < WIDTH; j++) y[i * WIDTH + j] = subtracts ? y[i * WIDTH + j] - sum[j] : sum[j];
    }
}

/* d = keep d + take inverse r, and x = d or x += d. */
static void step(level *l, double keep, double take, int first)
{
    const float kept = (float)keep, taken = (float)take;
    for (int64_t i = 0; i < l->n; i++) {
        const float weight = taken * l->inverse[i];
        float *x = l->x + i * WIDTH, *d = l->d + i * WIDTH, *r = l->r + i * WIDTH;
        for (int j = 0; j < WIDTH; j++) {
            d[j] = (kept == 0 ? 0 : kept * d[j]) + weight * r[j];
            x[j] = first ? d[j] : x[j] + d[j];
        }
    }
}

/* Chebyshev's steps for the upper part of the spectrum; r is left as it was before the last of them. */
static PetscErrorCode smooth(const ranks_cycle *c, level *l, int from_zero)
{
    const double high = 1.1 * l->high, low = 0.1 * l->high, middle = 0.5 * (high + low), half = 0.5 * (high - low);
    double rho = half / middle;
    step(l, 0, 1 / middle, from_zero);
    for (int k = 1; k < STEPS; k++) {
        const double next = 1 / (2 * middle / half - rho);
        PetscCall(exchange(c, &l->matrix, l->d));
        multiply(&l->matrix, l->d, 1, l->r);
        step(l, next * rho, 2 * next / half, 0);
        rho = next;
    }
    return 0;
}

static PetscErrorCode solve_coarsest(const ranks_cycle *c, level *l)
{
    for (int j = 0; j < WIDTH; j++) {
        PetscScalar *to;
        const PetscScalar *from;
        PetscCall(VecGetArrayWrite(c->load, &to));
        for (int64_t i = 0; i < l->n; i++) to[i] = l->r[i * WIDTH + j];
        PetscCall(VecRestoreArrayWrite(c->load, &to));
        PetscCall(KSPSolve(c->coarsest, c->load, c->answer));
        PetscCall(VecGetArrayRead(c->answer, &from));
        for (int64_t i = 0; i < l->n; i++) l->x[i * WIDTH + j] = (float)(from[i] * c->scale);
        PetscCall(VecRestoreArrayRead(c->answer, &from));
    }
    return 0;
}

/* From r of the finest level to its x; its r is used up. */
static PetscErrorCode run(ranks_cycle *c)
{
    for (int k = c->n_levels - 1; k > 0; k--) {
        level *l = &c->levels[k];
        PetscCall(smooth(c, l, 1));
        PetscCall(exchange(c, &l->matrix, l->d));
        multiply(&l->matrix, l->d, 1, l->r);
        PetscCall(exchange(c, &l->down, l->r));
        multiply(&l->down, l->r, 0, c->levels[k - 1].r);
    }
    PetscCall(solve_coarsest(c, &c->levels[0]));
    for (int k = 1; k < c->n_levels; k++) {
        level *l = &c->levels[k];
        PetscCall(exchange(c, &l->up, c->levels[k - 1].x));
        multiply(&l->up, c->levels[k - 1].x, 0, l->d);
        for (int64_t i = 0; i < l->n * WIDTH; i++) l->x[i] += l->d[i];
        PetscCall(exchange(c, &l->matrix, l->d));
        multiply(&l->matrix, l->d, 1, l->r);
        PetscCall(smooth(c, l, 0));
    }
    return 0;
}

PetscErrorCode ranks_cycle_apply(ranks_cycle *c, int64_t n, const double *x, int64_t stride_x, double *y, int64_t stride_y)
{
    level *finest = &c->levels[c->n_levels - 1];
    for (int64_t at = 0; at < n; at += WIDTH) {
        const int width = n - at < WIDTH ? (int)(n - at) : WIDTH;
        double own[WIDTH] = {0}, size[WIDTH];
        for (int j = 0; j < width; j++)
            for (int64_t i = 0; i < finest->n; i++) own[j] = fmax(own[j], fabs(x[(at + j) * stride_x + i]));
        PetscCallMPI(MPI_Allreduce(own, size, WIDTH, MPI_DOUBLE, MPI_MAX, c->problem->comm));
        for (int j = 0; j < WIDTH; j++)
            for (int64_t i = 0; i < finest->n; i++)
                finest->r[i * WIDTH + j] = j < width && size[j] > 0 ? (float)(x[(at + j) * stride_x + i] / size[j]) : 0;
        PetscCall(run(c));
        for (int j = 0; j < width; j++)
            for (int64_t i = 0; i < finest->n; i++)
                y[(at + j) * stride_y + i] = finest->x[i * WIDTH + j] * (size[j] / c->scale);
    }
    return 0;
}
