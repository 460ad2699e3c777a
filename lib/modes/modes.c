/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/modes/modes.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/memory.h"
#include "lib/modes/problem.h"

enum { DENSE_ALWAYS = 120, DENSE_AT_MOST = 4000, DEFAULT_RESTARTS = 300 };

/* A Sturm count costs one factorisation more: made without being asked for below this many operations. */
static const double cheap_flops = 5e10;

static double largest(double a, double b) { return a > b ? a : b; }

/* See the head of modes.h. */
static double first_shift(const modal_modes_problem *problem)
{
    const double pi = 3.14159265358979323846;
    double size = 0;
    for (int64_t part = 0; part < problem->rigid.n_parts; part++)
        if (problem->rigid.n_motions[part] > 0) size = largest(size, problem->rigid.part_size[part]);
    if (problem->rigid.n_rigid == 0) return 0;
    return -1e-4 * problem->system.wave_scale * (pi / size) * (pi / size);
}

static modal_status factorise(const modal_volume_mesh *mesh, modal_modes_problem *problem,
                              modal_factor_report *report, modal_error *err)
{
    modal_status status = MODAL_OK;
    char suspect[MODAL_SUSPECT];
    int definite = 0;
    int64_t pivot = -1;
    problem->shift = first_shift(problem);
    for (int attempt = 0; attempt < 5; attempt++) {
        MODAL_TRY(modal_progress_report(problem->progress, "factor", 0, err));
        MODAL_TRY(modal_factor_compute(problem->factor, problem->shift, &definite, &pivot, report,
                                       problem->progress, err));
        if (definite) goto done;
        problem->shift = problem->shift < 0 ? 100 * problem->shift
                                            : -16 * problem->matrix_noise;
    }
    modal_modes_suspect(mesh, suspect);
    MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: K - sigma M is not positive definite at node %lld, sigma %.3g%s",
               pivot < 0 ? -1LL : (long long)mesh->node_tags[problem->system.free_nodes[pivot / 3]], problem->shift,
               *suspect ? suspect : ": elements of extremely different stiffness?");
done:
    return status;
}

/* What the computation holds at its largest, from the analysis: K and M with both triangles, the rigid
 * motions and the result throughout; the factor; and then either the basis of Lanczos (with the block
 * that follows it, four of work and what becomes the modes) or the dense matrices. */
static double bytes_needed(const modal_modes_problem *problem, const modal_factor_report *report,
                           modal_precision precision, const modal_modes_options *options, int64_t n_nodes, int64_t n_blocks)
{
    const int32_t n_modes = options->n_modes;
    const double more = options->beside ? MODAL_MORE : 0, beside = options->beside ? 3 * MODAL_MOST_BESIDE + 2 * MODAL_ROW : 0;
    const double n = (double)problem->n, blocks = (double)modal_block_count(&problem->system.pattern);
    const double kept = (72 + 8 + 4) * blocks + 2 * (8 + 8 + 4) * blocks +
                        2 * 8 * n * (double)problem->rigid.depth + 24.0 * n_modes * (double)n_nodes;
    const double modes = 8 * n * (3.0 * n_modes + more + beside); /* with M times them, and work of the refinement */
    const double lanczos = 8 * n * (8.0 * (double)(n_blocks + 5) + n_modes + more);
    const double work = n_blocks > 0 ? (lanczos > modes ? lanczos : modes) : modes + 5 * 8 * n * n;
    return kept + report->bytes[precision] + work;
}

/* Doubles and a Lanczos basis as large as is of use; or one that takes up to twice as many steps; or a factor
 * in floats, again with a basis that fits. Or what would be needed at least. */
