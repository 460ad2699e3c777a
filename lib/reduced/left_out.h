/* SPDX-License-Identifier: Apache-2.0 */
/* What a basis leaves out, prepared: directions W beside the basis U in which elastic forces that it cannot balance mostly point, and
 * the forces there, W^T f(U q), as polynomials in q.
 *
 * A solid that could move freely would answer f(U q) = K U q + ... with more than U. With M-orthonormal columns, M u'' lies in M span(U), so
 * what is not balanced is the part of f that some d with U^T M d = 0 feels. The d that takes most energy off, by K at rest, is
 *
 *     min over d of d^T K d / 2 + f(U q)^T d,   U^T M d = 0,   which is -|W^T f|^2 / 2 for a full, K-orthonormal W.
 *
 * Of such d the largest are kept. They come from what answers quasi-statically: the modal derivatives of the first columns, scaled
 * as for a basis (derivatives.h), and lambda_k K^-1 M u_k of every column k, which is u_k itself for natural modes. Of their
 * parts outside of span(U) the principal components in the energy norm are W: 10 of them give in tests 0.5 to 1 of the
 * whole (tests/python/check_left_out.py).
 *
 * Loads are not in W. For them the slowest motions beside U are kept (left_slow.h). */
#ifndef MODAL_REDUCED_LEFT_OUT_H
#define MODAL_REDUCED_LEFT_OUT_H

#include "lib/reduced/derivatives.h"
#include "lib/reduced/stvk.h"

enum { MODAL_LEFT_OUT_DIRECTIONS = 10 }; /* by default */

/* Bytes that it takes at most, beside mesh and modes. */
double modal_left_out_bytes(int64_t n_nodes, int64_t n_modes, int64_t n_directions);

/* For the columns volume_modes of a shape, Ritz vectors of K and M with its eigenvalues > 0, n_directions at most; fewer where there
 * are no more, and none is no error. Slow motions need its surface, too. device: as of modal_stvk_reduced_forces. Errors: as of that and of
 * modal_derivatives_solve; after one left_out is zeroed. Slow motions that left_out has already stay. */
modal_status modal_left_out_compute(const modal_shape *shape, int32_t n_directions, int n_threads, const modal_device *device,
                                    modal_left_out *left_out, const modal_progress *progress, modal_error *err);

#endif
