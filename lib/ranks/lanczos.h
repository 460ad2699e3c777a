/* SPDX-License-Identifier: Apache-2.0 */
/* Block Lanczos with thick restart for the largest eigenvalues theta = 1 / (lambda - sigma) of (K - sigma M)^-1 M, in the inner
 * product of M (G. H. Golub, R. Underwood, "The block Lanczos method for computing eigenvalues", 1977; K. Wu, H. Simon, "Thick-restart
 * Lanczos method for large symmetric eigenvalue problems", 2000). MUMPS reads the factor once for the eight vectors of a block, which costs
 * one and a half times what one vector does. Each block is made orthogonal to the whole basis, by blocks (A. Stathopoulos, K. Wu, "A block
 * orthogonalization procedure with constant synchronization requirements", 2002). Vectors are SLEPc's BV. */
#ifndef MODAL_RANKS_LANCZOS_H
#define MODAL_RANKS_LANCZOS_H

#include "lib/ranks/private.h"

typedef struct ranks_lanczos {
    int64_t wanted;   /* pairs, of the lowest eigenvalues above sigma */
    int64_t exact;    /* so many of them to `tolerance`, the others only so that their eigenvalues are known */
    double tolerance; /* of theta, relative */
} ranks_lanczos;

/* Vectors that it holds at its largest. */
int64_t ranks_lanczos_vectors(int64_t wanted);

/* All ranks: pairs beside the rigid motions and those that are there, appended to them; their eigenvalues are the Rayleigh-Ritz's to
 * find. factor: of K - sigma M. MODAL_ERROR_NOT_CONVERGED. */
modal_status ranks_lanczos_solve(ranks_problem *problem, Mat factor, const ranks_lanczos *how, modal_error *err);

#endif
