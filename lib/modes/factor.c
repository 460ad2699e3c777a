/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/modes/factor.h"

#include <cholmod.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/modes/supernodes.h"
#include "lib/modes/triangle.h"

/* Up to so many nodes minimum degree is done before METIS has begun, and fills little more. */
enum { SMALL_GRAPH = 600 };

enum { WIDEST = 128 }; /* nodes of a supernode */

/* In floats a pivot is as uncertain as this, beside a diagonal of ones; one that is smaller or negative becomes
 * this, which changes the matrix by a rank of one: X. S. Li, J. W. Demmel, "SuperLU_DIST: A scalable
 * distributed-memory sparse direct solver for unsymmetric linear systems", 2003, section 2. */
static const double least_pivot = 0x1p-22;

/* A pivot below -least_pivot would make others of its column explode. Then the diagonal is made larger by so much,
 * and four times more until there is none: conjugate gradients take a step more for each mode that is lower than this. */
static const double first_lift = 0x1p-21, most_lift = 0x1p-10;

/* Growth at which eps times it is still far from the distance of a shift to the next eigenvalue. */
static const double most_growth = 1e6;

struct modal_factor {
    const modal_fem_system *system;
    modal_row_mass rows;
    int n_threads;
    int64_t n;             /* degrees of freedom */
    int64_t *order, *place; /* [nodes] the node eliminated as k-th; inverse */
    modal_supernodes supernodes;
    modal_triangle *triangle;
    modal_precision precision;
    void *values;   /* doubles or floats */
    double *pivots, *scale; /* [n] scale: of MODAL_FLOAT32, the root of the inverse diagonal */
    double shift;
    modal_row *work; /* [n] */
};

/* What CHOLMOD refused; its own status stays set until the next call. */
static modal_status cholmod_failure(const cholmod_common *common, const char *what, modal_error *err)
{
    if (common->status == CHOLMOD_OUT_OF_MEMORY)
        return modal_error_set(err, MODAL_ERROR_MEMORY, "%s: out of memory, %.0f MB in use", what,
                               (double)common->memory_inuse / 1e6);
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: CHOLMOD status %d", what, common->status);
}

/* A node numbering that keeps fill low. */
static modal_status order_nodes(cholmod_sparse *graph, int64_t *order, cholmod_common *common,
                                modal_error *err)
{
    int ordered = 0;
    /* One thread at a time: METIS starts its random numbers anew at each call, for all threads, whose orders
     * would be others each time. */
    if (graph->nrow > SMALL_GRAPH) {
#pragma omp critical(modal_metis)
        ordered = cholmod_l_metis(graph, NULL, 0, 0, order, common);
    }
    /* a CHOLMOD built without METIS has minimum degree still */
    if (!ordered &&
        (common->status == CHOLMOD_OUT_OF_MEMORY || !cholmod_l_amd(graph, NULL, 0, order, common)))
        return cholmod_failure(common, "ordering", err);
    /* METIS catches SIGTERM while it runs, and hands back an unfinished order. */
    if (!cholmod_l_check_perm(order, graph->nrow, graph->nrow, common))
        return modal_error_set(err, MODAL_ERROR_INTERRUPTED, "ordering: interrupted");
    return MODAL_OK;
}

/* The supernodes of the node graph, each node three degrees of freedom. Wide ones are cut, since half of
 * the square above a supernode's diagonal is stored and never used. */
static modal_status expand(const cholmod_factor *l, modal_supernodes *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t *super = l->super, *at = l->pi, *rows = l->s;
    int64_t n = 0, n_rows = 0;
    for (int64_t k = 0; k < (int64_t)l->nsuper; k++) {
        const int64_t width = super[k + 1] - super[k], parts = (width + WIDEST - 1) / WIDEST;
        for (int64_t part = 0; part < parts; part++)
            n_rows += at[k + 1] - at[k] - width * part / parts;
        n += parts;
    }
    s->n = 3 * (int64_t)l->n;
    s->n_supernodes = n;
    MODAL_TRY(modal_alloc(&s->first, n + 1, sizeof *s->first, "supernodes", err));
    MODAL_TRY(modal_alloc(&s->rows_at, n + 1, sizeof *s->rows_at, "supernodes", err));
    MODAL_TRY(modal_alloc(&s->values_at, n + 1, sizeof *s->values_at, "supernodes", err));
    MODAL_TRY(modal_alloc(&s->rows, 3 * n_rows, sizeof *s->rows, "supernodes", err));
    s->first[n] = s->n;
    s->values_at[0] = s->rows_at[0] = 0;
    int64_t *to = s->rows, *first = s->first, *rows_at = s->rows_at, *values_at = s->values_at;
    for (int64_t k = 0; k < (int64_t)l->nsuper; k++) {
        const int64_t width = super[k + 1] - super[k], parts = (width + WIDEST - 1) / WIDEST;
        for (int64_t part = 0; part < parts; part++, first++, rows_at++, values_at++) {
            const int64_t skip = width * part / parts, after = width * (part + 1) / parts;
            const int64_t count = at[k + 1] - at[k] - skip;
            *first = 3 * (super[k] + skip);
            rows_at[1] = rows_at[0] + 3 * count;
            values_at[1] = values_at[0] + 9 * (after - skip) * count;
            for (int64_t i = 0; i < count; i++)
                for (int p = 0; p < 3; p++) *to++ = 3 * rows[at[k] + skip + i] + p;
        }
    }
    MODAL_TRY(modal_supernodes_link(s, err));
done:
    return status;
}

