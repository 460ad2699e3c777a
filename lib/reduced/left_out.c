/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/reduced/left_out.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/fem/sparse.h"
#include "lib/reduced/derive.h"
#include "lib/reduced/left_slow.h"
#include "lib/reduced/space.h"

enum { MOST_LINEAR = 8 }; /* columns whose derivatives are taken */
static const double DEPENDS = 1e-9; /* of a vector's energy: what is left of it beside others */
static const double LEAST = 1e-7; /* of the largest singular value: static answers are as good as that */

static int64_t candidates(int64_t n_modes)
{
    const int64_t k = n_modes < MOST_LINEAR ? n_modes : MOST_LINEAR;
    return modal_derivative_count(k) + n_modes;
}

double modal_left_out_bytes(int64_t n_nodes, int64_t n_modes, int64_t n_directions)
{
    return 24 * (double)n_nodes * (2.0 * (double)n_modes + 4.0 * (double)(candidates(n_modes) + REDUCED_SMOOTH_FIELDS) +
                                  2.0 * (double)n_directions + 48);
}

/* The columns, and behind them what they leave out, scaled. */
static void arrange(const reduced_space *space, int64_t n_nodes, int64_t k, int64_t r, const double *eigenvalues,
                    const double *modes, double *vectors)
{
    const int64_t n = space->n;
    double *at = vectors + r * n;
    for (int64_t v = 0; v < r; v++)
        for (int64_t i = 0; i < n; i++)
            vectors[v * n + i] = modes[3 * (n_nodes * v + space->system.free_nodes[i / 3]) + i % 3];
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = i; j < k; j++, at += n) {
            const double scale = eigenvalues[0] / eigenvalues[i] * (eigenvalues[0] / eigenvalues[j]);
            for (int64_t e = 0; e < n; e++) at[e] *= scale;
        }
    for (int64_t i = 0; i < r; i++, at += n)
        for (int64_t e = 0; e < n; e++) at[e] *= eigenvalues[0] / eigenvalues[i];
}

/* The columns and behind them the smooth fields, whose static answers are wanted; with the eigenvalues that scale them. */
static modal_status list_fields(const modal_shape *shape, int64_t n_fields, double **fields, double **scales, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t r = shape->modes.n_modes, size = 3 * shape->solid.mesh.n_nodes;
    MODAL_TRY(modal_alloc(fields, (r + n_fields) * size, sizeof **fields, "what is left out", err));
    MODAL_TRY(modal_alloc(scales, r + n_fields, sizeof **scales, "what is left out", err));
    memcpy(*fields, shape->solid.volume_modes, (size_t)(r * size) * sizeof **fields);
    memcpy(*scales, shape->modes.eigenvalues, (size_t)r * sizeof **scales);
    if (n_fields > 0) reduced_smooth_fields(&shape->solid.mesh, *fields + r * size);
    for (int64_t i = 0; i < n_fields; i++) (*scales)[r + i] = shape->modes.eigenvalues[0];
done:
    return status;
}

/* The Cholesky factor L of a [n, n], by columns, in its lower triangle. Vectors that depend on those before them, as some do where there
 * are more candidates than the solid has degrees of freedom, are passed over: their row and column become those of the identity, and
 * depends [n] tells. */
static void factor(int64_t n, double *a, uint8_t *depends)
{
    for (int64_t j = 0; j < n; j++) {
        double *column = a + j * n;
        const double whole = column[j];
        for (int64_t k = 0; k < j; k++)
            for (int64_t i = j; i < n; i++) column[i] -= a[k * n + i] * a[k * n + j];
        depends[j] = !(column[j] > DEPENDS * whole);
        if (depends[j]) {
            for (int64_t k = 0; k < j; k++) a[k * n + j] = 0;
            memset(column + j, 0, (size_t)(n - j) * sizeof *column);
            column[j] = 1;
            continue;
        }
        const double root = sqrt(column[j]);
        for (int64_t i = j; i < n; i++) column[i] /= root;
    }
}

