/* SPDX-License-Identifier: Apache-2.0 */
/* Making sure: Rayleigh-Ritz, inverse iteration, and the search for modes that were missed. */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/modes/problem.h"

enum {
    MAX_REFINEMENTS = 8,
    SEARCH_WIDTH = 8, /* start vectors of the search: repeated eigenvalues are found up to 8-fold */
    SEARCH_STEPS = 4
};

static void gram(int64_t n, int64_t m, const double *a, const double *b, double *c)
{
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)m, (int)m, (int)n, 1, a, (int)n, b,
                (int)n, 0, c, (int)m);
}

modal_status modal_modes_rayleigh_ritz(const modal_modes_problem *problem, int64_t n_vectors,
                                       double *vectors, double *mass_vectors, double *work,
                                       double *eigenvalues, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_fem_system *system = &problem->system;
    const int64_t n = problem->n, m = n_vectors;
    double *a = NULL, *b = NULL;
    MODAL_TRY(modal_alloc(&a, m * m, sizeof *a, "Rayleigh-Ritz", err));
    MODAL_TRY(modal_alloc(&b, m * m, sizeof *b, "Rayleigh-Ritz", err));
    modal_identity_blocks_multiply(&system->pattern, system->mass, m, vectors, mass_vectors,
                                   problem->n_threads);
    modal_blocks_multiply(&system->pattern, system->stiffness, m, vectors, work, problem->n_threads);
    gram(n, m, vectors, work, a);
    gram(n, m, vectors, mass_vectors, b);
    MODAL_TRY(modal_modes_small(m, a, b, eigenvalues, err));
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)m, (int)m, 1, vectors, (int)n,
                a, (int)m, 0, work, (int)n);
    memcpy(vectors, work, (size_t)(n * m) * sizeof *vectors);
    modal_identity_blocks_multiply(&system->pattern, system->mass, m, vectors, mass_vectors,
                                   problem->n_threads);
done:
    modal_free(&a);
    modal_free(&b);
    return status;
}

/* residuals[k] = ||K x - lambda M x|| / ||lambda M x||; rounding[k] is what of it the rounding of x and
 * of K x explains: eps ||diag(K) x|| / ||lambda M x||, which on meshes from good to bad was
 * 1/2.2 to 1/1.1 of the residual that inverse iteration stops at. It grows with the eigenvalue's
 * distance from the largest one: the first mode of a bar of 200 x 2 x 2 cells keeps 3e-7. */
static void compute_residuals(const modal_modes_problem *problem, int64_t n_vectors,
                              const double *vectors, const double *mass_vectors,
                              const double *eigenvalues, double *work, double *residuals,
                              double *rounding)
{
    const modal_fem_system *system = &problem->system;
    const int64_t n = problem->n;
    modal_blocks_multiply(&system->pattern, system->stiffness, n_vectors, vectors, work,
                          problem->n_threads);
#pragma omp parallel for schedule(static) num_threads(problem->n_threads)
    for (int64_t k = 0; k < n_vectors; k++) {
        const double *x = vectors + k * n, *kx = work + k * n, *mx = mass_vectors + k * n;
        double above = 0, below = 0, noise = 0;
        for (int64_t i = 0; i < n; i++) {
            const int64_t diagonal = system->pattern.offsets[i / 3];
            const double force = eigenvalues[k] * mx[i], r = kx[i] - force;
            const double part = system->stiffness[9 * diagonal + 4 * (i % 3)] * x[i];
            above += r * r;
            below += force * force;
            noise += part * part;
        }
        residuals[k] = sqrt(above) / sqrt(below);
        rounding[k] = DBL_EPSILON * sqrt(noise) / sqrt(below);
    }
}

modal_status modal_modes_orthogonality(int64_t n, int64_t n_vectors, const double *vectors,
                                       const double *mass_vectors, double *worst, modal_error *err)
{
    double *products = NULL;
    modal_status status =
        modal_alloc(&products, n_vectors * n_vectors, sizeof *products, "orthogonality", err);
    if (status != MODAL_OK) return status;
    gram(n, n_vectors, vectors, mass_vectors, products);
    *worst = 0;
    for (int64_t k = 0; k < n_vectors * n_vectors; k++) {
        const double error = fabs(products[k] - (k % (n_vectors + 1) == 0));
        if (!(error <= *worst)) *worst = error;
        if (isnan(error)) break;
    }
    modal_free(&products);
    return MODAL_OK;
}

