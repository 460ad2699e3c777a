/* SPDX-License-Identifier: Apache-2.0 */
/* Solves with a supernodal factor L D L^T, D > 0, eight right-hand sides at a time.
 *
 * A solve reads the factor twice and does little else, so it is as fast as memory is read. The factor is
 * packed in the order of reading, in place; subtrees of the elimination tree are independent and go to
 * threads; above them the rows of each panel do. What subtrees add to rows above them is kept apart and
 * added in order, so the result does not depend on the number of threads. Private to the room. */
#ifndef MODAL_MODES_TRIANGLE_H
#define MODAL_MODES_TRIANGLE_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/modes/rows.h"
#include "lib/modes/supernodes.h"

typedef struct modal_triangle modal_triangle;

/* Borrows `supernodes`. modal_triangle_delete returns NULL and accepts it. */
modal_status modal_triangle_new(const modal_supernodes *supernodes, int n_threads,
                                modal_triangle **triangle, modal_error *err);
modal_triangle *modal_triangle_delete(modal_triangle *triangle);

/* Packs L sqrt(|D|) =: F, in place; the solves read it there. values: doubles or floats. */
modal_status modal_triangle_pack(modal_triangle *triangle, modal_precision precision, void *values,
                                 const double *pivots, modal_error *err);

/* y = F^-1 y, y = F^-T y, and one after the other: for D > 0 that is y = (L D L^T)^-1 y. y [n, 8] in the factor's order. */
void modal_triangle_forward(modal_triangle *triangle, modal_row *y);
void modal_triangle_backward(modal_triangle *triangle, modal_row *y);
void modal_triangle_solve(modal_triangle *triangle, modal_row *y);

#endif
