/* SPDX-License-Identifier: Apache-2.0 */
/* A V-cycle for some vectors at a time, in float32. A cycle moves little but matrices: they are half as large as in float64,
 * and are read once for WIDTH vectors, whose values at a row lie side by side. What it gets and gives is scaled, so that
 * float32 holds it; that it is exact to seven digits only changes the steps of LOBPCG, not what they arrive at. */
#include <math.h>
#include <petscsf.h>
#include <string.h>

#include "kernels/cpu.h"
#include "lib/base/memory.h"
#include "lib/ranks/private.h"

enum { WIDTH = 8, STEPS = 2, MOST_SIDE = 6 };
typedef float lanes __attribute__((vector_size(WIDTH * sizeof(float)), may_alias));

/* A rank's rows of a matrix in blocks of br x bc numbers, each by columns: three rows a node, six an aggregate. Columns below n_in are
 * its own, the others it gets. */
typedef struct rows {
    int64_t n, n_in, n_ghosts;
    int br, bc;
    int64_t *offsets; /* [n / br + 1] */
    int32_t *columns; /* of blocks */
    float *values;
    PetscSF ghosts; /* of blocks; NULL: one rank */
    MPI_Datatype unit; /* bc times WIDTH floats */
} rows;

typedef struct level {
    int64_t n;
    int side;              /* of its blocks */
    rows matrix, up, down; /* from the coarser level and to it; the coarsest has none of them */
    float *inverse;        /* [n] of the diagonal */
    double high;           /* of the eigenvalues of inverse times matrix */
    lanes *x, *r, *d;      /* [n and ghosts] solution, residual, step */
} level;

typedef struct kernels {
    void (*multiply)(const rows *m, const lanes *x, int subtracts, lanes *y);
    void (*step)(int64_t n, const float *inverse, const lanes *r, float keep, float take, int first, lanes *d, lanes *x);
} kernels;

#define TARGET
#define NAME(x) x##_base
#include "lib/ranks/cycle_simd.h"
#if defined(MODAL_SIMD) && defined(__x86_64__)
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) x##_avx2
#include "lib/ranks/cycle_simd.h"
#endif

struct ranks_cycle {
    const ranks_problem *problem;
    const kernels *kernels;
    int n_levels;
    level *levels; /* [n_levels] the coarsest first */
    double scale;  /* that all matrices were divided by */
    KSP coarsest;
    Vec load, answer; /* of it */
};

static const kernels *choose_kernels(void)
{
#if defined(MODAL_SIMD) && defined(__x86_64__)
    if (modal_cpu_simd() >= MODAL_SIMD_AVX2) return &kernels_avx2;
#endif
    return &kernels_base;
}

static void free_rows(rows *r)
{
    modal_free(&r->offsets);
    modal_free(&r->columns);
    modal_free(&r->values);
    PetscSFDestroy(&r->ghosts);
    if (r->unit != MPI_DATATYPE_NULL && r->br > 0) MPI_Type_free(&r->unit);
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
    modal_free(&c);
    return NULL;
}

/* ---- set-up ---- */

/* The blocks of columns in a row of blocks, ascending, in `found`, which has room for them; *found NULL: only how many numbers there are. */
static modal_status list_blocks(const ranks_problem *problem, Mat matrix, PetscInt row, const rows *m, PetscInt *found, PetscInt *n, modal_error *err)
{
    modal_status status = MODAL_OK;
    *n = 0;
    for (PetscInt i = row; i < row + m->br; i++) {
        PetscInt width;
        const PetscInt *columns;
        RANKS_TRY(MatGetRow(matrix, i, &width, &columns, NULL));
        for (PetscInt k = 0; k < width && found; k++)
            if (*n == 0 || found[*n - 1] != columns[k] / m->bc) found[(*n)++] = columns[k] / m->bc;
        if (!found) *n += width;
        RANKS_TRY(MatRestoreRow(matrix, i, &width, &columns, NULL));
    }
    if (found) RANKS_TRY(PetscSortRemoveDupsInt(n, found));
done:
    return status;
}

