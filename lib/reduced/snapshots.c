/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/reduced/snapshots.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/memory.h"
#include "lib/fem/sparse.h"
#include "lib/modes/factor.h"
#include "lib/modes/products.h"
#include "lib/reduced/space.h"

enum { BLOCK = 32 };

/* The decomposition so far, and room for what a block needs. */
typedef struct decomposition {
    reduced_space space;
    int64_t most;    /* columns kept at most */
    int64_t n_kept;
    double *vectors; /* [most + BLOCK, n]: those kept, then a block of snapshots */
    double *turned;  /* [most, n] or [BLOCK, n] scratch */
    double *sigma;   /* [most + BLOCK] */
    double *small;   /* [most + BLOCK, most + BLOCK] */
    double *left;    /* the same */
    double *u;       /* [BLOCK, n_nodes, 3] as read */
    double *squares; /* [BLOCK] ||s||_M^2 */
} decomposition;

static modal_status allocate(decomposition *d, int64_t n_modes, int64_t n_snapshots, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = d->space.n;
    /* more than are wanted, so that what is given up on the way is far below them */
    d->most = n_modes + 64;
    if (d->most > n_snapshots) d->most = n_snapshots;
    if (d->most > n) d->most = n;
    const int64_t all = d->most + BLOCK, scratch = d->most < BLOCK ? BLOCK : d->most;
    MODAL_TRY(modal_alloc(&d->vectors, all * n, sizeof(double), "snapshots", err));
    MODAL_TRY(modal_alloc(&d->turned, scratch * n, sizeof(double), "snapshots", err));
    MODAL_TRY(modal_alloc(&d->sigma, all, sizeof(double), "snapshots", err));
    MODAL_TRY(modal_alloc(&d->small, all * all, sizeof(double), "snapshots", err));
    MODAL_TRY(modal_alloc(&d->left, all * all, sizeof(double), "snapshots", err));
    MODAL_TRY(modal_alloc(&d->u, BLOCK * d->space.n_nodes, 3 * sizeof(double), "snapshots", err));
    MODAL_TRY(modal_alloc(&d->squares, BLOCK, sizeof(double), "snapshots", err));
done:
    return status;
}

static void release(decomposition *d)
{
    reduced_space_free(&d->space);
    modal_free(&d->vectors);
    modal_free(&d->turned);
    modal_free(&d->sigma);
    modal_free(&d->small);
    modal_free(&d->left);
    modal_free(&d->u);
    modal_free(&d->squares);
}

/* Reads a block to vectors [count, n] over the free degrees of freedom, with its squares. */
static modal_status read_block(decomposition *d, const modal_snapshot_source *source, int64_t first,
                               int64_t count, double *vectors, modal_error *err)
{
    const modal_fem_system *system = &d->space.system;
    const int64_t n = d->space.n;
    modal_status status = source->read(source->context, first, count, d->u, err);
    if (status != MODAL_OK) return status;
    for (int64_t k = 0; k < count; k++) {
        double largest, moves;
        const int64_t node =
            reduced_space_take(&d->space, d->u + 3 * d->space.n_nodes * k, vectors + k * n, &largest, &moves);
        if (node >= 0)
            return modal_error_set(err, MODAL_ERROR_INPUT, "snapshot %lld: node %lld is fixed and moves by %g m",
                                   (long long)(first + k), (long long)node, moves);
    }
    modal_identity_blocks_multiply(&system->pattern, system->mass, count, vectors, d->turned,
                                   d->space.n_threads);
    for (int64_t k = 0; k < count; k++) {
        d->squares[k] = modal_dot(n, vectors + k * n, d->turned + k * n);
        if (!isfinite(d->squares[k]))
            return modal_error_set(err, MODAL_ERROR_INPUT, "snapshot %lld: overflow", (long long)(first + k));
    }
    return MODAL_OK;
}

/* Takes the block that lies behind the kept columns into the decomposition. */
static modal_status take_block(decomposition *d, int64_t count, double *truncated, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t kept = d->n_kept, all = kept + count, n = d->space.n;
    memset(d->small, 0, (size_t)(all * all) * sizeof *d->small);
    for (int64_t i = 0; i < kept; i++) d->small[i * all + i] = d->sigma[i];
    MODAL_TRY(reduced_orthonormalise(&d->space, kept, count, d->vectors, d->small + kept * all, err));
    MODAL_TRY(reduced_svd(all, d->small, d->left, d->sigma, err));
    int64_t stay = 0;
    while (stay < all && stay < d->most && d->sigma[stay] > 1e-15 * d->sigma[0]) stay++;
    for (int64_t i = stay; i < all; i++) *truncated += d->sigma[i] * d->sigma[i];
    MODAL_TRY(reduced_combine(&d->space, &(modal_combination){all, stay, d->vectors, d->left, 1, 0, d->turned}, err));
    memcpy(d->vectors, d->turned, (size_t)(stay * n) * sizeof *d->vectors);
    d->n_kept = stay;
done:
    return status;
}