static modal_status plan_memory(const modal_modes_problem *problem, const modal_factor_report *report,
                                const modal_modes_options *options, int64_t n_nodes, modal_modes_result *result,
                                int64_t *n_blocks, modal_error *err)
{
    const int dense = result->dense;
    const int64_t fewest = dense ? 0 : modal_modes_lanczos_fewest(options->n_modes);
    const int64_t most = dense ? 0 : modal_modes_lanczos_blocks(options->n_modes, problem->n - problem->rigid.n_rigid);
    const int fixed = options->factor != MODAL_FACTOR_AUTO || dense;
    const modal_precision first = options->factor == MODAL_FACTOR_FLOAT32 ? MODAL_FLOAT32 : MODAL_FLOAT64;
    const modal_precision last = fixed ? first : MODAL_FLOAT32;
    double *bytes = &result->peak_bytes;
    for (modal_precision p = first; p <= last; p++) {
        const int64_t least = p == last || fewest > (most + 1) / 2 ? fewest : (most + 1) / 2;
        result->factor_float32 = p == MODAL_FLOAT32;
        for (*n_blocks = most;; --*n_blocks) {
            *bytes = bytes_needed(problem, report, p, options, n_nodes, *n_blocks);
            if (!(options->memory_limit > 0) || *bytes <= options->memory_limit) return MODAL_OK;
            if (*n_blocks <= least) break;
        }
    }
    return modal_error_set(err, MODAL_ERROR_MEMORY,
                           "modes: %.0f MiB needed (factor %.0f MiB in %s, %.3g operations), %s %.0f MiB; multigrid needs no factor, and "
                           "ranks divide the rest: mpirun -n P modalpack --eigensolver slepc --route multigrid (--plan says what they take)",
                           ceil(*bytes / 1048576), ceil(report->bytes[last] / 1048576),
                           last == MODAL_FLOAT32 ? "floats" : "doubles", report->flops,
                           options->limit_is_available ? "the machine has" : "the limit is",
                           options->memory_limit / 1048576);
}

/* Whether as many of the eigenvalues are equal as a block has vectors: there may be more. */
static int is_crowded(int32_t n_modes, const double *eigenvalues)
{
    for (int32_t k = 0; k + MODAL_ROW - 1 < n_modes; k++)
        if (eigenvalues[k + MODAL_ROW - 1] <= eigenvalues[k] * (1 + 1e-6)) return 1;
    return 0;
}

static modal_status check_zero_modes(const modal_modes_problem *problem, int64_t n_more,
                                     modal_error *err)
{
    char loose[MODAL_LOOSE];
    if (n_more == 0) return MODAL_OK;
    modal_modes_loose(problem->mesh, loose);
    return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED, "modes: %" PRId64 " rigid modes found, %" PRId64 " expected%s",
                           problem->rigid.n_rigid + n_more, problem->rigid.n_rigid, loose);
}

/* Sign rule, participation [3], scatter to all nodes; returns the modal mass. */
static double finish_mode(const modal_modes_problem *problem, const double *vector, const double *mass_vector, double *mode,
                          double *to_participation)
{
    const modal_fem_system *system = &problem->system;
    double top = 0, sign = 1, mass = 0, participation[3] = {0};
    for (int64_t i = 0; i < problem->n; i++) top = largest(top, fabs(vector[i]));
    for (int64_t i = 0; i < problem->n; i++)
        if (fabs(vector[i]) >= top * (1 - 1e-6)) {
            sign = vector[i] < 0 ? -1 : 1;
            break;
        }
    for (int64_t i = 0; i < system->n_free; i++)
        for (int p = 0; p < 3; p++) {
            const int held = system->pattern.held && system->pattern.held[i] >> p & 1;
            const double value = held ? 0 : sign * vector[3 * i + p];
            mode[3 * (int64_t)system->free_nodes[i] + p] = value;
            participation[p] += system->nodal_mass[i] * value;
            mass += vector[3 * i + p] * mass_vector[3 * i + p];
        }
    memcpy(to_participation, participation, sizeof participation);
    return mass;
}