/* Which blocks there are, by their numbers in the whole matrix. */
static modal_status list_columns(const ranks_problem *problem, Mat matrix, rows *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    PetscInt first, end, n, most = 0, *found = NULL;
    RANKS_TRY(MatGetOwnershipRange(matrix, &first, &end));
    RANKS_OWN(modal_alloc(&m->offsets, m->n / m->br + 1, sizeof *m->offsets, "cycle", err));
    for (PetscInt i = first; i < end; i += m->br) {
        MODAL_TRY(list_blocks(problem, matrix, i, m, NULL, &n, err));
        if (n > most) most = n;
    }
    RANKS_OWN(modal_alloc(&found, most, sizeof *found, "cycle", err));
    for (int pass = 0; pass < 2; pass++) {
        m->offsets[0] = 0;
        for (PetscInt i = first; i < end; i += m->br) {
            const int64_t at = (i - first) / m->br;
            MODAL_TRY(list_blocks(problem, matrix, i, m, found, &n, err));
            m->offsets[at + 1] = m->offsets[at] + n;
            for (PetscInt k = 0; k < n && pass == 1; k++) m->columns[m->offsets[at] + k] = (int32_t)found[k];
        }
        if (pass == 0) RANKS_OWN(modal_alloc(&m->columns, m->offsets[m->n / m->br], sizeof *m->columns, "cycle", err));
    }
done:
    modal_free(&found);
    return status;
}

/* The blocks of columns of other ranks, ascending, and how they come; columns become places on this rank. */
static modal_status find_ghosts(const ranks_problem *problem, PetscInt low, rows *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = m->offsets[m->n / m->br];
    const PetscInt n_in = (PetscInt)(m->n_in / m->bc);
    PetscInt *ghosts = NULL, n_ghosts = 0;
    PetscLayout layout = NULL;
    for (int64_t k = 0; k < n; k++) n_ghosts += m->columns[k] < low || m->columns[k] >= low + n_in;
    RANKS_OWN(modal_alloc(&ghosts, n_ghosts, sizeof *ghosts, "cycle", err));
    n_ghosts = 0;
    for (int64_t k = 0; k < n; k++)
        if (m->columns[k] < low || m->columns[k] >= low + n_in) ghosts[n_ghosts++] = m->columns[k];
    RANKS_TRY(PetscSortRemoveDupsInt(&n_ghosts, ghosts));
    m->n_ghosts = (int64_t)n_ghosts * m->bc;
    for (int64_t k = 0; k < n; k++) {
        PetscInt at = m->columns[k] - low;
        if (at < 0 || at >= n_in) {
            RANKS_TRY(PetscFindInt(m->columns[k], n_ghosts, ghosts, &at));
            at += n_in;
        }
        m->columns[k] = (int32_t)at;
    }
    if (problem->n_ranks == 1) goto done;
    RANKS_TRY(PetscLayoutCreate(problem->comm, &layout));
    RANKS_TRY(PetscLayoutSetLocalSize(layout, n_in));
    RANKS_TRY(PetscLayoutSetUp(layout));
    RANKS_TRY(PetscSFCreate(problem->comm, &m->ghosts));
    RANKS_TRY(PetscSFSetGraphLayout(m->ghosts, layout, n_ghosts, NULL, PETSC_COPY_VALUES, ghosts));
    RANKS_TRY(PetscSFSetUp(m->ghosts));
done:
    PetscLayoutDestroy(&layout);
    modal_free(&ghosts);
    return status;
}

/* Numbers of one row of the matrix into its blocks. `blocks`: their columns in the whole matrix, ascending. */
static void put_row(const rows *m, int64_t i, PetscInt width, const PetscInt *columns, const PetscScalar *values, const PetscInt *blocks, double scale)
{
    const int64_t first = m->offsets[i / m->br];
    int64_t at = 0;
    for (PetscInt k = 0; k < width; k++) { /* columns ascend */
        while (blocks[at] != columns[k] / m->bc) at++;
        m->values[((first + at) * m->bc + columns[k] % m->bc) * m->br + i % m->br] = (float)(values[k] / scale);
    }
}

