/* SPDX-License-Identifier: Apache-2.0 */
/* How far modes carry the vertices of a shape. */
#ifndef MODAL_DEFORM_REACH_H
#define MODAL_DEFORM_REACH_H

#include "lib/base/status.h"
#include "lib/model/basis.h"
#include "lib/model/matrix_source.h"

/* largest [n_modes] = max over the vertices of |U_k|, in m a unit of q_k. `index` is the shape's in its basis. The
 * modal matrix is read in ranges of tiles from `source`, or is the shape's own where source->read is NULL. Errors
 * of the source; MODAL_ERROR_MEMORY. */
modal_status modal_reach_modes(const modal_shape *shape, int32_t index, const modal_matrix_source *source,
                               double *largest, modal_error *err);

/* The largest displacement of whole shapes at given q, with bounds that spare most of the work: of the shapes of a basis
 * that have their whole modal matrix and rest positions in memory. The basis is borrowed. */
typedef struct modal_reach modal_reach;
modal_status modal_reach_new(modal_reach **reach, const modal_basis *basis, modal_error *err);
modal_reach *modal_reach_delete(modal_reach *reach); /* returns NULL; NULL is fine */
int modal_reach_knows(const modal_reach *reach, int32_t shape);

/* Of a known shape at q [n_modes]: max over the vertices of |U q|, m, where that is above `least`; *vertex, in stored
 * order, is where. Else `least`, and *vertex stays. */
double modal_reach_displacement(const modal_reach *reach, int32_t shape, const double *q, double least, int64_t *vertex);

/* The diagonal of the box around the shape's vertices at rest, m. */
double modal_reach_diagonal(const modal_surface *shape);

#endif
