/* SPDX-License-Identifier: Apache-2.0 */
/* The small problem of LOBPCG: Rayleigh-Ritz in the span of [X, P, W], whose vectors may be dependent. */
#ifndef MODAL_RANKS_RITZ_H
#define MODAL_RANKS_RITZ_H

#include "lib/ranks/private.h"

typedef struct ranks_ritz {
    int64_t block; /* vectors of X, m */
    double *stiffness, *mass; /* [n, n] for n = m + n_p + n_w, at most 3 m: S^T K S, S^T M S, of which the upper triangles are read */
    double *values;       /* [m] ascending */
    double *coefficients; /* [m + n_directions, n] of the new X and P */
    int64_t n_directions; /* vectors of P, at most m */
    double least;         /* eigenvalue of the Gram matrix of the unit vectors of S: 1 where they are orthogonal, 0 where dependent */
    double *scratch[4];   /* [3 m, 3 m]; on rank 0 */
} ranks_ritz;

modal_status ranks_ritz_new(int64_t block, ranks_ritz *ritz, modal_error *err);
void ranks_ritz_free(ranks_ritz *ritz);

/* All ranks: from stiffness and mass, which are used up, to values, coefficients and n_directions; rank 0 computes. active [n_w]:
 * columns of X whose steps become P, M-orthonormal and M-orthogonal to the new X. MODAL_ERROR_NOT_CONVERGED: fewer than m independent
 * vectors, or numbers that are none. */
modal_status ranks_ritz_solve(const ranks_problem *problem, ranks_ritz *ritz, int64_t n_p, int64_t n_w, const int *active, modal_error *err);

#endif
