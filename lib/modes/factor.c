/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/modes/factor.h"

#include <cholmod.h>
#include <inttypes.h>
#include <omp.h>
#include <string.h>
#include <time.h>

#include "lib/base/memory.h"


/* There with OpenBLAS, absent with a plain BLAS. */
extern void openblas_set_num_threads(int n_threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

enum { SOLVE_WIDTH = 16 }; /* right-hand sides a solve: where a wider one gains little more */

struct modal_factor {
    cholmod_common common;
    int64_t n; /* degrees of freedom */
    int64_t *permutation;
    int64_t *columns; /* CSC, lower triangle */
    int64_t *rows;
    double *values;
    cholmod_factor *factor;
    cholmod_dense *solution, *work_y, *work_e; /* of solves */
};

double modal_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int modal_blas_threads(int n_threads)
{
    if (!openblas_set_num_threads || !openblas_get_num_threads) return 0;
    const int before = openblas_get_num_threads();
    openblas_set_num_threads(n_threads);
    return before;
}

static int hold_openmp(void)
{
    const int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(0);
    return levels;
}

/* What CHOLMOD refused; its own status stays set until the next call. */
static modal_status cholmod_failure(const modal_factor *factor, const char *what, modal_error *err)
{
    const int code = factor->common.status;
    if (code == CHOLMOD_OUT_OF_MEMORY)
        return modal_error_set(err, MODAL_ERROR_MEMORY, "%s: out of memory, %.0f MB in use", what,
                               (double)factor->common.memory_inuse / 1e6);
    if (code == CHOLMOD_TOO_LARGE)
        return modal_error_set(err, MODAL_ERROR_MEMORY, "%s: too large, %" PRId64 " unknowns", what,
                               factor->n);
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: CHOLMOD status %d", what, code);
}

/* A node numbering that keeps fill low, expanded to degrees of freedom. */
static modal_status order_nodes(modal_factor *factor, const modal_fem_system *system,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_nodes = system->n_free, n_blocks = modal_block_count(&system->pattern);
    int64_t *columns = NULL, *rows = NULL, *order = NULL;
    MODAL_TRY(modal_alloc(&columns, n_nodes + 1, sizeof *columns, "node graph", err));
    MODAL_TRY(modal_alloc(&rows, n_blocks, sizeof *rows, "node graph", err));
    MODAL_TRY(modal_alloc(&order, n_nodes, sizeof *order, "node order", err));
    for (int64_t j = 0; j <= n_nodes; j++) columns[j] = system->pattern.offsets[j];
    for (int64_t k = 0; k < n_blocks; k++) rows[k] = system->pattern.rows[k];
    cholmod_sparse graph = {.nrow = (size_t)n_nodes,
                            .ncol = (size_t)n_nodes,
                            .nzmax = (size_t)n_blocks,
                            .p = columns,
                            .i = rows,
                            .stype = -1,
                            .itype = CHOLMOD_LONG,
                            .xtype = CHOLMOD_PATTERN,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
    /* a CHOLMOD built without METIS has minimum degree still */
    if (!cholmod_l_metis(&graph, NULL, 0, 0, order, &factor->common) &&
        (factor->common.status == CHOLMOD_OUT_OF_MEMORY ||
         !cholmod_l_amd(&graph, NULL, 0, order, &factor->common)))
        MODAL_TRY(cholmod_failure(factor, "ordering", err));
    /* METIS catches SIGTERM while it runs, and hands back an unfinished order. */
    if (!cholmod_l_check_perm(order, (size_t)n_nodes, (size_t)n_nodes, &factor->common))
        MODAL_FAIL(err, MODAL_ERROR_INTERRUPTED, "ordering: interrupted");
    for (int64_t k = 0; k < n_nodes; k++)
        for (int p = 0; p < 3; p++) factor->permutation[3 * k + p] = 3 * order[k] + p;
done:
    modal_free(&columns);
    modal_free(&rows);
    modal_free(&order);
    return status;
}

/* Column 3 j + q of the lower triangle: rows 3 j + q .. 3 j + 2 of the diagonal block, then three
 * rows for each block below. */
static void expand_pattern(modal_factor *factor, const modal_block_pattern *pattern)
{
    int64_t at = 0;
    for (int64_t j = 0; j < pattern->n_nodes; j++)
        for (int q = 0; q < 3; q++) {
            factor->columns[3 * j + q] = at;
            for (int64_t k = pattern->offsets[j]; k < pattern->offsets[j + 1]; k++)
                for (int p = k == pattern->offsets[j] ? q : 0; p < 3; p++)
                    factor->rows[at++] = 3 * (int64_t)pattern->rows[k] + p;
        }
    factor->columns[factor->n] = at;
}

static void fill_values(modal_factor *factor, const modal_fem_system *system, double shift)
{
    const modal_block_pattern *pattern = &system->pattern;
    int64_t at = 0;
    for (int64_t j = 0; j < pattern->n_nodes; j++)
        for (int q = 0; q < 3; q++)
            for (int64_t k = pattern->offsets[j]; k < pattern->offsets[j + 1]; k++)
                for (int p = k == pattern->offsets[j] ? q : 0; p < 3; p++)
                    factor->values[at++] = system->stiffness[9 * k + 3 * p + q] -
                                           (p == q ? shift * system->mass[k] : 0);
}

static cholmod_sparse lower_triangle(modal_factor *factor)
{
    return (cholmod_sparse){.nrow = (size_t)factor->n,
                            .ncol = (size_t)factor->n,
                            .nzmax = (size_t)factor->columns[factor->n],
                            .p = factor->columns,
                            .i = factor->rows,
                            .x = factor->values,
                            .stype = -1,
                            .itype = CHOLMOD_LONG,
                            .xtype = CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
}

modal_status modal_factor_new(const modal_fem_system *system, modal_factor **result,
                              modal_factor_report *report, const modal_progress *progress,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_factor *factor = NULL;
    const int64_t n_values = 9 * modal_block_count(&system->pattern) - 3 * system->n_free;
    MODAL_TRY(modal_alloc_zero(&factor, 1, sizeof *factor, "factor", err));
    factor->n = 3 * system->n_free;
    cholmod_l_start(&factor->common);
    factor->common.print = 0;
    factor->common.supernodal = CHOLMOD_SUPERNODAL;
    factor->common.nmethods = 1;
    factor->common.method[0].ordering = CHOLMOD_GIVEN;
    factor->common.postorder = 1;
    MODAL_TRY(modal_alloc(&factor->permutation, factor->n, sizeof *factor->permutation,
                          "permutation", err));
    MODAL_TRY(modal_alloc(&factor->columns, factor->n + 1, sizeof *factor->columns, "K - sigma M",
                          err));
    MODAL_TRY(modal_alloc(&factor->rows, n_values, sizeof *factor->rows, "K - sigma M", err));
    MODAL_TRY(modal_alloc(&factor->values, n_values, sizeof *factor->values, "K - sigma M", err));
    double before = modal_seconds();
    MODAL_TRY(modal_progress_report(progress, "order", -1, err));
    MODAL_TRY(order_nodes(factor, system, err));
    report->seconds_order = modal_seconds() - before;
    MODAL_TRY(modal_progress_report(progress, "analyse", -1, err));
    before = modal_seconds();
    expand_pattern(factor, &system->pattern);
    cholmod_sparse matrix = lower_triangle(factor);
    const int levels = hold_openmp();
    factor->factor =
        cholmod_l_analyze_p(&matrix, factor->permutation, NULL, 0, &factor->common);
    omp_set_max_active_levels(levels);
    if (!factor->factor) MODAL_TRY(cholmod_failure(factor, "analysis", err));
    report->seconds_analyse = modal_seconds() - before;
    report->nonzeros = factor->common.lnz;
    report->flops = factor->common.fl;
    *result = factor;
    factor = NULL;
done:
    modal_factor_delete(factor);
    return status;
}

modal_factor *modal_factor_delete(modal_factor *factor)
{
    if (!factor) return NULL;
    cholmod_l_free_factor(&factor->factor, &factor->common);
    cholmod_l_free_dense(&factor->solution, &factor->common);
    cholmod_l_free_dense(&factor->work_y, &factor->common);
    cholmod_l_free_dense(&factor->work_e, &factor->common);
    cholmod_l_finish(&factor->common);
    modal_free(&factor->permutation);
    modal_free(&factor->columns);
    modal_free(&factor->rows);
    modal_free(&factor->values);
    modal_free(&factor);
    return NULL;
}

modal_status modal_factor_compute(modal_factor *factor, const modal_fem_system *system, double shift,
                                  int *definite, int64_t *pivot, modal_factor_report *report,
                                  modal_error *err)
{
    const double before = modal_seconds();
    fill_values(factor, system, shift);
    cholmod_sparse matrix = lower_triangle(factor);
    *definite = 1;
    *pivot = -1;
    const int levels = hold_openmp();
    const int done = cholmod_l_factorize(&matrix, factor->factor, &factor->common);
    omp_set_max_active_levels(levels);
    if (!done || factor->common.status < CHOLMOD_OK)
        return cholmod_failure(factor, "factorisation", err);
    report->seconds_factor += modal_seconds() - before;
    report->peak_bytes = (double)factor->common.memory_usage;
    if (factor->common.status == CHOLMOD_NOT_POSDEF) {
        const int64_t at = (int64_t)factor->factor->minor;
        *definite = 0;
        if (at < factor->n) *pivot = ((int64_t *)factor->factor->Perm)[at];
    }
    return MODAL_OK;
}

modal_status modal_factor_solve(modal_factor *factor, int64_t n_vectors, const double *right,
                                double *solutions, modal_error *err)
{
    const int64_t n = factor->n;
    for (int64_t first = 0; first < n_vectors; first += SOLVE_WIDTH) {
        const int64_t width = n_vectors - first < SOLVE_WIDTH ? n_vectors - first : SOLVE_WIDTH;
        /* CHOLMOD only reads the right-hand side; its struct has no const */
        cholmod_dense block = {.nrow = (size_t)n,
                               .ncol = (size_t)width,
                               .nzmax = (size_t)(n * width),
                               .d = (size_t)n,
                               .x = (double *)(uintptr_t)(right + first * n),
                               .xtype = CHOLMOD_REAL,
                               .dtype = CHOLMOD_DOUBLE};
        const int levels = hold_openmp();
        const int done =
            cholmod_l_solve2(CHOLMOD_A, factor->factor, &block, NULL, &factor->solution, NULL,
                             &factor->work_y, &factor->work_e, &factor->common);
        omp_set_max_active_levels(levels);
        if (!done) return cholmod_failure(factor, "solve", err);
        memcpy(solutions + first * n, factor->solution->x, (size_t)(n * width) * sizeof(double));
    }
    return MODAL_OK;
}