static modal_status copy_rows(const ranks_problem *problem, Mat matrix, int br, int bc, double scale, rows *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    PetscInt first, end, low, high, *blocks = NULL;
    RANKS_TRY(MatGetOwnershipRange(matrix, &first, &end));
    RANKS_TRY(MatGetOwnershipRangeColumn(matrix, &low, &high));
    m->n = end - first;
    m->n_in = high - low;
    m->br = br;
    m->bc = bc;
    m->unit = MPI_DATATYPE_NULL;
    RANKS_TRY(MPI_Type_contiguous(bc * WIDTH, MPI_FLOAT, &m->unit));
    RANKS_TRY(MPI_Type_commit(&m->unit));
    MODAL_TRY(list_columns(problem, matrix, m, err));
    const int64_t n = m->offsets[m->n / br];
    RANKS_OWN(modal_alloc(&blocks, n, sizeof *blocks, "cycle", err));
    for (int64_t k = 0; k < n; k++) blocks[k] = m->columns[k];
    MODAL_TRY(find_ghosts(problem, low / bc, m, err));
    RANKS_OWN(modal_alloc_zero(&m->values, n * br * bc, sizeof *m->values, "cycle", err));
    for (PetscInt i = first; i < end; i++) {
        PetscInt width;
        const PetscInt *columns;
        const PetscScalar *values;
        RANKS_TRY(MatGetRow(matrix, i, &width, &columns, &values));
        put_row(m, i - first, width, columns, values, blocks + m->offsets[(i - first) / br], scale);
        RANKS_TRY(MatRestoreRow(matrix, i, &width, &columns, &values));
    }
done:
    modal_free(&blocks);
    return status;
}

/* Three rows a node on the finest level, six an aggregate on the others, whether or not the matrix says so (one that hypre made does
 * not). One where ranks have parts of six: any side is right, since what a block lacks is zero. */