/* coefficients [*n_directions, n] of W in the M-orthonormal vectors Q [n, space->n], of which `t` [n, n] makes the candidates. */
static modal_status principal_directions(const reduced_space *space, int64_t n, const double *q, double *t, double *coefficients,
                                         int32_t *n_directions, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *image = NULL, *a = NULL, *b = NULL, *left = NULL, *sigma = NULL;
    uint8_t *depends = NULL;
    int32_t found = 0;
    MODAL_TRY(modal_alloc(&depends, n, 1, "what is left out", err));
    MODAL_TRY(modal_alloc(&image, n * space->n, sizeof *image, "what is left out", err));
    MODAL_TRY(modal_alloc(&a, n * n, sizeof *a, "what is left out", err));
    MODAL_TRY(modal_alloc_zero(&b, n * n, sizeof *b, "what is left out", err));
    MODAL_TRY(modal_alloc(&left, n * n, sizeof *left, "what is left out", err));
    MODAL_TRY(modal_alloc(&sigma, n, sizeof *sigma, "what is left out", err));
    modal_blocks_multiply(&space->system.pattern, space->system.stiffness, n, q, image, space->n_threads);
    MODAL_TRY(reduced_gram(space, n, q, n, image, a, err));
    factor(n, a, depends);
    for (int64_t v = 0; v < n; v++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = i; k < n; k++) b[v * n + i] += depends[k] ? 0 : a[i * n + k] * t[v * n + k]; /* L^T T */
    MODAL_TRY(reduced_svd(n, b, left, sigma, err));
    while (found < *n_directions && found < n && sigma[found] > LEAST * sigma[0]) found++;
    for (int64_t v = 0; v < found; v++)
        for (int64_t i = n; i-- > 0;) { /* L^-T left */
            double sum = left[v * n + i];
            for (int64_t k = i + 1; k < n; k++) sum -= a[i * n + k] * coefficients[v * n + k];
            coefficients[v * n + i] = sum / a[i * n + i];
        }
done:
    *n_directions = found;
    modal_free(&depends);
    modal_free(&image);
    modal_free(&a);
    modal_free(&b);
    modal_free(&left);
    modal_free(&sigma);
    return status;
}

/* Rows [r, r + s) of the forces of r + s columns, and of their monomials those of the first r. */
static modal_status extract(const modal_reduced_forces *all, int64_t r, int64_t s, modal_left_out *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = r + s;
    MODAL_TRY(modal_alloc(&out->forces.linear, s * r, sizeof(double), "what is left out", err));
    MODAL_TRY(modal_alloc(&out->forces.quadratic, s * modal_quadratic_count(r), sizeof(double), "what is left out", err));
    MODAL_TRY(modal_alloc(&out->forces.cubic, s * modal_cubic_count(r), sizeof(double), "what is left out", err));
    double *linear = out->forces.linear, *quadratic = out->forces.quadratic, *cubic = out->forces.cubic;
    for (int64_t l = r; l < n; l++)
        for (int64_t i = 0; i < r; i++) {
            *linear++ = all->linear[l * n + i];
            for (int64_t j = i; j < r; j++) {
                *quadratic++ = all->quadratic[l * modal_quadratic_count(n) + modal_quadratic_index(n, i, j)];
                for (int64_t k = j; k < r; k++) /* l is none of i, j, k */
                    *cubic++ = all->cubic ? all->cubic[l * modal_cubic_count(n) + modal_cubic_index(n, i, j, k)]
                                          : all->quartic[modal_quartic_index(n, i, j, k, l)];
            }
        }
    out->n = (int32_t)s;
done:
    return status;
}

