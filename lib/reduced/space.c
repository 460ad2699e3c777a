/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/reduced/space.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/fem/sparse.h"

enum { LEAST_RANGE = 2048, MOST_RANGES = 64, BLOCK = 16 };

/* Fortran LAPACK, declared here because its C interface is a package of its own; the lengths of
 * character arguments come last. */
extern void dsyevd_(const char *job, const char *triangle, const int *n, double *a, const int *lda,
                    double *eigenvalues, double *work, const int *n_work, int *iwork,
                    const int *n_iwork, int *info, size_t job_length, size_t triangle_length);
extern void dgesdd_(const char *job, const int *m, const int *n, double *a, const int *lda,
                    double *sigma, double *u, const int *ldu, double *vt, const int *ldvt,
                    double *work, const int *n_work, int *iwork, int *info, size_t job_length);

modal_status reduced_space_build(const modal_volume_mesh *mesh, const int32_t *fixed_nodes,
                                 const uint8_t *fixed_components, int64_t n_fixed, modal_mass_rule rule, int n_threads,
                                 reduced_space *space, modal_error *err)
{
    memset(space, 0, sizeof *space);
    space->n_threads = n_threads < 1 ? 1 : n_threads;
    space->n_nodes = mesh->n_nodes;
    modal_status status = modal_fem_assemble(mesh, fixed_nodes, fixed_components, n_fixed, rule,
                                             space->n_threads, &space->system, err);
    space->n = 3 * space->system.n_free;
    if (status == MODAL_OK && space->n > INT32_MAX)
        status = modal_error_set(err, MODAL_ERROR_INPUT, "basis: %lld degrees of freedom, at most %d",
                                 (long long)space->n, INT32_MAX);
    if (status != MODAL_OK) reduced_space_free(space);
    return status;
}

void reduced_space_free(reduced_space *space)
{
    modal_fem_system_free(&space->system);
    memset(space, 0, sizeof *space);
}

static int is_held(const modal_fem_system *system, int64_t free_node, int component)
{
    return system->pattern.held && (system->pattern.held[free_node] >> component & 1);
}

void reduced_space_hold(const reduced_space *space, int64_t n_vectors, double *vectors)
{
    if (!space->system.pattern.held) return;
    for (int64_t i = 0; i < n_vectors * space->n; i++)
        if (is_held(&space->system, i % space->n / 3, (int)(i % 3))) vectors[i] = 0;
}

int64_t reduced_space_take(const reduced_space *space, const double *u, double *vector, double *largest,
                           double *moves)
{
    const modal_fem_system *system = &space->system;
    int64_t node = -1;
    *largest = *moves = 0;
    for (int64_t i = 0; i < 3 * space->n_nodes; i++) *largest = fmax(*largest, fabs(u[i]));
    for (int64_t i = 0; i < space->n_nodes; i++)
        for (int p = 0; p < 3; p++) {
            const int64_t at = system->free_index[i];
            const int held = at < 0 || is_held(system, at, p);
            if (at >= 0) vector[3 * at + p] = held ? 0 : u[3 * i + p];
            if (held && node < 0 && !(fabs(u[3 * i + p]) <= 1e-6 * *largest)) {
                node = i;
                *moves = fabs(u[3 * i + p]);
            }
        }
    return node;
}

static int64_t range_of_rows(int64_t n)
{
    const int64_t range = (n + MOST_RANGES - 1) / MOST_RANGES;
    return range < LEAST_RANGE ? LEAST_RANGE : range;
}

