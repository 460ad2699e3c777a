/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/reduced/derivatives.h"

#include <math.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/fem/sparse.h"
#include "lib/modes/problem.h"
#include "lib/modes/products.h"
#include "lib/reduced/derive.h"
#include "lib/reduced/points.h"
#include "lib/reduced/space.h"

enum { LANES = REDUCED_LANES, MOST_CORRECTIONS = 6, SOLVES = 16, BATCH = 16 };

/* What a block of points knows of one mode: its gradient G, and w C sym(G). */
typedef struct mode_block {
    double gradient[9][LANES];
    double stress[9][LANES];
} mode_block;

/* load -= H(phi_i, phi_j), point by point w (G_j S_i + G_i S_j + C : eta_ij) g_a. From the third
 * derivative of the energy, whose cubic part is w sym(G) : C : G^T G / 2. */
static void add_load(const reduced_block *block, const int32_t *free_index, mode_block *mi,
                     mode_block *mj, double *load)
{
    double p[9][LANES];
    modal_lanes_second_derivative(block->root, mi->gradient, mi->stress, mj->gradient, mj->stress, p);
    for (int lane = 0; lane < block->n_lanes; lane++)
        for (int a = 0; a < block->n_nodes; a++) {
            const int32_t at = free_index[block->nodes[a][lane]];
            if (at < 0) continue;
            for (int row = 0; row < 3; row++)
                load[3 * (int64_t)at + row] -= p[3 * row][lane] * block->gradients[a][0][lane] +
                                               p[3 * row + 1][lane] * block->gradients[a][1][lane] +
                                               p[3 * row + 2][lane] * block->gradients[a][2][lane];
        }
}

/* loads [k (k + 1) / 2, n], zeroed before. Each is one thread's, points in order: the bytes do not
 * depend on the number of threads. A batch of blocks at a time, since threads that meet seldom wait
 * seldom. */
static modal_status make_loads(const modal_volume_mesh *mesh, const reduced_space *space, int64_t k,
                               const double *modes, double *loads, const modal_progress *progress,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    reduced_points points = {0};
    reduced_block *blocks = NULL;
    mode_block *known = NULL;
    const int64_t n_pairs = modal_derivative_count(k);
    MODAL_TRY(reduced_points_init(mesh, &points, err));
    const int64_t batch = points.n_blocks < BATCH ? points.n_blocks : BATCH;
    MODAL_TRY(modal_alloc(&blocks, batch, sizeof *blocks, "modal derivatives", err));
    MODAL_TRY(modal_alloc(&known, batch * k, sizeof *known, "modal derivatives", err));
    for (int64_t first = 0; first < points.n_blocks; first += batch) {
        const int64_t n = points.n_blocks - first < batch ? points.n_blocks - first : batch;
        MODAL_TRY(modal_progress_report(progress, "derivative loads",
                                        (double)first / (double)points.n_blocks, err));
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(space->n_threads))
        for (int64_t b = 0; b < n; b++) reduced_points_load(&points, first + b, &blocks[b]);
#pragma omp parallel for schedule(dynamic, 4) num_threads(modal_free_threads(space->n_threads))
        for (int64_t at = 0; at < n * k; at++) {
            const reduced_block *block = &blocks[at / k];
            double strain[6][LANES];
            reduced_gradient(block, modes + 3 * mesh->n_nodes * (at % k), known[at].gradient);
            modal_lanes_linear_strain(known[at].gradient, strain);
            modal_lanes_stress(block->root, strain, known[at].stress);
        }
#pragma omp parallel for schedule(dynamic, 4) num_threads(modal_free_threads(space->n_threads))
        for (int64_t pair = 0; pair < n_pairs; pair++) {
            int64_t i = 0;
            while (i + 1 < k && modal_quadratic_index(k, i + 1, i + 1) <= pair) i++;
            const int64_t j = i + pair - modal_quadratic_index(k, i, i);
            for (int64_t b = 0; b < n; b++)
                add_load(&blocks[b], space->system.free_index, &known[b * k + i], &known[b * k + j],
                         loads + space->n * pair);
        }
    }
done:
    reduced_points_free(&points);
    modal_free(&blocks);
    modal_free(&known);
    return status;
}

static double length(int64_t n, const double *x) { return sqrt(modal_dot(n, x, x)); }