modal_status modal_modes_refine(modal_modes_problem *problem, int64_t n_vectors, int64_t n_wanted,
                                double tolerance, double *vectors, double *mass_vectors,
                                double *eigenvalues, double *residuals, int32_t *n_steps,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    double *work = NULL, *rounding = NULL, previous = INFINITY;
    MODAL_TRY(modal_alloc(&rounding, n_vectors, sizeof *rounding, "refinement", err));
    MODAL_TRY(modal_alloc(&work, problem->n * n_vectors, sizeof *work, "refinement", err));
    for (int step = 0;; step++) {
        MODAL_TRY(modal_modes_rayleigh_ritz(problem, n_vectors, vectors, mass_vectors, work,
                                            eigenvalues, err));
        compute_residuals(problem, n_vectors, vectors, mass_vectors, eigenvalues, work, residuals,
                          rounding);
        double worst = 0;
        int64_t at = 0, n_above = 0;
        for (int64_t k = 0; k < n_wanted; k++) {
            /* an eigenvalue of zero has no relative residual and is reported by the caller */
            if (fabs(eigenvalues[k]) <= problem->zero_level) continue;
            const double excess = residuals[k] / fmax(tolerance, 4 * rounding[k]);
            if (!(excess <= worst)) worst = excess, at = k;
            n_above += !(residuals[k] <= fmax(tolerance, 16 * rounding[k]));
        }
        if (worst <= 1) break;
        if (step == MAX_REFINEMENTS || !(worst < 0.5 * previous)) {
            if (n_above == 0) break;
            MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
                       "modes: residual of mode %lld is %.3g after %d refinements, wanted %.3g",
                       (long long)at, residuals[at], step, tolerance);
        }
        previous = worst;
        MODAL_TRY(modal_modes_apply(problem, n_vectors, mass_vectors, vectors, err));
        ++*n_steps;
    }
done:
    modal_free(&work);
    modal_free(&rounding);
    return status;
}

/* Makes the block after n_before vectors M-orthonormal to them and in itself: modified Gram-Schmidt,
 * twice. A vector that depends on the others becomes noise, which a search does not mind. */
static void orthonormalise_block(const modal_modes_problem *problem, int64_t n_before,
                                 double *vectors, double *mass_vectors)
{
    const int64_t n = problem->n;
    for (int64_t k = n_before; k < n_before + SEARCH_WIDTH; k++) {
        double *x = vectors + k * n, *mx = mass_vectors + k * n;
        for (int pass = 0; pass < 2; pass++)
            for (int64_t j = 0; j < k; j++)
                cblas_daxpy((int)n, -cblas_ddot((int)n, mass_vectors + j * n, 1, x, 1),
                            vectors + j * n, 1, x, 1);
        modal_identity_blocks_multiply(&problem->system.pattern, problem->system.mass, 1, x, mx, 1);
        const double square = cblas_ddot((int)n, x, 1, mx, 1);
        const double scale = square > 0 ? 1 / sqrt(square) : 0;
        cblas_dscal((int)n, scale, x, 1);
        cblas_dscal((int)n, scale, mx, 1);
    }
}

/* Block Krylov space of SEARCH_WIDTH random vectors; its Ritz values are lower bounds of theta, so
 * what it counts is there, and a mode that stands out is seen. */
modal_status modal_modes_search(modal_modes_problem *problem, double limit, int32_t *n_missed,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = problem->n, m = SEARCH_WIDTH * SEARCH_STEPS;
    double *vectors = NULL, *mass_vectors = NULL, *t = NULL, *unit = NULL, *theta = NULL;
    double *image = NULL;
    *n_missed = 0;
    if (n - problem->rigid.n_rigid - problem->n_locked < m) goto done;
    MODAL_TRY(modal_alloc(&vectors, n * m, sizeof *vectors, "search", err));
    MODAL_TRY(modal_alloc(&mass_vectors, n * m, sizeof *mass_vectors, "search", err));
    MODAL_TRY(modal_alloc(&image, n * SEARCH_WIDTH, sizeof *image, "search", err));
    MODAL_TRY(modal_alloc_zero(&t, m * m, sizeof *t, "search", err));
    MODAL_TRY(modal_alloc_zero(&unit, m * m, sizeof *unit, "search", err));
    MODAL_TRY(modal_alloc(&theta, m, sizeof *theta, "search", err));
    /* a random right-hand side is smoothed by the first solve, and counts as M x of some x */
    modal_modes_random(problem, n * SEARCH_WIDTH, image);
    MODAL_TRY(modal_modes_apply(problem, SEARCH_WIDTH, image, image, err));
    for (int64_t step = 0; step < SEARCH_STEPS; step++) {
        const int64_t first = step * SEARCH_WIDTH;
        memcpy(vectors + first * n, image, (size_t)(n * SEARCH_WIDTH) * sizeof *image);
        orthonormalise_block(problem, first, vectors, mass_vectors);
        MODAL_TRY(modal_modes_apply(problem, SEARCH_WIDTH, mass_vectors + first * n, image, err));
        /* T = V^T M OP V, the columns of this block, the rows known so far */
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)(first + SEARCH_WIDTH), SEARCH_WIDTH,
                    (int)n, 1, mass_vectors, (int)n, image, (int)n, 0, t + first * m, (int)m);
    }
    for (int64_t j = 0; j < m; j++) {
        unit[j * m + j] = 1;
        for (int64_t i = 0; i < j; i++) t[i * m + j] = t[j * m + i];
    }
    MODAL_TRY(modal_modes_small(m, t, unit, theta, err));
    const double theta_limit = 1 / (limit - problem->shift);
    for (int64_t k = 0; k < m; k++) *n_missed += theta[k] > theta_limit * (1 + 1e-6);
done:
    modal_free(&vectors);
    modal_free(&mass_vectors);
    modal_free(&image);
    modal_free(&t);
    modal_free(&unit);
    modal_free(&theta);
    return status;
}