modal_status reduced_gram(const reduced_space *space, int64_t n_a, const double *a, int64_t n_b,
                          const double *b, double *products, modal_error *err)
{
    const int64_t n = space->n, range = range_of_rows(n), n_ranges = (n + range - 1) / range;
    const int64_t size = n_a * n_b;
    double *parts = NULL;
    if (size == 0) return MODAL_OK;
    modal_status status = modal_alloc(&parts, n_ranges * size, sizeof *parts, "products", err);
    if (status != MODAL_OK) return status;
#pragma omp parallel for schedule(dynamic, 1) num_threads(space->n_threads)
    for (int64_t k = 0; k < n_ranges; k++) {
        const int64_t first = k * range, rows = n - first < range ? n - first : range;
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)n_a, (int)n_b, (int)rows, 1,
                    a + first, (int)n, b + first, (int)n, 0, parts + k * size, (int)n_a);
    }
    memcpy(products, parts, (size_t)size * sizeof *products);
    for (int64_t k = 1; k < n_ranges; k++)
        for (int64_t i = 0; i < size; i++) products[i] += parts[k * size + i];
    modal_free(&parts);
    return MODAL_OK;
}

void reduced_combine(const reduced_space *space, int64_t n_a, const double *a, int64_t n_out,
                     const double *s, double alpha, double beta, double *out)
{
    const int64_t n = space->n, range = range_of_rows(n);
    if (n_a == 0 || n_out == 0) return;
#pragma omp parallel for schedule(dynamic, 1) num_threads(space->n_threads)
    for (int64_t first = 0; first < n; first += range) {
        const int64_t rows = n - first < range ? n - first : range;
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)n_out, (int)n_a, alpha,
                    a + first, (int)n, s, (int)n_a, beta, out + first, (int)n);
    }
}

static void mass_times(const reduced_space *space, int64_t n_vectors, const double *x, double *y)
{
    modal_identity_blocks_multiply(&space->system.pattern, space->system.mass, n_vectors, x, y,
                                   space->n_threads);
}

/* Gram-Schmidt within a block: vector j against the `first` .. j - 1. */
static void orthonormalise_one(const reduced_space *space, double *block, int64_t j, double length,
                               double *mx, double *column)
{
    const int n = (int)space->n;
    double *x = block + j * space->n;
    for (int pass = 0; pass < 2; pass++) {
        mass_times(space, 1, x, mx);
        for (int64_t i = 0; i < j; i++) {
            const double c = cblas_ddot(n, block + i * n, 1, mx, 1);
            column[i] += c;
            cblas_daxpy(n, -c, block + i * n, 1, x, 1);
        }
    }
    mass_times(space, 1, x, mx);
    const double rest = sqrt(fmax(cblas_ddot(n, x, 1, mx, 1), 0));
    const int stays = rest > 1e-11 * length;
    column[j] = stays ? rest : 0;
    for (int64_t i = 0; i < n; i++) x[i] = stays ? x[i] / rest : 0;
}

modal_status reduced_orthonormalise(const reduced_space *space, int64_t n_before, int64_t n_new,
                                    double *vectors, double *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = space->n, n_all = n_before + n_new;
    double *image = NULL, *coefficients = NULL, lengths[BLOCK], columns[BLOCK][BLOCK];
    MODAL_TRY(modal_alloc(&image, BLOCK * n, sizeof *image, "orthogonalisation", err));
    MODAL_TRY(modal_alloc(&coefficients, BLOCK * n_all, sizeof *coefficients, "orthogonalisation", err));
    if (r) memset(r, 0, (size_t)(n_new * n_all) * sizeof *r);
    for (int64_t first = n_before; first < n_all; first += BLOCK) {
        const int64_t width = n_all - first < BLOCK ? n_all - first : BLOCK;
        double *block = vectors + first * n;
        for (int pass = 0; pass < 2; pass++) {
            mass_times(space, width, block, image);
            for (int64_t j = 0; j < width && pass == 0; j++)
                lengths[j] = sqrt(fmax(cblas_ddot((int)n, block + j * n, 1, image + j * n, 1), 0));
            MODAL_TRY(reduced_gram(space, first, vectors, width, image, coefficients, err));
            reduced_combine(space, first, vectors, width, coefficients, -1, 1, block);
            for (int64_t j = 0; j < width && r; j++)
                for (int64_t i = 0; i < first; i++)
                    r[(first - n_before + j) * n_all + i] += coefficients[j * first + i];
        }
        memset(columns, 0, sizeof columns);
        for (int64_t j = 0; j < width; j++)
            orthonormalise_one(space, block, j, lengths[j], image, columns[j]);
        for (int64_t j = 0; j < width && r; j++)
            for (int64_t i = 0; i <= j; i++)
                r[(first - n_before + j) * n_all + first + i] = columns[j][i];
    }
done:
    modal_free(&image);
    modal_free(&coefficients);
    return status;
}

