/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/ranks/product.h"

#include <petscsf.h>
#include <string.h>

#include "kernels/cpu.h"
#include "lib/base/memory.h"

enum { LANES = RANKS_LANES };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

/* Rows of a matrix with their own columns, or with those of other ranks, which are shifted to the ghosts. */
typedef struct part {
    Mat matrix; /* NULL: there are none */
    PetscInt n, shift;
    const PetscInt *rows, *columns;
    const double *values;
} part;

typedef void multiply(const part *p, int64_t first, int64_t count, const double *x, int64_t stride, int64_t n_columns, int adds, double *y);
typedef struct kernels {
    multiply *whole, *thin;
} kernels;

#define TARGET
#define NAME(x) x##_base
#include "lib/ranks/product_simd.h"
#if defined(MODAL_SIMD) && defined(__x86_64__)
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) x##_avx2
#include "lib/ranks/product_simd.h"
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma,prefer-vector-width=512")))
#define NAME(x) x##_avx512
#include "lib/ranks/product_simd.h"
#endif

static const kernels *choose_kernels(void)
{
#if defined(MODAL_SIMD) && defined(__x86_64__)
    switch (modal_cpu_simd()) {
    case MODAL_SIMD_AVX512: return &kernels_avx512;
    case MODAL_SIMD_AVX2: return &kernels_avx2;
    default: break;
    }
#endif
    return &kernels_base;
}

struct ranks_product {
    const kernels *kernels;
    part parts[2][2]; /* K, M; own columns, others */
    int64_t stride, n_own, n_ghosts; /* nodes */
    PetscSF ghosts; /* NULL: one rank */
    MPI_Datatype unit; /* a node's rows */
};

static void close_part(part *p)
{
    PetscInt n;
    PetscBool done;
    if (!p->matrix) return;
    MatRestoreRowIJ(p->matrix, 0, PETSC_FALSE, PETSC_FALSE, &n, &p->rows, &p->columns, &done);
    MatSeqAIJRestoreArrayRead(p->matrix, &p->values);
}

ranks_product *ranks_product_delete(ranks_product *p)
{
    if (!p) return NULL;
    for (int k = 0; k < 4; k++) close_part(&p->parts[k / 2][k % 2]);
    PetscSFDestroy(&p->ghosts);
    if (p->unit != MPI_DATATYPE_NULL) MPI_Type_free(&p->unit);
    modal_free(&p);
    return NULL;
}

static modal_status open_part(const ranks_problem *problem, Mat matrix, PetscInt shift, part *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    PetscBool done = PETSC_FALSE;
    RANKS_TRY(MatGetRowIJ(matrix, 0, PETSC_FALSE, PETSC_FALSE, &p->n, &p->rows, &p->columns, &done));
    RANKS_TRY(MatSeqAIJGetArrayRead(matrix, &p->values));
    p->matrix = matrix;
    p->shift = shift;
done:
    return status;
}

/* The own nodes' neighbours on other ranks, ascending: K and M have the same. */
static modal_status find_ghosts(const ranks_problem *problem, const PetscInt *columns, PetscInt n, ranks_product *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    PetscLayout layout = NULL;
    PetscInt *nodes = NULL;
    p->n_ghosts = n / 3;
    RANKS_OWN(modal_alloc(&nodes, p->n_ghosts, sizeof *nodes, "ghosts", err));
    for (int64_t k = 0; k < p->n_ghosts; k++) nodes[k] = columns[3 * k] / 3;
    RANKS_TRY(PetscLayoutCreate(problem->comm, &layout));
    RANKS_TRY(PetscLayoutSetLocalSize(layout, (PetscInt)p->n_own));
    RANKS_TRY(PetscLayoutSetUp(layout));
    RANKS_TRY(PetscSFCreate(problem->comm, &p->ghosts));
    RANKS_TRY(PetscSFSetGraphLayout(p->ghosts, layout, (PetscInt)p->n_ghosts, NULL, PETSC_COPY_VALUES, nodes));
    RANKS_TRY(PetscSFSetUp(p->ghosts));
done:
    PetscLayoutDestroy(&layout);
    modal_free(&nodes);
    return status;
}

modal_status ranks_product_new(const ranks_problem *problem, int64_t stride, ranks_product **product, modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_product *p = NULL;
    const Mat matrices[2] = {problem->stiffness, problem->mass};
    const PetscInt *ghosts[2];
    PetscInt n_ghosts[2], n;
    RANKS_OWN(modal_alloc_zero(&p, 1, sizeof *p, "products", err));
    *product = p;
    p->kernels = choose_kernels();
    p->unit = MPI_DATATYPE_NULL;
    p->stride = stride;
    p->n_own = problem->piece.n_own;
    RANKS_TRY(MPI_Type_contiguous((int)(3 * stride), MPI_DOUBLE, &p->unit));
    RANKS_TRY(MPI_Type_commit(&p->unit));
    for (int k = 0; k < 2; k++) {
        Mat own = matrices[k], other = NULL;
        if (problem->n_ranks > 1) RANKS_TRY(MatMPIAIJGetSeqAIJ(matrices[k], &own, &other, &ghosts[k]));
        MODAL_TRY(open_part(problem, own, 0, &p->parts[k][0], err));
        if (!other) continue;
        MODAL_TRY(open_part(problem, other, (PetscInt)(3 * p->n_own), &p->parts[k][1], err));
        RANKS_TRY(MatGetLocalSize(other, NULL, &n_ghosts[k]));
    }
    if (problem->n_ranks == 1) goto done;
    n = n_ghosts[0];
    if (n != n_ghosts[1] || n % 3 != 0 || memcmp(ghosts[0], ghosts[1], (size_t)n * sizeof *ghosts[0]) != 0)
        RANKS_OWN(modal_error_set(err, MODAL_ERROR_SYSTEM, "SLEPc: K and M have other neighbours, %lld and %lld", (long long)n,
                                  (long long)n_ghosts[1]));
    MODAL_TRY(find_ghosts(problem, ghosts[0], n, p, err));
done:
    return status;
}

int64_t ranks_product_ghosts(const ranks_product *p) { return 3 * p->n_ghosts; }

PetscErrorCode ranks_product_exchange(const ranks_product *p, double *x)
{
    double *ghosts = x + 3 * p->n_own * p->stride;
    if (!p->ghosts) return 0;
    PetscCall(PetscSFBcastBegin(p->ghosts, p->unit, x, ghosts, MPI_REPLACE));
    return PetscSFBcastEnd(p->ghosts, p->unit, x, ghosts, MPI_REPLACE);
}

void ranks_product_strip(const ranks_product *p, int is_mass, int64_t first, int64_t count, const double *x, int64_t n_columns, double *y)
{
    multiply *by = is_mass ? p->kernels->thin : p->kernels->whole;
    for (int k = 0; k < 2; k++)
        if (p->parts[is_mass][k].matrix) by(&p->parts[is_mass][k], first, count, x, p->stride, n_columns, k, y);
}