/* load -= M R R^T load, part by part: inertia relief. What moves the solid as a whole alone, and so deforms nothing, becomes 0. */
static void relieve(modal_rigid_space *rigid, int64_t n_vectors, double *loads)
{
    const int64_t n = rigid->n_free;
    for (int64_t v = 0; v < n_vectors; v++) {
        const double before = length(3 * n, loads + 3 * n * v);
        for (int32_t d = 0; d < rigid->depth; d++) {
            double *load = loads + 3 * n * v, *sums = rigid->coefficients;
            const double *motion = rigid->motions + 3 * n * d, *mass = rigid->mass_motions + 3 * n * d;
            memset(sums, 0, (size_t)rigid->n_parts * sizeof *sums);
            for (int64_t i = 0; i < 3 * n; i++) sums[rigid->part[i / 3]] += motion[i] * load[i];
            for (int64_t i = 0; i < 3 * n; i++) load[i] -= sums[rigid->part[i / 3]] * mass[i];
        }
        if (!(length(3 * n, loads + 3 * n * v) > 1e-9 * before)) memset(loads + 3 * n * v, 0, 3 * (size_t)n * sizeof *loads);
    }
}

static void scale(int64_t n, double factor, double *x)
{
    for (int64_t i = 0; i < n; i++) x[i] *= factor;
}

/* In place: loads -> K^-1 loads. Where K is singular its factor is of K - shift M with a small shift,
 * and the rest of the load is solved for again until it is gone. */
static modal_status solve_block(const reduced_space *space, modal_modes_problem *problem, int64_t width,
                                double *loads, double *work, double *worst, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = space->n, size = n * width;
    double *solution = work, *rest = work + size, *image = work + 2 * size, error = 0;
    memset(solution, 0, (size_t)size * sizeof *solution);
    memcpy(rest, loads, (size_t)size * sizeof *rest);
    for (int step = 0; step < MOST_CORRECTIONS; step++) {
        const double before = error;
        MODAL_TRY(modal_modes_apply(problem, width, rest, image, err));
        for (int64_t i = 0; i < size; i++) solution[i] += image[i];
        modal_blocks_multiply(&space->system.pattern, space->system.stiffness, width, solution, image,
                              space->n_threads);
        error = 0;
        for (int64_t v = 0; v < width; v++) {
            for (int64_t i = v * n; i < (v + 1) * n; i++) rest[i] = loads[i] - image[i];
            const double whole = length(n, loads + v * n), left = length(n, rest + v * n);
            if (whole > 0 && !(left / whole <= error)) error = left / whole;
        }
        if (error <= 1e-9 || (step > 0 && !(error < 0.5 * before))) break;
    }
    if (!(error <= 1e-6))
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
                   "modal derivatives: a static solution misses its load by %.3g of it", error);
    *worst = fmax(*worst, error);
    memcpy(loads, solution, (size_t)size * sizeof *loads);
done:
    return status;
}

static modal_status solve_loads(const reduced_solid *solid, const reduced_space *space, int64_t n_vectors, double *vectors,
                                modal_derivatives_report *report, const modal_progress *progress, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = solid->mesh;
    const modal_derivatives_options *options = solid->options;
    modal_modes_problem problem = {.mesh = mesh,
                                   .system = space->system,
                                   .n = space->n,
                                   .n_threads = space->n_threads,
                                   .expected_solves = (double)n_vectors};
    modal_factor_report of_factor = {0};
    double *work = NULL, before = modal_seconds();
    int definite = 0;
    int64_t pivot = -1;
    MODAL_TRY(modal_rigid_space_build(mesh, &space->system, space->n_threads, &problem.rigid, err));
    MODAL_TRY(modal_factor_new(&space->system, space->n_threads, &problem.factor, &of_factor, progress,
                               err));
    MODAL_TRY(modal_alloc(&problem.coefficients, problem.rigid.n_parts * problem.rigid.depth,
                          sizeof *problem.coefficients, "rigid motions", err));
    if (problem.rigid.n_rigid) problem.shift = -1e-5 * solid->eigenvalues[0];
    if (options->factor_float32) modal_factor_use(problem.factor, MODAL_FLOAT32);
    MODAL_TRY(modal_factor_compute(problem.factor, problem.shift, &definite, &pivot, &of_factor, progress, err));
    if (!definite)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modal derivatives: stiffness not positive definite");
    report->seconds_factor = modal_seconds() - before;
    before = modal_seconds();
    if (options->factor_float32) MODAL_TRY(modal_modes_inner_new(&problem, &problem.inner, err));
    relieve(&problem.rigid, n_vectors, vectors);
    MODAL_TRY(modal_alloc(&work, 3 * SOLVES * space->n, sizeof *work, "modal derivatives", err));
    for (int64_t first = 0; first < n_vectors; first += SOLVES) {
        const int64_t width = n_vectors - first < SOLVES ? n_vectors - first : SOLVES;
        MODAL_TRY(modal_progress_report(progress, "derivatives", (double)first / (double)n_vectors, err));
        MODAL_TRY(solve_block(space, &problem, width, vectors + first * space->n, work,
                              &report->load_residual, err));
    }
    report->seconds_solve = modal_seconds() - before;
done:
    modal_modes_inner_delete(problem.inner);
    modal_factor_delete(problem.factor);
    modal_free(&problem.coefficients);
    modal_rigid_space_free(&problem.rigid);
    modal_free(&work);
    return status;
}

