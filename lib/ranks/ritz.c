/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/ranks/ritz.h"

#include <math.h>
#include <petscblaslapack.h>
#include <string.h>

#include "lib/base/memory.h"

/* Of unit vectors: what is left of one that the others nearly have. */
static const double dependent = 1e-10;

modal_status ranks_ritz_new(int64_t block, ranks_ritz *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = 3 * block;
    r->block = block;
    MODAL_TRY(modal_alloc(&r->stiffness, n * n, sizeof(double), "Rayleigh-Ritz", err));
    MODAL_TRY(modal_alloc(&r->mass, n * n, sizeof(double), "Rayleigh-Ritz", err));
    MODAL_TRY(modal_alloc(&r->values, n, sizeof(double), "Rayleigh-Ritz", err));
    MODAL_TRY(modal_alloc(&r->coefficients, n * n, sizeof(double), "Rayleigh-Ritz", err));
    for (int k = 0; k < 4; k++) MODAL_TRY(modal_alloc(&r->scratch[k], n * n, sizeof(double), "Rayleigh-Ritz", err));
done:
    return status;
}

void ranks_ritz_free(ranks_ritz *r)
{
    modal_free(&r->stiffness);
    modal_free(&r->mass);
    modal_free(&r->values);
    modal_free(&r->coefficients);
    for (int k = 0; k < 4; k++) modal_free(&r->scratch[k]);
}

/* ---- dense matrices by columns ---- */

typedef struct sizes {
    int64_t rows, columns, depth;
} sizes;

/* c [rows, columns] = keep c + scale a b; `turned`: a^T b, a [depth, rows]. */
static void multiply(sizes s, int turned, double scale, const double *a, const double *b, double keep, double *c)
{
    const PetscBLASInt m = (PetscBLASInt)s.rows, n = (PetscBLASInt)s.columns, k = (PetscBLASInt)s.depth, lda = turned ? k : m;
    if (m > 0 && n > 0 && k > 0) BLASgemm_(turned ? "T" : "N", "N", &m, &n, &k, &scale, a, &lda, b, &k, &keep, c, &m);
}

/* a [n, n] becomes its eigenvectors, values ascend; work [n, n], n > 2. 0: done. */
static int find_eigenvectors(int64_t n, double *a, double *values, double *work, int64_t room)
{
    PetscBLASInt order = (PetscBLASInt)n, length = (PetscBLASInt)room, info = 0;
    LAPACKsyev_("V", "U", &order, a, &order, values, work, &length, &info);
    return (int)info;
}

static void reflect(int64_t n, double *a)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j + 1; i < n; i++) a[j * n + i] = a[i * n + j];
}

/* basis [n, count]: combinations of the unit vectors that are orthonormal in `mass`; gram [n, n] is used up, values[0] is its least eigenvalue.
 * -1: no numbers. */
static int64_t find_basis(int64_t n, double *gram, double *values, double *basis, double *work, int64_t room)
{
    int64_t count = 0;
    double *scale = basis; /* until the basis is made */
    for (int64_t i = 0; i < n; i++) {
        const double diagonal = gram[i * n + i];
        if (!(diagonal >= 0) || isinf(diagonal)) return -1;
        values[i] = diagonal > 0 ? 1 / sqrt(diagonal) : 0;
    }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) gram[j * n + i] *= values[i] * values[j];
    memcpy(scale, values, (size_t)n * sizeof *scale);
    /* rows of the eigenvectors are scaled at once: basis takes the place of `scale` */
    double *eigenvalues = values;
    if (find_eigenvectors(n, gram, eigenvalues, work, room) != 0) return -1;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) gram[j * n + i] *= scale[i];
    for (int64_t j = 0; j < n; j++) {
        if (!(eigenvalues[j] > dependent)) continue;
        for (int64_t i = 0; i < n; i++) basis[count * n + i] = gram[j * n + i] / sqrt(eigenvalues[j]);
        count++;
    }
    return count;
}

/* The part of the active columns' steps that is not in the new X, in coefficients after it. */
static int64_t find_directions(ranks_ritz *r, int64_t n, int64_t n_active, const int *active)
{
    const int64_t m = r->block, room = 9 * m * m;
    double *p = r->scratch[0], *by_mass = r->scratch[1], *products = r->scratch[2], *work = r->scratch[3];
    double *to = r->coefficients + m * n;
    if (n_active == 0) return 0;
    for (int64_t k = 0; k < n_active; k++)
        for (int64_t i = 0; i < n; i++) p[k * n + i] = i < m ? 0 : r->coefficients[active[k] * n + i];
    for (int pass = 0; pass < 2; pass++) {
        multiply((sizes){n, n_active, n}, 0, 1, r->mass, p, 0, by_mass);
        multiply((sizes){m, n_active, n}, 1, 1, r->coefficients, by_mass, 0, products);
        multiply((sizes){n, n_active, m}, 0, -1, r->coefficients, products, 1, p);
    }
    multiply((sizes){n, n_active, n}, 0, 1, r->mass, p, 0, by_mass);
    multiply((sizes){n_active, n_active, n}, 1, 1, p, by_mass, 0, products);
    const int64_t count = find_basis(n_active, products, by_mass, by_mass + n_active, work, room);
    if (count < 0) return -1;
    multiply((sizes){n, count, n_active}, 0, 1, p, by_mass + n_active, 0, to);
    return count;
}

/* 0: done. */
static int solve(ranks_ritz *r, int64_t n_p, int64_t n_w, const int *active)
{
    const int64_t m = r->block, n = m + n_p + n_w, room = 9 * m * m;
    double *basis = r->scratch[0], *gram = r->scratch[1], *half = r->scratch[1], *small = r->scratch[2], *work = r->scratch[3];
    reflect(n, r->stiffness);
    reflect(n, r->mass);
    memcpy(gram, r->mass, (size_t)(n * n) * sizeof *gram);
    const int64_t count = find_basis(n, gram, r->values, basis, work, room);
    r->least = r->values[0];
    if (count < m) return -1;
    multiply((sizes){n, count, n}, 0, 1, r->stiffness, basis, 0, half);
    multiply((sizes){count, count, n}, 1, 1, basis, half, 0, small);
    if (find_eigenvectors(count, small, r->values, work, room) != 0) return -1;
    multiply((sizes){n, m, count}, 0, 1, basis, small, 0, r->coefficients);
    r->n_directions = find_directions(r, n, n_w, active);
    return r->n_directions < 0;
}

modal_status ranks_ritz_solve(const ranks_problem *problem, ranks_ritz *r, int64_t n_p, int64_t n_w, const int *active, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t m = r->block, n = m + n_p + n_w;
    int failed = problem->rank == 0 ? solve(r, n_p, n_w, active) : 0;
    RANKS_TRY(MPI_Bcast(&failed, 1, MPI_INT, 0, problem->comm));
    if (failed)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: the vectors of LOBPCG have become dependent, as they may for slender solids and "
                   "flat elements; a factor may do (--route direct)");
    RANKS_TRY(MPI_Bcast(&r->n_directions, 1, MPI_INT64_T, 0, problem->comm));
    RANKS_TRY(MPI_Bcast(&r->least, 1, MPI_DOUBLE, 0, problem->comm));
    RANKS_TRY(MPI_Bcast(r->values, (int)m, MPI_DOUBLE, 0, problem->comm));
    RANKS_TRY(MPI_Bcast(r->coefficients, (int)((m + r->n_directions) * n), MPI_DOUBLE, 0, problem->comm));
done:
    return status;
}