modal_status modal_left_out_compute(const modal_shape *shape, int32_t n_directions, int n_threads, const modal_device *device,
                                    modal_left_out *left_out, const modal_progress *progress, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n_modes = shape->modes.n_modes;
    const modal_volume_mesh *mesh = &shape->solid.mesh;
    const double *eigenvalues = shape->modes.eigenvalues, *modes = shape->solid.volume_modes;
    const int32_t n_linear = n_modes < MOST_LINEAR ? n_modes : MOST_LINEAR;
    const modal_derivatives_options options = {.n_linear = n_linear, .n_modes = n_linear, .mass_rule = shape->modes.mass_rule,
                                               .fixed_components = shape->solid.fixed_components, .n_threads = n_threads,
                                               .factor_float32 = shape->modes.factor_float32};
    modal_derivatives_report report = {0};
    modal_reduced_forces forces = {0};
    reduced_space space = {0};
    const int64_t r = n_modes, n = candidates(r), n_nodes = mesh->n_nodes;
    double *vectors = NULL, *t = NULL, *inner = NULL, *coefficients = NULL, *directions = NULL, *all = NULL;
    const int64_t n_fields = left_out->slow_eigenvalues ? 0 : REDUCED_SMOOTH_FIELDS; /* slow motions are known already, or wanted */
    double *fields = NULL, *scales = NULL;
    for (int64_t k = 0; k < r; k++)
        if (!(eigenvalues[k] > 0)) goto done;
    MODAL_TRY(list_fields(shape, n_fields, &fields, &scales, err));
    const reduced_solid solid = {mesh, shape->solid.fixed_nodes, shape->solid.n_fixed_nodes, &options, scales, fields};
    MODAL_TRY(reduced_derive(&solid, r, r + n_fields, &space, &vectors, &report, progress, err));
    modal_free(&fields);
    arrange(&space, n_nodes, n_linear, r, eigenvalues, modes, vectors);
    MODAL_TRY(modal_alloc(&t, n * (r + n), sizeof *t, "what is left out", err));
    MODAL_TRY(modal_alloc(&inner, n * n, sizeof *inner, "what is left out", err));
    MODAL_TRY(reduced_orthonormalise(&space, r, n, vectors, t, err));
    for (int64_t v = 0; v < n; v++) memcpy(inner + v * n, t + v * (r + n) + r, (size_t)n * sizeof *t);
    MODAL_TRY(modal_alloc_zero(&coefficients, n_directions * n, sizeof *coefficients, "what is left out", err));
    MODAL_TRY(principal_directions(&space, n, vectors + r * space.n, inner, coefficients, &n_directions, err));
    if (n_directions == 0) { /* the columns are all that the solid can do */
        if (n_fields > 0) MODAL_TRY(modal_left_slow_take(shape, &(modal_modes_left){.known = 1}, left_out, err));
        goto done;
    }
    MODAL_TRY(modal_alloc(&directions, n_directions * space.n, sizeof *directions, "what is left out", err));
    MODAL_TRY(reduced_combine(&space, &(modal_combination){n, n_directions, vectors + r * space.n, coefficients, 1, 0, directions}, err));
    if (n_fields > 0) MODAL_TRY(reduced_slow_motions(&space, shape, r, n + REDUCED_SMOOTH_FIELDS, vectors, left_out, err));
    modal_free(&vectors);
    MODAL_TRY(modal_alloc_zero(&all, 3 * n_nodes * (r + n_directions), sizeof *all, "what is left out", err));
    memcpy(all, modes, (size_t)(3 * n_nodes * r) * sizeof *all);
    for (int64_t v = 0; v < n_directions; v++)
        for (int64_t i = 0; i < space.n; i++)
            all[3 * (n_nodes * (r + v) + space.system.free_nodes[i / 3]) + i % 3] = directions[v * space.n + i];
    MODAL_TRY(modal_stvk_reduced_forces(mesh, n_modes + n_directions, all, n_threads, device, &forces, progress, err));
    MODAL_TRY(extract(&forces, r, n_directions, left_out, err));
done:
    modal_free(&vectors);
    modal_free(&fields);
    modal_free(&scales);
    modal_free(&t);
    modal_free(&inner);
    modal_free(&coefficients);
    modal_free(&directions);
    modal_free(&all);
    modal_reduced_forces_free(&forces);
    modal_derivatives_report_free(&report);
    reduced_space_free(&space);
    if (status != MODAL_OK) modal_left_out_free(left_out);
    return status;
}