/* What the modes leave out: of the vectors behind theirs, and static answers. The factor is there still. */
static modal_status find_left(modal_modes_problem *problem, const modal_modes_pairs *pairs, int32_t n_more, int64_t n_nodes,
                              modal_modes_left *left, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_modes_beside beside = {0};
    int32_t first = 0; /* rounding may leave what does not deform */
    if (n_more > 0) MODAL_TRY(modal_modes_find_beside(problem, pairs, n_more, pairs->vectors + pairs->count * problem->n, &beside, err));
    while (first < beside.count && !(beside.eigenvalues[first] > modal_energy_rounding(&problem->system, beside.vectors + first * problem->n)))
        first++;
    left->n = beside.count - first;
    MODAL_TRY(modal_alloc(&left->eigenvalues, left->n, sizeof(double), "motions beside modes", err));
    MODAL_TRY(modal_alloc(&left->participation, 3 * (int64_t)left->n, sizeof(double), "motions beside modes", err));
    MODAL_TRY(modal_alloc_zero(&left->motions, 3 * n_nodes * left->n, sizeof(double), "motions beside modes", err));
    for (int32_t k = 0; k < left->n; k++) {
        const int64_t at = (first + k) * problem->n;
        left->eigenvalues[k] = beside.eigenvalues[first + k];
        finish_mode(problem, beside.vectors + at, beside.vectors + at, left->motions + 3 * n_nodes * k, left->participation + 3 * (int64_t)k);
    }
    left->known = 1;
done:
    modal_modes_beside_free(&beside);
    return status;
}

static modal_status allocate_result(modal_modes_result *result, int32_t n_modes, int64_t n_nodes,
                                    int64_t n_rigid, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n_values = 0;
    result->n_modes = n_modes;
    result->n_nodes = n_nodes;
    result->n_rigid = (int32_t)n_rigid;
    if (!modal_size_multiply(n_modes, n_nodes, &n_values)) n_values = -1;
    MODAL_TRY(modal_alloc_zero(&result->modes, n_values, 3 * sizeof(double), "modes", err));
    MODAL_TRY(modal_alloc(&result->eigenvalues, n_modes, sizeof(double), "eigenvalues", err));
    MODAL_TRY(modal_alloc(&result->residuals, n_modes, sizeof(double), "residuals", err));
    MODAL_TRY(modal_alloc(&result->orthogonalities, n_modes, sizeof(double), "orthogonality", err));
    MODAL_TRY(modal_alloc(&result->modal_masses, n_modes, sizeof(double), "modal masses", err));
    MODAL_TRY(modal_alloc(&result->participation, n_modes, 3 * sizeof(double), "participation", err));
    MODAL_TRY(modal_alloc_zero(&result->rigid_eigenvalues, n_rigid, sizeof(double),
                               "rigid eigenvalues", err));
done:
    return status;
}

/* What modes are searched by, and what that took. */
typedef struct search {
    modal_modes_limits limits;
    modal_modes_guard guard;
    modal_modes_cost cost;
} search;

static modal_status choose_solver(const modal_modes_problem *problem, const modal_modes_options *options,
                                  modal_modes_result *result, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n_modes = options->n_modes;
    const int64_t n = problem->n, n_rigid = problem->rigid.n_rigid;
    const int64_t n_elastic = n - n_rigid - problem->system.n_held;
    if (n > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "modes: %" PRId64 " degrees of freedom, at most %d", n,
                   INT32_MAX);
    if (n_modes > n_elastic)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "modes: %d asked for, %" PRId64 " degrees of freedom%s",
                   n_modes, n_elastic, n_rigid ? " besides the rigid ones" : "");
    result->dense = options->solver == MODAL_MODES_DENSE ||
                    modal_modes_lanczos_blocks(n_modes, n_elastic) < modal_modes_lanczos_fewest(n_modes);
    if (options->solver == MODAL_MODES_AUTO && !result->dense)
        result->dense = n <= DENSE_ALWAYS || (3 * (int64_t)n_modes > n_elastic && n <= DENSE_AT_MOST);
done:
    return status;
}

