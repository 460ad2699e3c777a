/* SPDX-License-Identifier: Apache-2.0 */
/* The whole generalised problem, dense: Cholesky's factor of M turns it into an ordinary one. Factor and
 * substitutions halve their matrices until those are small, so that all but a little is products. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/modes/problem.h"
#include "lib/modes/products.h"
#include "lib/modes/symmetric.h"

enum { LEAF = 24 };

/* x [columns, n], `stride` apart, becomes L^-1 x. */
static void solve_lower(int64_t n, const double *l, int64_t l_stride, int64_t columns, double *x, int64_t stride,
                        double *room)
{
    if (n > LEAF) {
        const int64_t half = n / 2, rest = n - half;
        solve_lower(half, l, l_stride, columns, x, stride, room);
        modal_product((modal_product_sizes){rest, columns, half}, -1, modal_by_columns(l + half, l_stride),
                      modal_by_columns(x, stride), 1,
                      x + half, stride, room);
        solve_lower(rest, l + half * l_stride + half, l_stride, columns, x + half, stride, room);
        return;
    }
    for (int64_t c = 0; c < columns; c++, x += stride)
        for (int64_t j = 0; j < n; j++) {
            x[j] /= l[j * l_stride + j];
            for (int64_t i = j + 1; i < n; i++) x[i] -= l[j * l_stride + i] * x[j];
        }
}

/* x becomes L^-T x. */
static void solve_upper(int64_t n, const double *l, int64_t l_stride, int64_t columns, double *x, int64_t stride,
                        double *room)
{
    if (n > LEAF) {
        const int64_t half = n / 2, rest = n - half;
        solve_upper(rest, l + half * l_stride + half, l_stride, columns, x + half, stride, room);
        modal_product((modal_product_sizes){half, columns, rest}, -1, modal_transposed(modal_by_columns(l + half, l_stride)),
                      modal_by_columns(x + half, stride), 1, x, stride, room);
        solve_upper(half, l, l_stride, columns, x, stride, room);
        return;
    }
    for (int64_t c = 0; c < columns; c++, x += stride)
        for (int64_t j = n - 1; j >= 0; j--) {
            for (int64_t i = j + 1; i < n; i++) x[j] -= l[j * l_stride + i] * x[i];
            x[j] /= l[j * l_stride + j];
        }
}

static void transpose(int64_t n, double *a)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j + 1; i < n; i++) {
            const double swap = a[j * n + i];
            a[j * n + i] = a[i * n + j];
            a[i * n + j] = swap;
        }
}

/* The lower triangle of a becomes L with L L^T = a. Returns the first column whose pivot is not > 0, or -1. */
static int64_t cholesky(int64_t n, double *a, int64_t stride, double *room, double *work)
{
    if (n > LEAF) {
        const int64_t half = n / 2, rest = n - half;
        int64_t bad = cholesky(half, a, stride, room, work);
        if (bad >= 0) return bad;
        /* rows below: L21 = A21 L11^-T, by columns of its transpose */
        for (int64_t i = 0; i < rest; i++)
            for (int64_t j = 0; j < half; j++) work[i * half + j] = a[j * stride + half + i];
        solve_lower(half, a, stride, rest, work, half, room);
        for (int64_t i = 0; i < rest; i++)
            for (int64_t j = 0; j < half; j++) a[j * stride + half + i] = work[i * half + j];
        const modal_view below = modal_by_columns(a + half, stride);
        modal_product((modal_product_sizes){rest, rest, half}, -1, below, modal_transposed(below), 1, a + half * stride + half, stride, room);
        bad = cholesky(rest, a + half * stride + half, stride, room, work);
        return bad < 0 ? bad : half + bad;
    }
    for (int64_t j = 0; j < n; j++) {
        double *column = a + j * stride;
        if (!(column[j] > 0)) return j;
        column[j] = sqrt(column[j]);
        for (int64_t i = j + 1; i < n; i++) column[i] /= column[j];
        for (int64_t k = j + 1; k < n; k++)
            for (int64_t i = k; i < n; i++) a[k * stride + i] -= column[k] * column[i];
    }
    return -1;
}

modal_status modal_modes_small(int64_t n, double *a, double *b, double *eigenvalues, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *room = NULL, *work = NULL;
    MODAL_TRY(modal_alloc(&room, MODAL_PRODUCT_ROOM, sizeof *room, "dense eigenproblem", err));
    MODAL_TRY(modal_alloc(&work, (n / 2) * (n - n / 2), sizeof *work, "dense eigenproblem", err));
    const int64_t bad = cholesky(n, b, n, room, work);
    modal_free(&work);
    if (bad >= 0)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "dense eigenproblem: %lld unknowns, the mass of number %lld is not > 0",
                   (long long)n, (long long)bad);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j + 1; i < n; i++) a[i * n + j] = a[j * n + i];
    solve_lower(n, b, n, n, a, n, room);
    transpose(n, a);
    solve_lower(n, b, n, n, a, n, room);
    MODAL_TRY(modal_symmetric_eigen(n, a, eigenvalues, err));
    solve_upper(n, b, n, n, a, n, room);
done:
    modal_free(&room);
    modal_free(&work);
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

modal_status modal_modes_dense(const modal_modes_problem *problem, int32_t n_wanted, int32_t n_more, double *vectors,
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
    /* the error is a few roundings of the largest eigenvalue; a product K phi has less */
    *n_zero = 0;
    while (*n_zero < n && eigenvalues[*n_zero] <= 4 * problem->matrix_noise) ++*n_zero;
    memcpy(rigid_eigenvalues, eigenvalues, (size_t)n_rigid * sizeof *eigenvalues);
    qsort(rigid_eigenvalues, (size_t)n_rigid, sizeof *rigid_eigenvalues, compare_magnitudes);
    guard->count = 0;
    for (int64_t i = n_rigid + n_wanted; i < n && guard->count < MODAL_GUARD; i++) {
        guard->eigenvalues[guard->count] = eigenvalues[i];
        guard->errors[guard->count++] = 4 * problem->matrix_noise / eigenvalues[i];
    }
    memcpy(vectors, k + n_rigid * n, (size_t)((n_wanted + n_more) * n) * sizeof *vectors);
done:
    modal_free(&k);
    modal_free(&m);
    modal_free(&eigenvalues);
    return status;
}