/* How many columns: by the energy, the rank and the number asked for. */
static int32_t choose(const decomposition *d, const modal_snapshots_options *o, int single, double all,
                      modal_snapshots_report *report)
{
    const double level = d->sigma[0] * (single ? FLT_EPSILON : 64 * DBL_EPSILON);
    int32_t n = 0;
    double sum = 0;
    while (report->rank < d->n_kept && d->sigma[report->rank] > level) report->rank++;
    while (n < report->rank && n < o->n_modes && (o->energy >= 1 || sum < o->energy * all)) {
        sum += d->sigma[n] * d->sigma[n];
        n++;
    }
    return n;
}

/* What the basis vectors [r, n] keep of every snapshot. */
static modal_status measure(decomposition *d, const modal_snapshot_source *source, int64_t r,
                            const double *basis, double all, modal_snapshots_report *report,
                            const modal_progress *progress, modal_error *err)
{
    modal_status status = MODAL_OK;
    double lost = 0;
    for (int64_t first = 0; first < source->n_snapshots; first += BLOCK) {
        const int64_t count = source->n_snapshots - first < BLOCK ? source->n_snapshots - first : BLOCK;
        MODAL_TRY(modal_progress_report(progress, "measure",
                                        (double)first / (double)source->n_snapshots, err));
        MODAL_TRY(read_block(d, source, first, count, d->vectors, err));
        /* d->turned holds M times the block */
        MODAL_TRY(reduced_gram(&d->space, r, basis, count, d->turned, d->small, err));
        MODAL_TRY(reduced_combine(&d->space, &(modal_combination){r, count, basis, d->small, -1, 1, d->vectors}, err));
        modal_identity_blocks_multiply(&d->space.system.pattern, d->space.system.mass, count, d->vectors,
                                       d->turned, d->space.n_threads);
        for (int64_t k = 0; k < count; k++) {
            const double rest = fmax(0, modal_dot(d->space.n, d->vectors + k * d->space.n, d->turned + k * d->space.n));
            lost += rest;
            if (d->squares[k] > 0 && sqrt(rest / d->squares[k]) > report->worst) {
                report->worst = sqrt(rest / d->squares[k]);
                report->worst_snapshot = first + k;
            }
        }
    }
    report->energy = 1 - lost / all;
done:
    return status;
}

modal_status modal_snapshots_solve(const modal_volume_mesh *mesh, const modal_snapshot_source *source,
                                   const modal_snapshots_options *options, modal_modes_result *result,
                                   modal_snapshots_report *report, const modal_progress *progress,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    decomposition d = {0};
    double *basis = NULL, all = 0, truncated = 0, before = modal_seconds();
    memset(result, 0, sizeof *result);
    memset(report, 0, sizeof *report);
    if (options->n_modes < 1 || !(options->energy > 0 && options->energy <= 1) || source->n_snapshots < 1)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "snapshots: %d columns, energy %g, %lld snapshots",
                   options->n_modes, options->energy, (long long)source->n_snapshots);
    MODAL_TRY(reduced_space_build(mesh, options->fixed_nodes, options->fixed_components, options->n_fixed, options->mass_rule,
                                  options->n_threads, &d.space, err));
    MODAL_TRY(allocate(&d, options->n_modes, source->n_snapshots, err));
    report->n_snapshots = source->n_snapshots;
    for (int64_t first = 0; first < source->n_snapshots; first += BLOCK) {
        const int64_t count = source->n_snapshots - first < BLOCK ? source->n_snapshots - first : BLOCK;
        MODAL_TRY(modal_progress_report(progress, "decompose",
                                        (double)first / (double)source->n_snapshots, err));
        MODAL_TRY(read_block(&d, source, first, count, d.vectors + d.n_kept * d.space.n, err));
        for (int64_t k = 0; k < count; k++) all += d.squares[k];
        MODAL_TRY(take_block(&d, count, &truncated, err));
    }
    if (!(all > 0)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "snapshots: nothing moves");
    const int32_t r = choose(&d, options, source->single, all, report);
    report->n_values = (int32_t)d.n_kept;
    report->truncated = truncated / all;
    MODAL_TRY(modal_alloc(&report->singular_values, d.n_kept, sizeof(double), "singular values", err));
    memcpy(report->singular_values, d.sigma, (size_t)d.n_kept * sizeof(double));
    MODAL_TRY(modal_alloc(&basis, r * d.space.n, sizeof *basis, "basis", err));
    memcpy(basis, d.vectors, (size_t)(r * d.space.n) * sizeof *basis);
    /* many turns of the columns leave rounding; they are made orthonormal once more */
    MODAL_TRY(reduced_orthonormalise(&d.space, 0, r, basis, NULL, err));
    MODAL_TRY(reduced_space_result(&d.space, r, basis, 1, result, err));
    report->seconds_decompose = modal_seconds() - before;
    before = modal_seconds();
    MODAL_TRY(measure(&d, source, r, basis, all, report, progress, err));
    report->seconds_measure = modal_seconds() - before;
done:
    modal_free(&basis);
    release(&d);
    if (status != MODAL_OK) {
        modal_modes_result_free(result);
        modal_snapshots_report_free(report);
    }
    return status;
}

void modal_snapshots_report_free(modal_snapshots_report *report)
{
    modal_free(&report->singular_values);
    memset(report, 0, sizeof *report);
}
