/* SPDX-License-Identifier: Apache-2.0 */
/* bench_modes NX,NY,NZ [N_MODES [ROUNDS [float32 | factor | MEBIBYTES]]]: natural modes of a clamped bar of NX x NY x NZ cells of
 * six tetrahedra. With float32: by lib/modes with a factor in floats and one in doubles, in turn. With factor: the numbers of
 * the factor of K alone, and a solve for eight right-hand sides, by lib/modes and by CHOLMOD in turn, on the same order; with
 * one thread processor seconds. With
 * a number: by lib/modes within that memory limit. Else by lib/modes and by its closest rival, in turn: CHOLMOD's supernodal Cholesky (METIS on the
 * node graph) with ARPACK-NG's Lanczos (dsaupd, mode 3, tolerance 1e-9, ncv = 2 nev + 1), both on the same K
 * and M with the same number of threads. MODAL_THREADS sets it. Seconds are without the assembly. */
#include <arpack/arpack.h>
#include <cholmod.h>
#include <math.h>
#include <omp.h>
#include <sys/resource.h>

#include "lib/base/clock.h"
#include "lib/fem/assemble.h"
#include "lib/modes/factor.h"
#include "lib/modes/modes.h"
#include "tests/bench/bar_bench.h"

/* The rival's BLAS. */
extern void openblas_set_num_threads(int n_threads);

