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

/* The diagonal of the box around the shape's vertices at rest, m. */
double modal_reach_diagonal(const modal_shape *shape);

#endif