modal_status reduced_svd(int64_t rows, int64_t columns, double *a, double *left, double *sigma,
                         modal_error *err)
{
    modal_status status = MODAL_OK;
    const int m = (int)rows, n = (int)columns, least = m < n ? m : n, query = -1;
    double *right = NULL, *work = NULL, wanted = 0;
    int *iwork = NULL, info = 0;
    MODAL_TRY(modal_alloc(&right, (int64_t)least * n, sizeof *right, "singular values", err));
    MODAL_TRY(modal_alloc(&iwork, 8 * (int64_t)least, sizeof *iwork, "singular values", err));
    dgesdd_("S", &m, &n, a, &m, sigma, left, &m, right, &least, &wanted, &query, iwork, &info, 1);
    const int n_work = (int)wanted;
    MODAL_TRY(modal_alloc(&work, n_work, sizeof *work, "singular values", err));
    dgesdd_("S", &m, &n, a, &m, sigma, left, &m, right, &least, work, &n_work, iwork, &info, 1);
    if (info != 0)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "singular values: matrix of %d x %d, dgesdd info %d",
                   m, n, info);
done:
    modal_free(&right);
    modal_free(&work);
    modal_free(&iwork);
    return status;
}

static modal_status symmetric_eigen(int64_t n64, double *a, double *eigenvalues, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int n = (int)n64, query = -1;
    double *work = NULL, wanted = 0;
    int *iwork = NULL, i_wanted = 0, info = 0;
    dsyevd_("V", "L", &n, a, &n, eigenvalues, &wanted, &query, &i_wanted, &query, &info, 1, 1);
    const int n_work = (int)wanted;
    MODAL_TRY(modal_alloc(&work, n_work, sizeof *work, "Rayleigh-Ritz", err));
    MODAL_TRY(modal_alloc(&iwork, i_wanted, sizeof *iwork, "Rayleigh-Ritz", err));
    dsyevd_("V", "L", &n, a, &n, eigenvalues, work, &n_work, iwork, &i_wanted, &info, 1, 1);
    if (info != 0)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "Rayleigh-Ritz: %d vectors, dsyevd info %d", n, info);
done:
    modal_free(&work);
    modal_free(&iwork);
    return status;
}

/* Signs as of natural modes: of the components within 1e-6 of the largest the first is > 0. */
static double sign_of(int64_t n, const double *x)
{
    double top = 0;
    for (int64_t i = 0; i < n; i++) top = fmax(top, fabs(x[i]));
    for (int64_t i = 0; i < n; i++)
        if (fabs(x[i]) >= top * (1 - 1e-6)) return x[i] < 0 ? -1 : 1;
    return 1;
}

