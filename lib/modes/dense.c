/* SPDX-License-Identifier: Apache-2.0 */
/* Small symmetric problems by LAPACK's divide and conquer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/modes/problem.h"

/* Fortran LAPACK; the lengths of the two character arguments come last. Declared here because its C
 * interface is a package of its own. */
extern void dsygvd_(const int *type, const char *job, const char *triangle, const int *n, double *a,
                    const int *lda, double *b, const int *ldb, double *eigenvalues, double *work,
                    const int *n_work, int *iwork, const int *n_iwork, int *info, size_t job_length,
                    size_t triangle_length);

extern void dsyevd_(const char *job, const char *triangle, const int *n, double *a, const int *lda,
                    double *eigenvalues, double *work, const int *n_work, int *iwork,
                    const int *n_iwork, int *info, size_t job_length, size_t triangle_length);

modal_status modal_modes_symmetric(int64_t n64, double *a, double *eigenvalues, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int n = (int)n64, n_iwork = 3 + 5 * n;
    const int64_t n_work = 1 + 6 * n64 + 2 * n64 * n64;
    double *work = NULL;
    int *iwork = NULL, info = 0;
    if (n_work > INT32_MAX)
        return modal_error_set(err, MODAL_ERROR_MEMORY, "projected eigenproblem: %d unknowns", n);
    const int n_work32 = (int)n_work;
    MODAL_TRY(modal_alloc(&work, n_work, sizeof *work, "projected eigenproblem", err));
    MODAL_TRY(modal_alloc(&iwork, n_iwork, sizeof *iwork, "projected eigenproblem", err));
    dsyevd_("V", "L", &n, a, &n, eigenvalues, work, &n_work32, iwork, &n_iwork, &info, 1, 1);
    if (info != 0)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "projected eigenproblem: %d unknowns, dsyevd info %d",
                   n, info);
done:
    modal_free(&work);
    modal_free(&iwork);
    return status;
}

modal_status modal_modes_small(int64_t n64, double *a, double *b, double *eigenvalues,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    const int n = (int)n64, type = 1, n_iwork = 3 + 5 * n;
    const int64_t n_work = 1 + 6 * n64 + 2 * n64 * n64;
    double *work = NULL;
    int *iwork = NULL, info = 0;
    if (n_work > INT32_MAX)
        return modal_error_set(err, MODAL_ERROR_MEMORY, "dense eigenproblem: %d unknowns", n);
    const int n_work32 = (int)n_work;
    MODAL_TRY(modal_alloc(&work, n_work, sizeof *work, "dense eigenproblem", err));
    MODAL_TRY(modal_alloc(&iwork, n_iwork, sizeof *iwork, "dense eigenproblem", err));
    dsygvd_(&type, "V", "L", &n, a, &n, b, &n, eigenvalues, work, &n_work32, iwork, &n_iwork, &info,
            1, 1);
    if (info != 0)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "dense eigenproblem: %d unknowns, dsygvd info %d",
                   n, info);
done:
    modal_free(&work);
    modal_free(&iwork);
    return status;
}

static void expand(const modal_modes_problem *problem, double *k, double *m)
{
    const modal_fem_system *system = &problem->system;
    const modal_block_pattern *pattern = &system->pattern;
    const int64_t n = problem->n;
    for (int64_t j = 0; j < pattern->n_nodes; j++)
        for (int64_t at = pattern->offsets[j]; at < pattern->offsets[j + 1]; at++)
            for (int q = 0; q < 3; q++) {
                const int64_t place = (3 * j + q) * n + 3 * (int64_t)pattern->rows[at];
                for (int p = 0; p < 3; p++) k[place + p] = system->stiffness[9 * at + 3 * p + q];
                m[place + q] = modal_block_mass(pattern, system->mass[at], pattern->rows[at], j, q);
            }
}

static int compare_magnitudes(const void *a, const void *b)
{
    const double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

modal_status modal_modes_dense(const modal_modes_problem *problem, int32_t n_wanted, double *vectors,
                               modal_modes_guard *guard, double *rigid_eigenvalues, int64_t *n_zero, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = problem->n, n_rigid = problem->rigid.n_rigid;
    double *k = NULL, *m = NULL, *eigenvalues = NULL;
    MODAL_TRY(modal_alloc_zero(&k, n * n, sizeof *k, "dense stiffness", err));
    MODAL_TRY(modal_alloc_zero(&m, n * n, sizeof *m, "dense mass", err));
    MODAL_TRY(modal_alloc(&eigenvalues, n, sizeof *eigenvalues, "eigenvalues", err));
    expand(problem, k, m);
    MODAL_TRY(modal_modes_small(n, k, m, eigenvalues, err));
    /* LAPACK's error is a few roundings of the largest eigenvalue; a product K phi has less */
    *n_zero = 0;
    while (*n_zero < n && eigenvalues[*n_zero] <= 4 * problem->zero_level) ++*n_zero;
    memcpy(rigid_eigenvalues, eigenvalues, (size_t)n_rigid * sizeof *eigenvalues);
    qsort(rigid_eigenvalues, (size_t)n_rigid, sizeof *rigid_eigenvalues, compare_magnitudes);
    guard->count = 0;
    for (int64_t i = n_rigid + n_wanted; i < n && guard->count < MODAL_GUARD; i++) {
        guard->eigenvalues[guard->count] = eigenvalues[i];
        guard->errors[guard->count++] = 4 * problem->zero_level / eigenvalues[i];
    }
    memcpy(vectors, k + n_rigid * n, (size_t)(n_wanted * n) * sizeof *vectors);
done:
    modal_free(&k);
    modal_free(&m);
    modal_free(&eigenvalues);
    return status;
}