static modal_status check_options(const modal_derivatives_options *o, const double *eigenvalues,
                                  modal_error *err)
{
    const int64_t k = o->n_linear, most = k + modal_derivative_count(k);
    if (k < 1 || k > 1000)
        return modal_error_set(err, MODAL_ERROR_USAGE, "modal derivatives: of 1 to 1000 modes, %d",
                               o->n_linear);
    if (o->n_modes < 1 || o->n_modes > most)
        return modal_error_set(err, MODAL_ERROR_USAGE,
                               "modal derivatives: %d modes and their derivatives span at most %lld "
                               "columns, %d asked for",
                               o->n_linear, (long long)most, o->n_modes);
    for (int64_t i = 0; i < k; i++)
        if (!(eigenvalues[i] > 0))
            return modal_error_set(err, MODAL_ERROR_INPUT, "modal derivatives: eigenvalue %lld is %g",
                                   (long long)i, eigenvalues[i]);
    return MODAL_OK;
}

/* load [n] = lambda M phi. */
static void inertia_load(const reduced_space *space, double lambda, const double *mode,
                         double *field, double *load)
{
    for (int64_t i = 0; i < space->n; i++) field[i] = lambda * mode[3 * (int64_t)space->system.free_nodes[i / 3] + i % 3];
    modal_identity_blocks_multiply(&space->system.pattern, space->system.mass, 1, field, load, space->n_threads);
}

modal_status reduced_derive(const reduced_solid *solid, int64_t n_in_front, int64_t n_inertial, reduced_space *space,
                            double **vectors, modal_derivatives_report *report, const modal_progress *progress,
                            modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = solid->mesh;
    const modal_derivatives_options *o = solid->options;
    const double *eigenvalues = solid->eigenvalues, *modes = solid->modes;
    double *field = NULL;
    const int64_t n_pairs = modal_derivative_count(o->n_linear);
    MODAL_TRY(check_options(o, eigenvalues, err));
    MODAL_TRY(reduced_space_build(mesh, solid->fixed_nodes, o->fixed_components, solid->n_fixed, o->mass_rule, o->n_threads,
                                  space, err));
    const int64_t n_all = n_pairs + n_inertial;
    MODAL_TRY(modal_alloc_zero(vectors, (n_in_front + n_all) * space->n, sizeof **vectors,
                               "modal derivatives", err));
    double *derivatives = *vectors + n_in_front * space->n, before = modal_seconds();
    MODAL_TRY(make_loads(mesh, space, o->n_linear, modes, derivatives, progress, err));
    MODAL_TRY(modal_alloc(&field, n_inertial > 0 ? space->n : 0, sizeof *field, "modal derivatives", err));
    for (int64_t k = 0; k < n_inertial; k++)
        inertia_load(space, eigenvalues[k], modes + 3 * mesh->n_nodes * k, field, derivatives + (n_pairs + k) * space->n);
    reduced_space_hold(space, n_all, derivatives);
    report->seconds_loads = modal_seconds() - before;
    report->n_derivatives = n_pairs;
    MODAL_TRY(solve_loads(solid, space, n_all, derivatives, report, progress, err));
done:
    modal_free(&field);
    return status;
}

