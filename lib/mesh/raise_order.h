/* SPDX-License-Identifier: Apache-2.0 */
/* From linear to quadratic tetrahedra. */
#ifndef MODAL_MESH_RAISE_ORDER_H
#define MODAL_MESH_RAISE_ORDER_H

#include "lib/model/volume_mesh.h"

/* Makes every TET4 a TET10 in place: a node in the middle of each edge, numbered after the greatest
 * number there is, in the order in which the elements meet the edges. Groups get the middle of an edge
 * that has both ends in them; of groups of elements, the elements' edges. MODAL_ERROR_INPUT for an
 * element that is no TET4 or too many nodes; on an error the mesh is unchanged. */
modal_status modal_volume_mesh_raise_order(modal_volume_mesh *mesh, modal_error *err);

#endif
