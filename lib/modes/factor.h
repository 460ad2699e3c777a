/* SPDX-License-Identifier: Apache-2.0 */
/* The sparse factor of K - sigma M, and solves with it. CHOLMOD orders and analyses the node graph, which
 * has a ninth of the entries of the graph of degrees of freedom and the same structure; the numbers
 * are computed here (supernodes.h, triangle.h). */
#ifndef MODAL_MODES_FACTOR_H
#define MODAL_MODES_FACTOR_H

#include <stdint.h>

#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/fem/assemble.h"
#include "lib/modes/rows.h"

typedef struct modal_factor modal_factor;

typedef struct modal_factor_report {
    double seconds_order;
    double seconds_analyse;
    double seconds_factor;
    double nonzeros; /* of the factor */
    double flops;    /* of the factorisation */
    double bytes[2]; /* by modal_precision: what the factor takes, and what computing and using it takes besides */
    int64_t n_raised; /* pivots of the last factor in floats that were too small for them */
    double lift;      /* what its diagonal has more than K - shift M, relative to it */
} modal_factor_report;

/* Orders the nodes by nested dissection (METIS) and analyses; the numbers come later. Borrows the
 * system. modal_factor_delete returns NULL and accepts it. One thread at a time a factor. */
modal_status modal_factor_new(const modal_fem_system *system, int n_threads, modal_factor **factor,
                              modal_factor_report *report, const modal_progress *progress,
                              modal_error *err);
modal_factor *modal_factor_delete(modal_factor *factor);

/* Sets the factor's precision (default MODAL_FLOAT64). Call before modal_factor_compute.
 * With MODAL_FLOAT32 a solve is one with a matrix that is positive definite and near K - shift M as far as
 * floats go: a preconditioner, and exactly linear and symmetric but for the rounding of doubles. */
void modal_factor_use(modal_factor *factor, modal_precision precision);

/* Factors K - shift M; may be called again with another shift. *definite is 0 when the matrix turned
 * out not to be positive definite, which is no error here; *pivot is then the degree of freedom at
 * which that showed. MODAL_FLOAT32 does not see that. */
modal_status modal_factor_compute(modal_factor *factor, double shift, int *definite, int64_t *pivot,
                                  modal_factor_report *report, const modal_progress *progress,
                                  modal_error *err);

/* How many eigenvalues lie below `shift`, by the signs of the pivots of K - shift M; the factor holds these
 * numbers afterwards and solves nothing until it is computed again. *n_below is -1 where a pivot broke down
 * or, with MODAL_FLOAT64, rounding (growth, see supernodes.h) could have turned a sign; with MODAL_FLOAT32 it
 * may have, growth is 0, and modal_factor_defect tells. */
modal_status modal_factor_count(modal_factor *factor, double shift, int64_t *n_below, double *growth,
                                const modal_progress *progress, modal_error *err);

/* Of MODAL_FLOAT32 after modal_factor_count, whose signs of pivots are those of a matrix near K - shift M. With J these signs and
 * S (K - shift M) S near F J F^T, defect = (J - F^-1 S (K - shift M) S F^-T) x for eight interleaved vectors [n, 8] in
 * the factor's order. K - shift M has the inertia J where that matrix has no eigenvalue of 1 or more in magnitude.
 * defect may be x; work: [2 n]. */
void modal_factor_defect(modal_factor *factor, const modal_row *x, modal_row *defect, modal_row *work);

/* solution = (K - shift M)^-1 right for eight interleaved vectors [n, 8]; may be the same array. */
void modal_factor_solve_rows(modal_factor *factor, const modal_row *right, modal_row *solution);

/* The same for n_vectors vectors [n_vectors, n]. */
modal_status modal_factor_solve(modal_factor *factor, int64_t n_vectors, const double *right,
                                double *solutions, modal_error *err);

/* The node graph and M, by rows; and K - shift M of the last factor. */
const modal_row_mass *modal_factor_mass(const modal_factor *factor);
modal_row_matrix modal_factor_matrix(const modal_factor *factor);

#endif