static modal_status find_side(const ranks_problem *problem, Mat matrix, int *side, modal_error *err)
{
    modal_status status = MODAL_OK;
    PetscInt found = 1, n;
    int parts, any;
    RANKS_TRY(MatGetBlockSize(matrix, &found));
    RANKS_TRY(MatGetLocalSize(matrix, &n, NULL));
    parts = n % MOST_SIDE != 0;
    RANKS_TRY(MPI_Allreduce(&parts, &any, 1, MPI_INT, MPI_MAX, problem->comm));
    *side = found == 3 ? 3 : any ? 1 : MOST_SIDE;
done:
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
    MODAL_TRY(find_side(problem, matrix, &l->side, err));
    if (k == 0) {
        MODAL_TRY(factor_coarsest(c, matrix, err));
    } else {
        KSP coarser;
        Mat below;
        int side = 1;
        RANKS_TRY(PCMGGetSmoother(grid, k - 1, &coarser));
        RANKS_TRY(KSPGetOperators(coarser, NULL, &below));
        MODAL_TRY(find_side(problem, below, &side, err));
        MODAL_TRY(copy_rows(problem, matrix, l->side, l->side, c->scale, &l->matrix, err));
        RANKS_TRY(PCMGGetInterpolation(grid, k, &up));
        MODAL_TRY(copy_rows(problem, up, l->side, side, 1, &l->up, err));
        RANKS_TRY(MatTranspose(up, MAT_INITIAL_MATRIX, &down));
        MODAL_TRY(copy_rows(problem, down, side, l->side, 1, &l->down, err));
        MODAL_TRY(find_smoother(problem, matrix, c->scale, l, err));
    }
    int64_t most = l->matrix.n_ghosts > l->down.n_ghosts ? l->matrix.n_ghosts : l->down.n_ghosts;
    if (k + 1 < c->n_levels && c->levels[k + 1].up.n_ghosts > most) most = c->levels[k + 1].up.n_ghosts;
    RANKS_OWN(modal_alloc(&l->x, l->n + most, sizeof *l->x, "cycle", err));
    RANKS_OWN(modal_alloc(&l->r, l->n + most, sizeof *l->r, "cycle", err));
    RANKS_OWN(modal_alloc(&l->d, l->n + most, sizeof *l->d, "cycle", err));
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
    c->kernels = choose_kernels();
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
static PetscErrorCode exchange(const rows *m, lanes *x)
{
    if (!m->ghosts) return 0;
    PetscCall(PetscSFBcastBegin(m->ghosts, m->unit, x, x + m->n_in, MPI_REPLACE));
    return PetscSFBcastEnd(m->ghosts, m->unit, x, x + m->n_in, MPI_REPLACE);
}

static void step(const ranks_cycle *c, level *l, double keep, double take, int first)
{
    c->kernels->step(l->n, l->inverse, l->r, (float)keep, (float)take, first, l->d, l->x);
}

/* Chebyshev's steps for the upper part of the spectrum; r is left as it was before the last of them. */
static PetscErrorCode smooth(const ranks_cycle *c, level *l, int from_zero)
{
    const double high = 1.1 * l->high, low = 0.1 * l->high, middle = 0.5 * (high + low), half = 0.5 * (high - low);
    double rho = half / middle;
    step(c, l, 0, 1 / middle, from_zero);
    for (int k = 1; k < STEPS; k++) {
        const double next = 1 / (2 * middle / half - rho);
        PetscCall(exchange(&l->matrix, l->d));
        c->kernels->multiply(&l->matrix, l->d, 1, l->r);
        step(c, l, next * rho, 2 * next / half, 0);
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
        for (int64_t i = 0; i < l->n; i++) to[i] = l->r[i][j];
        PetscCall(VecRestoreArrayWrite(c->load, &to));
        PetscCall(KSPSolve(c->coarsest, c->load, c->answer));
        PetscCall(VecGetArrayRead(c->answer, &from));
        for (int64_t i = 0; i < l->n; i++) l->x[i][j] = (float)(from[i] * c->scale);
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
        PetscCall(exchange(&l->matrix, l->d));
        c->kernels->multiply(&l->matrix, l->d, 1, l->r);
        PetscCall(exchange(&l->down, l->r));
        c->kernels->multiply(&l->down, l->r, 0, c->levels[k - 1].r);
    }
    PetscCall(solve_coarsest(c, &c->levels[0]));
    for (int k = 1; k < c->n_levels; k++) {
        level *l = &c->levels[k];
        PetscCall(exchange(&l->up, c->levels[k - 1].x));
        c->kernels->multiply(&l->up, c->levels[k - 1].x, 0, l->d);
        for (int64_t i = 0; i < l->n; i++) l->x[i] += l->d[i];
        PetscCall(exchange(&l->matrix, l->d));
        c->kernels->multiply(&l->matrix, l->d, 1, l->r);
        PetscCall(smooth(c, l, 0));
    }
    return 0;
}

PetscErrorCode ranks_cycle_apply(ranks_cycle *c, int64_t n, const int *columns, double *x, int64_t stride)
{
    level *finest = &c->levels[c->n_levels - 1];
    for (int64_t at = 0; at < n; at += WIDTH) {
        const int width = n - at < WIDTH ? (int)(n - at) : WIDTH;
        double own[WIDTH] = {0}, size[WIDTH];
        for (int64_t i = 0; i < finest->n; i++)
            for (int j = 0; j < width; j++) own[j] = fmax(own[j], fabs(x[i * stride + columns[at + j]]));
        PetscCallMPI(MPI_Allreduce(own, size, WIDTH, MPI_DOUBLE, MPI_MAX, c->problem->comm));
        for (int64_t i = 0; i < finest->n; i++)
            for (int j = 0; j < WIDTH; j++)
                finest->r[i][j] = j < width && size[j] > 0 ? (float)(x[i * stride + columns[at + j]] / size[j]) : 0;
        PetscCall(run(c));
        for (int64_t i = 0; i < finest->n; i++)
            for (int j = 0; j < width; j++) x[i * stride + at + j] = finest->x[i][j] * (size[j] / c->scale);
    }
    return 0;
}