static modal_status check_rigid_modes(int64_t n_rigid, const modal_modes_result *result, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int64_t k = 0; k < n_rigid; k++)
        if (!(fabs(result->rigid_eigenvalues[k]) <= 1e-3 * result->eigenvalues[0]))
            MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
                       "modes: %" PRId64 " rigid modes found, %" PRId64
                       " expected: eigenvalue %.3g beside the first elastic one, %.3g",
                       k, n_rigid, result->rigid_eigenvalues[k], result->eigenvalues[0]);
done:
    return status;
}

/* Whether modes were left out below the last one: by a Sturm count, or where floats cannot count by another search. */
static modal_status count_below(modal_modes_problem *problem, const modal_modes_options *options, search *how,
                                const modal_modes_pairs *pairs, modal_modes_result *result, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n_modes = options->n_modes;
    const double before = modal_seconds();
    if (result->factor_float32 && options->proof == MODAL_PROOF_AUTO && is_crowded(n_modes, result->eigenvalues))
        MODAL_TRY(modal_modes_search(problem, &how->limits, pairs, &how->cost, err));
    else if (how->limits.counted || (!result->factor_float32 && options->proof == MODAL_PROOF_AUTO &&
                                is_crowded(n_modes, result->eigenvalues)))
        MODAL_TRY(modal_modes_prove(problem, &how->limits, &how->guard, pairs, &result->sturm, &how->cost, err));
    if (options->proof == MODAL_PROOF_ALWAYS && result->sturm.n_below < 0 && result->factor_float32)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
                   "modes: Sturm count at %.9g: what floats lose of K - sigma M is up to %.3g times of what turns a "
                   "sign; a factor in doubles may count",
                   result->sturm.shift, result->sturm.defect);
    if (options->proof == MODAL_PROOF_ALWAYS && result->sturm.n_below < 0)
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED,
                   "modes: Sturm count at %.9g: pivots of K - sigma M grow %.3g-fold, too much to count",
                   result->sturm.shift, result->sturm.growth);
    result->seconds_count = modal_seconds() - before;
done:
    return status;
}

static void tell(const modal_modes_problem *problem, const modal_factor_report *report, const modal_modes_cost *cost,
                 modal_modes_result *result)
{
    result->total_mass = problem->system.total_mass;
    result->shift = problem->shift;
    result->n_dof = problem->n;
    result->n_solves = problem->n_solves;
    result->n_inner_solves = problem->n_inner;
    result->n_raised_pivots = report->n_raised;
    result->factor_lift = report->lift;
    result->n_iterations = cost->n_restarts;
    result->n_refinements = cost->n_refinements;
    result->n_recovered = cost->n_recovered;
    result->factor_nonzeros = report->nonzeros;
    result->factor_flops = report->flops;
    result->seconds_order = report->seconds_order;
    result->seconds_analyse = report->seconds_analyse;
    result->seconds_factor = report->seconds_factor;
}

static modal_status find_vectors(modal_modes_problem *problem, const modal_modes_options *options, search *how, double *vectors,
                                 modal_modes_result *result, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = problem->n, n_rigid = problem->rigid.n_rigid;
    const int64_t n_elastic = n - n_rigid - problem->system.n_held;
    double *scratch = NULL;
    int64_t n_zero = 0;
    if (result->dense) {
        MODAL_TRY(modal_progress_report(problem->progress, "solve", -1, err));
        MODAL_TRY(modal_modes_dense(problem, options->n_modes, how->limits.n_more, vectors, &how->guard, result->rigid_eigenvalues, &n_zero, err));
        if (n_zero <= n_rigid) goto done;
        /* a dense solver leaves the rounding of the largest eigenvalue in all, and that may hide elastic ones */
        if (options->solver == MODAL_MODES_DENSE ||
            modal_modes_lanczos_blocks(options->n_modes, n_elastic) < modal_modes_lanczos_fewest(options->n_modes))
            MODAL_TRY(check_zero_modes(problem, n_zero - n_rigid, err));
        result->dense = 0;
        how->limits.most_blocks = 0;
    }
    MODAL_TRY(modal_modes_lanczos(problem, options->n_modes, &how->limits, vectors, &how->guard, &how->cost.n_restarts, err));
    MODAL_TRY(modal_alloc(&scratch, problem->rigid.depth * n, sizeof *scratch, "rigid", err));
    modal_rigid_eigenvalues(&problem->rigid, &problem->system, problem->n_threads, scratch, result->rigid_eigenvalues);
done:
    modal_free(&scratch);
    return status;
}

