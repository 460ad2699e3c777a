/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/reduced/space.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/fem/sparse.h"
#include "lib/modes/products.h"
#include "lib/modes/symmetric.h"

enum { BLOCK = 16 };

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

modal_status reduced_gram(const reduced_space *space, int64_t n_a, const double *a, int64_t n_b,
                          const double *b, double *products, modal_error *err)
{
    return modal_tall_gram(space->n, n_a, a, n_b, b, products, space->n_threads, err);
}

modal_status reduced_combine(const reduced_space *space, const modal_combination *combination, modal_error *err)
{
    return modal_tall_combine(space->n, combination, space->n_threads, err);
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
    const int64_t n = space->n;
    double *x = block + j * space->n;
    for (int pass = 0; pass < 2; pass++) {
        mass_times(space, 1, x, mx);
        for (int64_t i = 0; i < j; i++) {
            const double *before = block + i * n, c = modal_dot(n, before, mx);
            column[i] += c;
            for (int64_t k = 0; k < n; k++) x[k] -= c * before[k];
        }
    }
    mass_times(space, 1, x, mx);
    const double rest = sqrt(fmax(modal_dot(n, x, mx), 0));
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
                lengths[j] = sqrt(fmax(modal_dot(n, block + j * n, image + j * n), 0));
            MODAL_TRY(reduced_gram(space, first, vectors, width, image, coefficients, err));
            MODAL_TRY(reduced_combine(space, &(modal_combination){first, width, vectors, coefficients, -1, 1, block}, err));
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
    const int64_t n = space->n;
    const double mass = modal_dot(n, x, mx), sign = rotate ? sign_of(n, x) : 1;
    double lambda = modal_dot(n, x, kx) / mass, rest = 0, image = 0;
    /* a motion that deforms nothing: what is left is rounding */
    if (!(lambda > modal_energy_rounding(system, x) / mass)) lambda = 0;
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
        MODAL_TRY(modal_symmetric_eigen(m, small, values, err));
        MODAL_TRY(reduced_combine(space, &(modal_combination){m, m, vectors, small, 1, 0, image}, err));
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
