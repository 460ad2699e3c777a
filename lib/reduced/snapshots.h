/* SPDX-License-Identifier: Apache-2.0 */
/* A basis from data: proper orthogonal decomposition of snapshots of displacements in the inner product
 * of the solid's mass matrix. Of all sets of r columns, the first r left singular vectors of M^1/2 S (S: a
 * column a snapshot; no mean is taken off, since motions start at rest) keep the most of the sum of squares
 * ||s||_M^2, the snapshots' energy.
 *
 * Snapshots are read in blocks, twice. First an incremental singular value decomposition: what is kept
 * (M-orthonormal columns Q and singular values) and a new block are made orthonormal together, and the
 * small matrix [diag(sigma) Q^T M B; 0 T] is decomposed anew; what it truncates is added up. Then the
 * snapshots are projected on the basis that results, and what it really keeps of each is measured.
 * Sources: L. Sirovich, "Turbulence and the Dynamics of Coherent Structures", 1987; C. G. Baker, K. A.
 * Gallivan, P. Van Dooren, "Low-Rank Incremental Methods for Computing Dominant Singular Subspaces", 2012. */
#ifndef MODAL_REDUCED_SNAPSHOTS_H
#define MODAL_REDUCED_SNAPSHOTS_H

#include "lib/modes/modes.h"

/* Where snapshots come from: `read` writes the snapshots [first, first + count) to u [count, n_nodes, 3]. */
typedef struct modal_snapshot_source {
    int64_t n_snapshots;
    int single; /* 1: the values have float32's rounding */
    modal_status (*read)(void *context, int64_t first, int64_t count, double *u, modal_error *err);
    void *context;
} modal_snapshot_source;

typedef struct modal_snapshots_options {
    int32_t n_modes; /* at most so many columns */
    double energy;   /* in (0, 1]: as many columns as keep this share of the energy; 1: all of it */
    modal_mass_rule mass_rule;
    int64_t n_fixed;
    const int32_t *fixed_nodes;      /* [n_fixed] */
    const uint8_t *fixed_components; /* [n_fixed] of each fixed node: 1 x, 2 y, 4 z, or sums; NULL: all */
    int n_threads;
} modal_snapshots_options;

typedef struct modal_snapshots_report {
    int64_t n_snapshots;
    int32_t rank;            /* singular values above rounding */
    int32_t n_values;        /* of singular_values */
    double *singular_values; /* [n_values] of M^1/2 S, descending, as far as they were kept */
    double energy;           /* share of the snapshots' energy in the basis, measured */
    double truncated;        /* share of it that the decomposition gave up on its way */
    double worst;            /* largest ||s - U U^T M s||_M / ||s||_M of a snapshot */
    int64_t worst_snapshot;
    double seconds_decompose, seconds_measure;
} modal_snapshots_report;

/* Computes the basis, M-orthonormal Ritz vectors of K within the span (as modal_derivatives_solve); rigid
 * motions that the snapshots contain stay in it, with an eigenvalue of 0.
 * MODAL_ERROR_USAGE: options out of range. MODAL_ERROR_INPUT: what modal_fem_assemble and source->read refuse;
 * a fixed node that moves by more than 1e-6 of its snapshot's largest displacement; no motion at all.
 * MODAL_ERROR_INTERRUPTED, MODAL_ERROR_MEMORY. After an error result and report are zeroed; otherwise
 * modal_modes_result_free, modal_snapshots_report_free.
 * Memory: about 16 (n_modes + 100) bytes a degree of freedom, whatever the number of snapshots. The same bytes
 * for every n_threads. */
modal_status modal_snapshots_solve(const modal_volume_mesh *mesh, const modal_snapshot_source *source,
                                   const modal_snapshots_options *options, modal_modes_result *result,
                                   modal_snapshots_report *report, const modal_progress *progress,
                                   modal_error *err);

void modal_snapshots_report_free(modal_snapshots_report *report);

#endif