static modal_status compute(const modal_volume_mesh *mesh, const modal_modes_options *options,
                            modal_modes_problem *problem, modal_modes_result *result,
                            modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n_modes = options->n_modes;
    const int64_t n = problem->n, n_rigid = problem->rigid.n_rigid, n_others = n - n_rigid - problem->system.n_held - n_modes;
    const int32_t n_more_vectors = !options->beside ? 0 : n_others < MODAL_MORE ? (int32_t)n_others : MODAL_MORE;
    modal_factor_report report = {0};
    double *vectors = NULL, *mass_vectors = NULL;
    int64_t n_more = 0;
    search how = {.limits = {options->tolerance, options->max_iterations, 0, 0}};
    result->sturm.n_below = -1;
    MODAL_TRY(choose_solver(problem, options, result, err));
    MODAL_TRY(modal_factor_new(&problem->system, problem->n_threads, &problem->factor, &report,
                               problem->progress, err));
    problem->mass = modal_factor_mass(problem->factor);
    MODAL_TRY(plan_memory(problem, &report, options, mesh->n_nodes, result, &how.limits.most_blocks, err));
    modal_factor_use(problem->factor, result->factor_float32 ? MODAL_FLOAT32 : MODAL_FLOAT64);
    MODAL_TRY(allocate_result(result, n_modes, mesh->n_nodes, n_rigid, err));
    MODAL_TRY(factorise(mesh, problem, &report, err));
    MODAL_TRY(modal_alloc(&problem->coefficients, problem->rigid.n_parts * problem->rigid.depth,
                          sizeof *problem->coefficients, "rigid motions", err));
    if (result->factor_float32) MODAL_TRY(modal_modes_inner_new(problem, &problem->inner, err));
    how.limits.counted =
        options->proof == MODAL_PROOF_ALWAYS ||
        (options->proof == MODAL_PROOF_AUTO && !result->factor_float32 && report.flops <= cheap_flops);

    double before = modal_seconds();
    MODAL_TRY(modal_alloc(&vectors, n * (n_modes + n_more_vectors), sizeof *vectors, "modes", err));
    how.limits.n_more = n_more_vectors;
    MODAL_TRY(find_vectors(problem, options, &how, vectors, result, err));
    result->seconds_solve = modal_seconds() - before;

    before = modal_seconds();
    MODAL_TRY(modal_alloc(&mass_vectors, n * n_modes, sizeof *mass_vectors, "modes", err));
    const modal_modes_pairs pairs = {n_modes, vectors, mass_vectors, result->eigenvalues, result->residuals};
    MODAL_TRY(modal_modes_refine(problem, options->tolerance, &pairs, &how.cost.n_refinements, err));
    for (int32_t k = 0; k < n_modes; k++)
        n_more += !(result->eigenvalues[k] > modal_energy_rounding(&problem->system, vectors + k * n));
    MODAL_TRY(check_zero_modes(problem, n_more, err));
    MODAL_TRY(check_rigid_modes(n_rigid, result, err));
    if (options->beside) MODAL_TRY(find_left(problem, &pairs, n_more_vectors, mesh->n_nodes, &result->left, err));
    how.limits.n_more = 0;
    result->seconds_refine = modal_seconds() - before;

    MODAL_TRY(count_below(problem, options, &how, &pairs, result, err));
    if (how.cost.n_recovered > 0) result->left.known = 0; /* it was beside other modes */
    MODAL_TRY(modal_modes_orthogonality(n, n_modes, vectors, mass_vectors, problem->n_threads,
                                        result->orthogonalities, err));
    for (int32_t k = 0; k < n_modes; k++)
        if (!(result->orthogonalities[k] <= result->orthogonality))
            result->orthogonality = result->orthogonalities[k];
    if (!(result->orthogonality <= 1e-10))
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "modes: M-orthonormal to %.3g only",
                   result->orthogonality);
    for (int32_t k = 0; k < n_modes; k++)
        result->modal_masses[k] = finish_mode(problem, vectors + k * n, mass_vectors + k * n, result->modes + 3 * result->n_nodes * k,
                                              result->participation + 3 * (int64_t)k);

    tell(problem, &report, &how.cost, result);
