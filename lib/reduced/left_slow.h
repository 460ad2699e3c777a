/* SPDX-License-Identifier: Apache-2.0 */
/* The slowest motions of a solid that its basis leaves out, by which loads are measured that the basis cannot answer.
 *
 * Of the space that static answers span beside U (left_out.c) the Ritz vectors of the least eigenvalues. Beside the candidates of
 * elastic forces it has K^-1 M p for every polynomial field p of second degree: a step of inverse iteration from smooth fields, so that
 * where U has few natural modes the next ones are nearly there. A basis of natural modes has what
 * modal_modes_solve finds. Private to the room, but for modal_left_slow_take. */
#ifndef MODAL_REDUCED_LEFT_SLOW_H
#define MODAL_REDUCED_LEFT_SLOW_H

#include "lib/model/basis.h"
#include "lib/reduced/space.h"

/* Takes motions beside the columns of a shape, as of modal_modes_solve, for its slow motions; none of a shape without a surface, which stay
 * unknown then. MODAL_ERROR_MEMORY. */
modal_status modal_left_slow_take(const modal_shape *shape, const modal_modes_left *left, modal_left_out *left_out, modal_error *err);

enum { REDUCED_SMOOTH_FIELDS = 30, REDUCED_SLOW_MOTIONS = 6 };

/* fields [REDUCED_SMOOTH_FIELDS, n_nodes, 3]: the monomials of x, y, z up to second degree in each direction, of size 1 in the box. */
void reduced_smooth_fields(const modal_volume_mesh *mesh, double *fields);

/* Of vectors [n_before + n_vectors, n], of which the first are the columns, M-orthonormal, and the others are destroyed, the slow
 * motions into left_out; at most REDUCED_SLOW_MOTIONS, and none of a shape without a surface. */
modal_status reduced_slow_motions(const reduced_space *space, const modal_shape *shape, int64_t n_before, int64_t n_vectors,
                                  double *vectors, modal_left_out *left_out, modal_error *err);

#endif