/* Most memory that this process has held, MiB. */
static double peak(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* Modes by lib/modes; prints what they took. Ends the program where they do not come. */
static double ours(const modal_volume_mesh *mesh, const int32_t *fixed, int n_fixed,
                   const modal_modes_options *options, modal_modes_result *result)
{
    modal_error err = {0};
    const double begin = cpu_seconds();
    if (modal_modes_solve(mesh, fixed, n_fixed, options, result, NULL, &err) != MODAL_OK) {
        fprintf(stderr, "bench_modes: %s\n", err.message);
        exit(5);
    }
    const double seconds = result->seconds_order + result->seconds_analyse + result->seconds_factor +
                           result->seconds_solve + result->seconds_refine;
    printf("modal  %7.2f s, %.2f of processors: order %.2f, analyse + factor %.2f, %lld solves and the rest %.2f; "
           "%.0f MiB estimated, %.0f held\n",
           seconds, cpu_seconds() - begin, result->seconds_order, result->seconds_analyse + result->seconds_factor,
           (long long)result->n_solves, result->seconds_solve + result->seconds_refine,
           result->peak_bytes / 1048576, peak());
    if (result->factor_float32)
        printf("       factor in floats, %lld solves with it, %lld pivots raised\n", (long long)result->n_inner_solves,
               (long long)result->n_raised_pivots);
    fflush(stdout);
    return seconds;
}

/* Floats, then doubles, so that the memory held is that of the first, then that of the second. */
static void compare_factors(const modal_volume_mesh *mesh, const int32_t *fixed, int n_fixed,
                            modal_modes_options options)
{
    modal_modes_result floats, doubles;
    double seconds[2], worst = 0;
    options.factor = MODAL_FACTOR_FLOAT32;
    seconds[0] = ours(mesh, fixed, n_fixed, &options, &floats);
    options.factor = MODAL_FACTOR_FLOAT64;
    seconds[1] = ours(mesh, fixed, n_fixed, &options, &doubles);
    for (int k = 0; k < options.n_modes; k++)
        worst = fmax(worst, fabs(floats.eigenvalues[k] / doubles.eigenvalues[k] - 1));
    printf("ratio %.3f; eigenvalues differ by %.1e\n", seconds[0] / seconds[1], worst);
    modal_modes_result_free(&floats);
    modal_modes_result_free(&doubles);
}

/* Columns of the lower triangle of K, by degrees of freedom. */
static cholmod_sparse *expand(const modal_fem_system *system, cholmod_common *common)
{
    const modal_block_pattern *p = &system->pattern;
    const size_t n = 3 * (size_t)p->n_nodes, size = 9 * (size_t)modal_block_count(p) - n;
    cholmod_sparse *a = cholmod_l_allocate_sparse(n, n, size, 1, 1, -1, CHOLMOD_REAL, common);
    int64_t *columns = a->p, *rows = a->i, at = 0;
    double *values = a->x;
    for (int64_t j = 0; j < p->n_nodes; j++)
        for (int q = 0; q < 3; q++) {
            columns[3 * j + q] = at;
            for (int64_t k = p->offsets[j]; k < p->offsets[j + 1]; k++)
                for (int r = k == p->offsets[j] ? q : 0; r < 3; r++) {
                    rows[at] = 3 * (int64_t)p->rows[k] + r;
                    values[at++] = system->stiffness[9 * k + 3 * r + q];
                }
        }
    columns[n] = at;
    return a;
}

static void order(const modal_fem_system *system, int64_t *permutation, cholmod_common *common)
{
    const modal_block_pattern *p = &system->pattern;
    const size_t n = (size_t)p->n_nodes, size = (size_t)modal_block_count(p);
    cholmod_sparse *graph = cholmod_l_allocate_sparse(n, n, size, 1, 1, -1, CHOLMOD_PATTERN, common);
    int64_t *rows = graph->i, *nodes = malloc(n * sizeof *nodes);
    memcpy(graph->p, p->offsets, (n + 1) * sizeof(int64_t));
    for (size_t k = 0; k < size; k++) rows[k] = p->rows[k];
    solid_require(cholmod_l_metis(graph, NULL, 0, 0, nodes, common), "METIS");
    for (size_t k = 0; k < 3 * n; k++) permutation[k] = 3 * nodes[k / 3] + (int64_t)(k % 3);
    cholmod_l_free_sparse(&graph, common);
    free(nodes);
}

static double rival(const modal_fem_system *system, int n_modes, int n_threads, double *eigenvalues)
{
    const double start = modal_seconds();
    const a_int n = 3 * (a_int)system->n_free, n_basis = 2 * n_modes + 1, n_work = n_basis * (n_basis + 8);
    cholmod_common common;
    openblas_set_num_threads(n_threads);
    cholmod_l_start(&common);
    common.supernodal = CHOLMOD_SUPERNODAL;
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_GIVEN;
    cholmod_sparse *a = expand(system, &common);
    int64_t *permutation = malloc((size_t)n * sizeof *permutation);
    order(system, permutation, &common);
    const double ordered = modal_seconds();
    const int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(0); /* CHOLMOD's own threads on top of BLAS's cost more than they bring */
    cholmod_factor *factor = cholmod_l_analyze_p(a, permutation, NULL, 0, &common);
    solid_require(factor && cholmod_l_factorize(a, factor, &common), "Cholesky");
    const double factored = modal_seconds();
    double *start_vector = malloc((size_t)n * 8), *basis = malloc((size_t)n * (size_t)n_basis * 8);
    double *work = calloc(3 * (size_t)n, 8), *more = calloc((size_t)n_work, 8);
    double *vectors = malloc((size_t)n * (size_t)n_modes * 8);
    cholmod_dense *x = NULL, *y = NULL, *e = NULL;
    a_int parameters[11] = {1, 0, 300, 1, 0, 0, 3}, pointers[14] = {0}, info = 1, ido = 0;
    for (a_int i = 0; i < n; i++) start_vector[i] = sin(1.0 + 3.0 * i);
    int n_solves = 0;
    for (;;) {
        dsaupd_c(&ido, "G", n, "LM", n_modes, 1e-9, start_vector, n_basis, basis, n, parameters, pointers,
                 work, more, n_work, &info);
        if (ido == 99) break;
        double *from = work + pointers[0] - 1, *to = work + pointers[1] - 1, *right = to;
        if (ido == 1) right = work + pointers[2] - 1;
        if (ido != 1) modal_identity_blocks_multiply(&system->pattern, system->mass, 1, from, to, 1);
        if (ido == 2) continue;
        cholmod_dense b = {.nrow = (size_t)n, .ncol = 1, .nzmax = (size_t)n, .d = (size_t)n, .x = right,
                           .xtype = CHOLMOD_REAL, .dtype = CHOLMOD_DOUBLE};
        solid_require(cholmod_l_solve2(CHOLMOD_A, factor, &b, NULL, &x, NULL, &y, &e, &common), "solve");
        memcpy(to, x->x, (size_t)n * 8);
        n_solves++;
    }
    solid_require(info == 0, "ARPACK");
    a_int *select = calloc((size_t)n_basis, sizeof *select);
    dseupd_c(1, "A", select, eigenvalues, vectors, n, 0, "G", n, "LM", n_modes, 1e-9, start_vector, n_basis,
             basis, n, parameters, pointers, work, more, n_work, &info);
    omp_set_max_active_levels(levels);
    const double seconds = modal_seconds() - start;
    printf("rival  %7.2f s: order %.2f, analyse + factor %.2f, %d solves and the rest %.2f\n", seconds,
           ordered - start, factored - ordered, n_solves, modal_seconds() - factored);
    cholmod_l_free_dense(&x, &common);
    cholmod_l_free_dense(&y, &common);
    cholmod_l_free_dense(&e, &common);
    cholmod_l_free_factor(&factor, &common);
    cholmod_l_free_sparse(&a, &common);
    cholmod_l_finish(&common);
    free(permutation), free(start_vector), free(basis), free(work), free(more), free(vectors), free(select);
    return seconds;
}

/* The numbers of the factor and eight right-hand sides, in turn; order and analysis are not in the seconds. */
static void compare_numbers(const modal_fem_system *system, int rounds, int n_threads)
{
    enum { RIGHT = 8 };
    const size_t n = 3 * (size_t)system->n_free;
    modal_error err = {0};
    modal_factor *ours = NULL;
    modal_factor_report report;
    cholmod_common common;
    openblas_set_num_threads(n_threads);
    cholmod_l_start(&common);
    common.supernodal = CHOLMOD_SUPERNODAL;
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_GIVEN;
    cholmod_sparse *a = expand(system, &common);
    int64_t *permutation = malloc(n * sizeof *permutation);
    modal_row *right = aligned_alloc(64, n * sizeof *right), *x = aligned_alloc(64, n * sizeof *x);
    cholmod_dense *b = cholmod_l_allocate_dense(n, RIGHT, n, CHOLMOD_REAL, &common), *y = NULL, *e = NULL, *theirs = NULL;
    order(system, permutation, &common);
    cholmod_factor *factor = cholmod_l_analyze_p(a, permutation, NULL, 0, &common);
    solid_require(factor && modal_factor_new(system, n_threads, &ours, &report, NULL, &err) == MODAL_OK, "analysis");
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < RIGHT; k++) ((double *)b->x)[(size_t)k * n + i] = right[i][k] = sin(1.0 + 3.0 * (double)i + k);
    for (int round = 0; round < rounds; round++) {
        int definite;
        int64_t pivot;
        double times[5], largest = 0, differs = 0;
        times[0] = n_threads == 1 ? cpu_seconds() : modal_seconds(); /* one is not disturbed by others */
        solid_require(modal_factor_compute(ours, 0, &definite, &pivot, &report, NULL, &err) == MODAL_OK && definite, "factor");
        times[1] = n_threads == 1 ? cpu_seconds() : modal_seconds();
        modal_factor_solve_rows(ours, right, x);
        times[2] = n_threads == 1 ? cpu_seconds() : modal_seconds();
        const int levels = omp_get_max_active_levels();
        omp_set_max_active_levels(0); /* as in rival() */
        solid_require(cholmod_l_factorize(a, factor, &common), "Cholesky");
        times[3] = n_threads == 1 ? cpu_seconds() : modal_seconds();
        solid_require(cholmod_l_solve2(CHOLMOD_A, factor, b, NULL, &theirs, NULL, &y, &e, &common), "solve");
        times[4] = n_threads == 1 ? cpu_seconds() : modal_seconds();
        omp_set_max_active_levels(levels);
        for (size_t i = 0; i < n; i++)
            for (int k = 0; k < RIGHT; k++) {
                const double other = ((const double *)theirs->x)[(size_t)k * n + i];
                largest = fmax(largest, fabs(other));
                differs = fmax(differs, fabs(other - x[i][k]));
            }
        printf("factor %.3f s, CHOLMOD %.3f, ratio %.3f; eight right-hand sides %.4f s, CHOLMOD %.4f, ratio %.3f; "
               "solutions differ by %.1e\n",
               times[1] - times[0], times[3] - times[2], (times[1] - times[0]) / (times[3] - times[2]), times[2] - times[1],
               times[4] - times[3], (times[2] - times[1]) / (times[4] - times[3]), differs / largest);
        fflush(stdout);
    }
    modal_factor_delete(ours);
    cholmod_l_free_dense(&b, &common), cholmod_l_free_dense(&y, &common), cholmod_l_free_dense(&e, &common);
    cholmod_l_free_dense(&theirs, &common);
    cholmod_l_free_factor(&factor, &common);
    cholmod_l_free_sparse(&a, &common);
    cholmod_l_finish(&common);
    free(permutation), free(right), free(x);
}

