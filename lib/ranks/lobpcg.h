/* SPDX-License-Identifier: Apache-2.0 */
/* LOBPCG in blocks (A. V. Knyazev, "Toward the optimal preconditioned eigensolver: locally optimal block preconditioned conjugate
 * gradient method", 2001) that keeps three blocks: X, the directions P of the last step, preconditioned residuals W. Products with K and
 * M are made a strip of rows at a time, where they are needed, and not kept. Small enough pairs get no residuals (soft locking:
 * A. V. Knyazev, M. E. Argentati, I. Lashuk, E. E. Ovtchinnikov, "BLOPEX", 2007), P is made orthogonal to X in the small problem, and
 * of dependent vectors there some are dropped (J. A. Duersch, M. Shao, C. Yang, M. Gu, "A robust and efficient implementation
 * of LOBPCG", 2018). */
#ifndef MODAL_RANKS_LOBPCG_H
#define MODAL_RANKS_LOBPCG_H

#include "lib/ranks/private.h"

typedef struct ranks_lobpcg {
    int64_t n_beside; /* the first so many pairs, and the rigid motions, are kept out; the others are where it starts */
    int64_t wanted;   /* pairs, lowest first */
    int64_t block;    /* vectors, wanted and more */
    double tolerance; /* of ||K x - lambda M x|| / ||lambda M x||; where rounding leaves more, that */
} ranks_lobpcg;

/* All ranks: the pairs found come after the first n_beside, in the place of the others. MODAL_ERROR_NOT_CONVERGED. */
modal_status ranks_lobpcg_solve(ranks_problem *problem, ranks_cycle *grid, const ranks_lobpcg *how, modal_error *err);

#endif