static modal_status analyse(modal_factor *factor, cholmod_common *common,
                            modal_factor_report *report, const modal_progress *progress,
                            modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_block_pattern *pattern = &factor->system->pattern;
    const int64_t n_nodes = pattern->n_nodes, n_blocks = modal_block_count(pattern);
    int64_t *rows = NULL, *order = NULL;
    cholmod_factor *symbolic = NULL;
    double before = modal_seconds();
    MODAL_TRY(modal_progress_report(progress, "order", -1, err));
    MODAL_TRY(modal_alloc(&rows, n_blocks, sizeof *rows, "node graph", err));
    MODAL_TRY(modal_alloc(&order, n_nodes, sizeof *order, "node order", err));
    for (int64_t k = 0; k < n_blocks; k++) rows[k] = pattern->rows[k];
    /* CHOLMOD only reads the graph; its struct has no const */
    cholmod_sparse graph = {.nrow = (size_t)n_nodes,
                            .ncol = (size_t)n_nodes,
                            .nzmax = (size_t)n_blocks,
                            .p = (int64_t *)(uintptr_t)pattern->offsets,
                            .i = rows,
                            .stype = -1,
                            .itype = CHOLMOD_LONG,
                            .xtype = CHOLMOD_PATTERN,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
    MODAL_TRY(order_nodes(&graph, order, common, err));
    report->seconds_order = modal_seconds() - before;
    MODAL_TRY(modal_progress_report(progress, "analyse", -1, err));
    before = modal_seconds();
    symbolic = cholmod_l_analyze_p(&graph, order, NULL, 0, common);
    if (!symbolic) MODAL_TRY(cholmod_failure(common, "analysis", err));
    MODAL_TRY(modal_alloc(&factor->order, n_nodes, sizeof *factor->order, "node order", err));
    MODAL_TRY(modal_alloc(&factor->place, n_nodes, sizeof *factor->place, "node order", err));
    memcpy(factor->order, symbolic->Perm, (size_t)n_nodes * sizeof *factor->order);
    for (int64_t k = 0; k < n_nodes; k++) factor->place[factor->order[k]] = k;
    MODAL_TRY(expand(symbolic, &factor->supernodes, err));
    MODAL_TRY(modal_triangle_new(&factor->supernodes, factor->n_threads, &factor->triangle, err));
    report->seconds_analyse = modal_seconds() - before;
done:
    cholmod_l_free_factor(&symbolic, common);
    modal_free(&rows);
    modal_free(&order);
    return status;
}

modal_status modal_factor_new(const modal_fem_system *system, int n_threads, modal_factor **result,
                              modal_factor_report *report, const modal_progress *progress,
                              modal_error *err)
{
    modal_factor *factor = NULL;
    modal_status status = modal_alloc_zero(&factor, 1, sizeof *factor, "factor", err);
    if (status != MODAL_OK) return status;
    factor->system = system;
    factor->n_threads = n_threads;
    factor->n = 3 * system->n_free;
    cholmod_common common;
    cholmod_l_start(&common);
    common.print = 0;
    common.supernodal = CHOLMOD_SUPERNODAL;
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_GIVEN;
    common.postorder = 1;
    status = modal_row_mass_build(system, &factor->rows, err);
    if (status == MODAL_OK) status = analyse(factor, &common, report, progress, err);
    cholmod_l_finish(&common);
    if (status != MODAL_OK) {
        modal_factor_delete(factor);
        return status;
    }
    const modal_supernodes *s = &factor->supernodes;
    report->nonzeros = report->flops = 0;
    double widest = 0;
    for (int64_t k = 0; k < s->n_supernodes; k++) {
        const double columns = (double)(s->first[k + 1] - s->first[k]);
        const double n_rows = (double)(s->rows_at[k + 1] - s->rows_at[k]);
        report->nonzeros += columns * (n_rows - (columns - 1) / 2);
        /* the sum of the squares of the columns' lengths */
        for (double length = n_rows; length > n_rows - columns; length--) report->flops += length * length;
        widest = fmax(widest, columns);
    }
    /* values; rows, pivots, maps of the factorisation and of the solves; blocks of dense work. Beside floats:
     * the scale and what makes solves exact, see conjugate.c */
    const double others = 8 * (double)s->rows_at[s->n_supernodes] + (double)factor->n * (8 + 8 + 64 + 8.0 * n_threads);
    for (int p = MODAL_FLOAT64; p <= MODAL_FLOAT32; p++) {
        const double value = (double)modal_value_bytes((modal_precision)p);
        report->bytes[p] = others + value * ((double)s->values_at[s->n_supernodes] +
                                             n_threads * (384 * 192 + 96 * widest));
    }
    report->bytes[MODAL_FLOAT32] += (double)factor->n * (3 * 8 + 4 * 64);
    *result = factor;
    return MODAL_OK;
}

modal_factor *modal_factor_delete(modal_factor *factor)
{
    if (!factor) return NULL;
    modal_triangle_delete(factor->triangle);
    modal_supernodes_free(&factor->supernodes);
    modal_row_mass_free(&factor->rows);
    modal_free(&factor->order);
    modal_free(&factor->place);
    modal_free(&factor->values);
    modal_free(&factor->pivots);
    modal_free(&factor->scale);
    modal_free(&factor->work);
    modal_free(&factor);
    return NULL;
}

void modal_factor_use(modal_factor *factor, modal_precision precision)
{
    modal_free(&factor->values);
    factor->precision = precision;
}

const modal_row_mass *modal_factor_mass(const modal_factor *factor) { return &factor->rows; }

modal_row_matrix modal_factor_matrix(const modal_factor *factor)
{
    return (modal_row_matrix){&factor->rows, factor->system->stiffness, factor->shift};
}

/* scale = diag(K - shift M)^(-1/2): without it floats would overflow in some units. Elements that are not
 * positive stay as they are; their pivots show it. */
static void find_scale(const modal_factor *factor, double shift, double *scale)
{
    const modal_fem_system *system = factor->system;
    for (int64_t i = 0; i < factor->n; i++) {
        const int64_t at = system->pattern.offsets[i / 3];
        const double diagonal = system->stiffness[9 * at + 4 * (i % 3)] - shift * system->mass[at];
        scale[i] = diagonal > 0 ? 1 / sqrt(diagonal) : 1;
    }
}

static modal_status compute(modal_factor *factor, double shift, double least, double lift, modal_ldl_output *output,
                            const modal_progress *progress, const char *stage, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_supernodes *s = &factor->supernodes;
    const int single = factor->precision == MODAL_FLOAT32;
    if (single && !factor->scale) MODAL_TRY(modal_alloc(&factor->scale, s->n, sizeof *factor->scale, "factor", err));
    if (single) find_scale(factor, shift, factor->scale);
    factor->shift = shift;
    const modal_ldl_input input = {.system = factor->system,
                                   .rows = &factor->rows,
                                   .order = factor->order,
                                   .place = factor->place,
                                   .shift = shift,
                                   .precision = factor->precision,
                                   .scale = single ? factor->scale : NULL,
                                   .least = least,
                                   .lift = lift,
                                   .stage = stage};
    if (!factor->values)
        MODAL_TRY(modal_alloc(&factor->values, s->values_at[s->n_supernodes],
                              modal_value_bytes(factor->precision), "factor", err));
    if (!factor->pivots)
        MODAL_TRY(modal_alloc(&factor->pivots, s->n, sizeof *factor->pivots, "factor", err));
    if (!factor->work) MODAL_TRY(modal_alloc(&factor->work, s->n, sizeof *factor->work, "solve", err));
    MODAL_TRY(modal_ldl_compute(s, &input, factor->n_threads, factor->values, factor->pivots, output, progress, err));
done:
    return status;
}

modal_status modal_factor_compute(modal_factor *factor, double shift, int *definite, int64_t *pivot,
                                  modal_factor_report *report, const modal_progress *progress,
                                  modal_error *err)
{
    modal_ldl_output output;
    const double before = modal_seconds();
    const int single = factor->precision == MODAL_FLOAT32;
    modal_status status;
    for (double lift = 0;; lift = lift > 0 ? 4 * lift : first_lift) {
        report->lift = lift;
        status = compute(factor, shift, single ? least_pivot : -INFINITY, lift, &output, progress, "factor", err);
        if (status != MODAL_OK) return status;
        if (!single || (output.lowest_raised >= -least_pivot && !output.broken) || lift > most_lift) break;
    }
    *definite = output.first_negative < 0;
    *pivot = *definite ? -1 : 3 * factor->order[output.first_negative / 3] + output.first_negative % 3;
    if (*definite)
        status = modal_triangle_pack(factor->triangle, factor->precision, factor->values, factor->pivots, err);
    report->n_raised = output.n_raised;
    report->seconds_factor += modal_seconds() - before;
    return status;
}

modal_status modal_factor_count(modal_factor *factor, double shift, int64_t *n_below, double *growth,
                                const modal_progress *progress, modal_error *err)
{
    modal_ldl_output output;
    modal_status status = compute(factor, shift, -INFINITY, 0, &output, progress, "count", err);
    *n_below = -1;
    *growth = 0;
    if (status != MODAL_OK) return status;
    if (factor->precision == MODAL_FLOAT32) {
        if (output.broken) return MODAL_OK;
        status = modal_triangle_pack(factor->triangle, MODAL_FLOAT32, factor->values, factor->pivots, err);
        if (status == MODAL_OK) *n_below = output.n_negative;
        return status;
    }
    *growth = modal_ldl_growth(&factor->supernodes, factor->values, factor->pivots,
                               (double *)factor->work);
    if (!output.broken && *growth <= most_growth) *n_below = output.n_negative;
    return MODAL_OK;
}

/* Nodes [from, to) of the order of elimination, into that order. */
static void permute(const modal_factor *factor, int64_t from, int64_t to, const modal_row *x, modal_row *y)
{
    const double *scale = factor->precision == MODAL_FLOAT32 ? factor->scale : NULL;
    for (int64_t k = from; k < to; k++)
        for (int p = 0; p < 3; p++) {
            const int64_t i = 3 * factor->order[k] + p;
            y[3 * k + p] = scale ? scale[i] * x[i] : x[i];
        }
}

/* And back. */
static void permute_back(const modal_factor *factor, int64_t from, int64_t to, const modal_row *y, modal_row *x)
{
    const double *scale = factor->precision == MODAL_FLOAT32 ? factor->scale : NULL;
    for (int64_t k = from; k < to; k++)
        for (int p = 0; p < 3; p++) {
            const int64_t i = 3 * factor->order[k] + p;
            x[i] = scale ? scale[i] * y[3 * k + p] : y[3 * k + p];
        }
}

void modal_factor_defect(modal_factor *factor, const modal_row *x, modal_row *defect, modal_row *work)
{
    const modal_row_matrix matrix = modal_factor_matrix(factor);
    modal_row *y = factor->work;
    memcpy(y, x, (size_t)factor->n * sizeof *y);
    modal_triangle_backward(factor->triangle, y);
    permute_back(factor, 0, factor->n / 3, y, work);
    modal_row_matrix_multiply(&matrix, work, work + factor->n, factor->n_threads);
    permute(factor, 0, factor->n / 3, work + factor->n, y);
    modal_triangle_forward(factor->triangle, y);
    for (int64_t i = 0; i < factor->n; i++) defect[i] = (factor->pivots[i] < 0 ? -1 : 1) * x[i] - y[i];
}

void modal_factor_solve_rows(modal_factor *factor, const modal_row *right, modal_row *solution)
{
    enum { CHUNK = 2048 };
    const int64_t n_nodes = factor->n / 3;
    modal_row *y = factor->work;
    /* a parallel region takes a microsecond even with one thread */
    if (n_nodes <= CHUNK) {
        permute(factor, 0, n_nodes, right, y);
        modal_triangle_solve(factor->triangle, y);
        permute_back(factor, 0, n_nodes, y, solution);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(factor->n_threads))
    for (int64_t k = 0; k < n_nodes; k += CHUNK)
        permute(factor, k, k + CHUNK < n_nodes ? k + CHUNK : n_nodes, right, y);
    modal_triangle_solve(factor->triangle, y);
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(factor->n_threads))
    for (int64_t k = 0; k < n_nodes; k += CHUNK)
        permute_back(factor, k, k + CHUNK < n_nodes ? k + CHUNK : n_nodes, y, solution);
}

modal_status modal_factor_solve(modal_factor *factor, int64_t n_vectors, const double *right,
                                double *solutions, modal_error *err)
{
    const int64_t n = factor->n;
    modal_row *block = NULL;
    modal_status status = modal_alloc(&block, n, sizeof *block, "solve", err);
    if (status != MODAL_OK) return status;
    for (int64_t first = 0; first < n_vectors; first += MODAL_ROW) {
        const int64_t width = n_vectors - first < MODAL_ROW ? n_vectors - first : MODAL_ROW;
        modal_rows_from_columns(n, width, right + first * n, block);
        modal_factor_solve_rows(factor, block, block);
        modal_rows_to_columns(n, width, block, solutions + first * n);
    }
    modal_free(&block);
    return MODAL_OK;
}
