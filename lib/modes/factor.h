/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse Cholesky factor of K - sigma M by CHOLMOD (supernodal), and solves with it. */
#ifndef MODAL_MODES_FACTOR_H
#define MODAL_MODES_FACTOR_H

#include <stdint.h>

#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/fem/assemble.h"

typedef struct modal_factor modal_factor;

typedef struct modal_factor_report {
    double seconds_order;
    double seconds_analyse;
    double seconds_factor;
    double nonzeros;   /* of the factor */
    double flops;      /* of the factorisation */
    double peak_bytes; /* of what CHOLMOD allocated */
} modal_factor_report;

/* Orders the nodes by nested dissection (METIS on the node graph, which has a ninth of the entries of
 * the graph of degrees of freedom) and analyses. modal_factor_delete returns NULL and
 * accepts it. One thread at a time a factor. */
modal_status modal_factor_new(const modal_fem_system *system, modal_factor **factor,
                              modal_factor_report *report, const modal_progress *progress,
                              modal_error *err);
modal_factor *modal_factor_delete(modal_factor *factor);

/* Factors K - shift M; may be called again with another shift. *definite is 0 when the matrix turned
 * out not to be positive definite, which is no error here; *pivot is then the degree of freedom at
 * which that showed. */
modal_status modal_factor_compute(modal_factor *factor, const modal_fem_system *system, double shift,
                                  int *definite, int64_t *pivot, modal_factor_report *report,
                                  modal_error *err);

/* solutions = (K - shift M)^-1 right for n_vectors vectors [n_vectors, 3 n_free]; may overlap only by
 * being the same array. Memory for a number of vectors is allocated once and used again. */
modal_status modal_factor_solve(modal_factor *factor, int64_t n_vectors, const double *right,
                                double *solutions, modal_error *err);

/* Seconds on a monotonic clock. */
double modal_seconds(void);

/* Gives BLAS n_threads and returns how many it had, 0 where that cannot be set. CHOLMOD 5 would start
 * OpenMP threads of its own on top of them (measured: four times slower), so every call of it here
 * runs with OpenMP held at one thread. */
int modal_blas_threads(int n_threads);

#endif