int main(int argc, char **argv)
{
    bar_bench bar;
    if (!bar_bench_open(&bar, argc, argv, "bench_modes NX,NY,NZ [N_MODES [ROUNDS [float32 | factor | MEBIBYTES]]]")) return 2;
    const int n_modes = bar.n_modes, n_threads = bar.n_threads;
    modal_fem_system system;
    modal_error err = {0};
    double *eigenvalues = malloc((size_t)(2 * n_modes + 1) * sizeof *eigenvalues);
    const int numbers = argc > 4 && strcmp(argv[4], "factor") == 0;
    if (numbers) {
        if (modal_fem_assemble(&bar.mesh, bar.fixed, NULL, bar.n_fixed, MODAL_MASS_CONSISTENT, n_threads, &system, &err))
            return 5;
        compare_numbers(&system, bar.rounds, n_threads);
        modal_fem_system_free(&system);
    }
    for (int round = 0; round < bar.rounds && !numbers; round++) {
        modal_modes_result result;
        modal_modes_options options = {
            .n_modes = n_modes, .n_threads = n_threads, .proof = MODAL_PROOF_NEVER};
        if (argc > 4 && strcmp(argv[4], "float32") == 0) {
            compare_factors(&bar.mesh, bar.fixed, bar.n_fixed, options);
            continue;
        }
        if (argc > 4) options.memory_limit = 1048576 * atof(argv[4]);
        const double begin = cpu_seconds();
        const double seconds = ours(&bar.mesh, bar.fixed, bar.n_fixed, &options, &result);
        const double cpu = cpu_seconds() - begin; /* with the assembly */
        if (argc > 4) {
            modal_modes_result_free(&result);
            continue;
        }
        if (modal_fem_assemble(&bar.mesh, bar.fixed, NULL, bar.n_fixed, MODAL_MASS_CONSISTENT, n_threads, &system, &err))
            return 5;
        const double middle = cpu_seconds();
        const double theirs = rival(&system, n_modes, n_threads, eigenvalues);
        const double rival_cpu = cpu_seconds() - middle;
        double worst = 0;
        for (int k = 0; k < n_modes; k++) /* ascending in lambda */
            worst = fmax(worst, fabs(eigenvalues[k] / result.eigenvalues[k] - 1));
        bar_bench_compare(seconds, theirs, cpu, rival_cpu, worst);
        modal_fem_system_free(&system);
        modal_modes_result_free(&result);
    }
    bar_bench_close(&bar);
    free(eigenvalues);
    return 0;
}