modal_status modal_derivatives_compute(const reduced_solid *solid, double **derivatives, modal_derivatives_report *report,
                                       const modal_progress *progress, modal_error *err)
{
    modal_status status = MODAL_OK;
    reduced_space space = {0};
    double *vectors = NULL;
    *derivatives = NULL;
    memset(report, 0, sizeof *report);
    MODAL_TRY(reduced_derive(solid, 0, 0, &space, &vectors, report,
                     progress, err));
    MODAL_TRY(modal_alloc_zero(derivatives, 3 * solid->mesh->n_nodes * report->n_derivatives,
                               sizeof **derivatives, "modal derivatives", err));
    for (int64_t v = 0; v < report->n_derivatives; v++)
        for (int64_t i = 0; i < space.n; i++)
            (*derivatives)[3 * (solid->mesh->n_nodes * v + space.system.free_nodes[i / 3]) + i % 3] =
                vectors[space.n * v + i];
done:
    modal_free(&vectors);
    reduced_space_free(&space);
    return status;
}

/* The weights of the 2005 paper, and principal components: the basis [n_modes, n] in `basis`. */
static modal_status principal_components(const reduced_space *space,
                                         const modal_derivatives_options *o,
                                         const double *eigenvalues, double *columns, double *basis,
                                         modal_derivatives_report *report, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t k = o->n_linear, n_all = k + modal_derivative_count(k), n = space->n;
    double *t = NULL, *left = NULL, all = 0, kept = 0;
    for (int64_t i = 0, at = k; i < k; i++) {
        scale(n, eigenvalues[0] / eigenvalues[i], columns + i * n);
        for (int64_t j = i; j < k; j++, at++)
            scale(n, eigenvalues[0] / eigenvalues[i] * (eigenvalues[0] / eigenvalues[j]), columns + at * n);
    }
    MODAL_TRY(modal_alloc(&t, n_all * n_all, sizeof *t, "principal components", err));
    MODAL_TRY(modal_alloc(&left, n_all * n_all, sizeof *left, "principal components", err));
    MODAL_TRY(modal_alloc(&report->singular_values, n_all, sizeof(double), "singular values", err));
    MODAL_TRY(reduced_orthonormalise(space, 0, n_all, columns, t, err));
    for (int64_t i = 0; i < n_all; i++) report->rank += t[i * n_all + i] > 0;
    if (report->rank < o->n_modes)
        MODAL_FAIL(err, MODAL_ERROR_INPUT,
                   "modal derivatives: %d columns asked for, modes and derivatives have %d independent "
                   "ones",
                   o->n_modes, report->rank);
    MODAL_TRY(reduced_svd(n_all, t, left, report->singular_values, err));
    for (int64_t i = 0; i < n_all; i++) {
        const double square = report->singular_values[i] * report->singular_values[i];
        all += square;
        kept += i < o->n_modes ? square : 0;
    }
    report->energy = kept / all;
    MODAL_TRY(reduced_combine(space, &(modal_combination){n_all, o->n_modes, columns, left, 1, 0, basis}, err));
done:
    modal_free(&t);
    modal_free(&left);
    return status;
}

modal_status modal_derivatives_solve(const reduced_solid *solid, modal_modes_result *result, modal_derivatives_report *report,
                                     const modal_progress *progress, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = solid->mesh;
    const modal_derivatives_options *options = solid->options;
    const double *modes = solid->modes;
    reduced_space space = {0};
    double *columns = NULL, *basis = NULL;
    const int64_t k = options->n_linear;
    memset(result, 0, sizeof *result);
    memset(report, 0, sizeof *report);
    MODAL_TRY(reduced_derive(solid, k, 0, &space, &columns, report,
                     progress, err));
    for (int64_t v = 0; v < k; v++)
        for (int64_t i = 0; i < space.n; i++)
            columns[space.n * v + i] =
                modes[3 * (mesh->n_nodes * v + space.system.free_nodes[i / 3]) + i % 3];
    const double before = modal_seconds();
    MODAL_TRY(modal_progress_report(progress, "principal components", -1, err));
    MODAL_TRY(modal_alloc(&basis, options->n_modes * space.n, sizeof *basis, "basis", err));
    MODAL_TRY(principal_components(&space, options, solid->eigenvalues, columns, basis, report, err));
    modal_free(&columns);
    MODAL_TRY(reduced_space_result(&space, options->n_modes, basis, 1, result, err));
    report->seconds_basis = modal_seconds() - before;
done:
    modal_free(&columns);
    modal_free(&basis);
    reduced_space_free(&space);
    if (status != MODAL_OK) modal_derivatives_report_free(report);
    return status;
}

void modal_derivatives_report_free(modal_derivatives_report *report)
{
    modal_free(&report->singular_values);
    memset(report, 0, sizeof *report);
}