static void put_vector(const reduced_space *space, double *x, const double *mx, const double *kx,
                       int64_t k, int rotate, modal_modes_result *result)
{
    const modal_fem_system *system = &space->system;
    const int n = (int)space->n;
    const double mass = cblas_ddot(n, x, 1, mx, 1), sign = rotate ? sign_of(n, x) : 1;
    double lambda = cblas_ddot(n, x, 1, kx, 1) / mass, rest = 0, image = 0;
    /* a motion that deforms nothing: what is left is rounding */
    if (!(lambda > 16 * DBL_EPSILON * system->largest_ratio)) lambda = 0;
    /* Ritz values ascend; as quotients they may change places by a rounding */
    if (rotate && k > 0) lambda = fmax(lambda, result->eigenvalues[k - 1]);
    for (int64_t i = 0; i < n; i++) {
        rest += (kx[i] - lambda * mx[i]) * (kx[i] - lambda * mx[i]);
        image += lambda * mx[i] * lambda * mx[i];
    }
    result->eigenvalues[k] = lambda;
    result->modal_masses[k] = mass;
    result->residuals[k] = lambda > 0 ? sqrt(rest / image) : 0;
    double *mode = result->modes + 3 * space->n_nodes * k, *participation = result->participation + 3 * k;
    for (int64_t i = 0; i < system->n_free; i++)
        for (int p = 0; p < 3; p++) {
            mode[3 * (int64_t)system->free_nodes[i] + p] = sign * x[3 * i + p];
            participation[p] += sign * x[3 * i + p] * system->nodal_mass[i];
        }
}

modal_status reduced_space_result(const reduced_space *space, int64_t n_vectors, double *vectors,
                                  int rotate, modal_modes_result *result, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_fem_system *system = &space->system;
    const int64_t n = space->n, m = n_vectors;
    double *image = NULL, *small = NULL, *values = NULL;
    memset(result, 0, sizeof *result);
    MODAL_TRY(modal_alloc(&image, n * (m < 2 ? 2 : m), sizeof *image, "basis", err));
    MODAL_TRY(modal_alloc(&small, m * m, sizeof *small, "basis", err));
    MODAL_TRY(modal_alloc(&values, m, sizeof *values, "basis", err));
    MODAL_TRY(modal_alloc_zero(&result->modes, 3 * space->n_nodes * m, sizeof(double), "basis", err));
    MODAL_TRY(modal_alloc(&result->eigenvalues, m, sizeof(double), "basis", err));
    MODAL_TRY(modal_alloc(&result->residuals, m, sizeof(double), "basis", err));
    MODAL_TRY(modal_alloc(&result->modal_masses, m, sizeof(double), "basis", err));
    MODAL_TRY(modal_alloc_zero(&result->participation, 3 * m, sizeof(double), "basis", err));
    MODAL_TRY(modal_alloc(&result->rigid_eigenvalues, 0, sizeof(double), "basis", err));
    if (rotate) {
        modal_blocks_multiply(&system->pattern, system->stiffness, m, vectors, image, space->n_threads);
        MODAL_TRY(reduced_gram(space, m, vectors, m, image, small, err));
        MODAL_TRY(symmetric_eigen(m, small, values, err));
        reduced_combine(space, m, vectors, m, small, 1, 0, image);
        memcpy(vectors, image, (size_t)(n * m) * sizeof *vectors);
    }
    mass_times(space, m, vectors, image);
    MODAL_TRY(reduced_gram(space, m, vectors, m, image, small, err));
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = 0; i < m; i++) {
            const double scale = rotate ? 1 : sqrt(small[i * m + i] * small[j * m + j]);
            const double error = fabs(small[j * m + i] / scale - (i == j));
            if (!isfinite(error))
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "basis: column %lld is 0 or not finite",
                           (long long)j);
            if (error > result->orthogonality) result->orthogonality = error;
        }
    if (rotate && !(result->orthogonality <= 1e-10))
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "basis: M-orthonormal to %.3g only",
                   result->orthogonality);
    for (int64_t k = 0; k < m; k++) {
        double *x = vectors + k * n;
        mass_times(space, 1, x, image);
        modal_blocks_multiply(&system->pattern, system->stiffness, 1, x, image + n, 1);
        put_vector(space, x, image, image + n, k, rotate, result);
    }
    result->n_modes = (int32_t)m;
    result->n_nodes = space->n_nodes;
    result->n_dof = n;
    result->total_mass = system->total_mass;
done:
    modal_free(&image);
    modal_free(&small);
    modal_free(&values);
    if (status != MODAL_OK) modal_modes_result_free(result);
    return status;
}