done:
    modal_free(&vectors);
    modal_free(&mass_vectors);
    return status;
}

modal_status modal_modes_solve(const modal_volume_mesh *mesh, const int32_t *fixed_nodes,
                               int64_t n_fixed, const modal_modes_options *options,
                               modal_modes_result *result, const modal_progress *progress,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_modes_options chosen = *options;
    modal_modes_problem problem = {.mesh = mesh, .progress = progress, .random = options->seed};
    memset(result, 0, sizeof *result);
    if (chosen.tolerance == 0) chosen.tolerance = 1e-9;
    if (chosen.max_iterations == 0) chosen.max_iterations = DEFAULT_RESTARTS;
    if (chosen.n_threads == 0) chosen.n_threads = omp_get_max_threads();
    if (chosen.n_modes < 1)
        return modal_error_set(err, MODAL_ERROR_USAGE, "modes: %d asked for", chosen.n_modes);
    if (!(chosen.tolerance > 0) || chosen.max_iterations < 1 || chosen.n_threads < 1)
        return modal_error_set(err, MODAL_ERROR_USAGE,
                               "modes: tolerance %g, %d restarts, %d threads", chosen.tolerance,
                               chosen.max_iterations, chosen.n_threads);
    problem.n_threads = chosen.n_threads;
    problem.expected_solves = 4.5 * chosen.n_modes + 75; /* as it was for 5 to 30 modes of bars, bunnies and bridges */
    const double before = modal_seconds();
    status = modal_progress_report(progress, "assemble", -1, err);
    if (status == MODAL_OK)
        status = modal_fem_assemble(mesh, fixed_nodes, chosen.fixed_components, n_fixed,
                                    chosen.mass_rule, chosen.n_threads, &problem.system, err);
    if (status == MODAL_OK)
        status = modal_rigid_space_build(mesh, &problem.system, chosen.n_threads, &problem.rigid, err);
    result->seconds_assemble = modal_seconds() - before;
    if (status == MODAL_OK) {
        const int64_t most = 3 * problem.system.n_free - problem.rigid.n_rigid - problem.system.n_held;
        problem.n = 3 * problem.system.n_free;
        if (chosen.fewer && most >= 1 && most < chosen.n_modes) chosen.n_modes = (int32_t)most;
        problem.matrix_noise = 16 * DBL_EPSILON * problem.system.largest_ratio;
        status = compute(mesh, &chosen, &problem, result, err);
    }
    modal_modes_inner_delete(problem.inner);
    modal_free(&problem.coefficients);
    modal_factor_delete(problem.factor);
    modal_rigid_space_free(&problem.rigid);
    modal_fem_system_free(&problem.system);
    if (status != MODAL_OK) modal_modes_result_free(result);
    return status;
}

void modal_modes_left_free(modal_modes_left *left)
{
    modal_free(&left->eigenvalues);
    modal_free(&left->motions);
    modal_free(&left->participation);
    left->known = left->n = 0;
}

void modal_modes_result_free(modal_modes_result *result)
{
    modal_free(&result->eigenvalues);
    modal_free(&result->modes);
    modal_free(&result->residuals);
    modal_free(&result->orthogonalities);
    modal_free(&result->modal_masses);
    modal_free(&result->participation);
    modal_free(&result->rigid_eigenvalues);
    modal_modes_left_free(&result->left);
    memset(result, 0, sizeof *result);
}
