/* SPDX-License-Identifier: Apache-2.0 */
/* Tetrahedra whose nodes are listed the wrong way round. */
#ifndef MODAL_MESH_TURN_H
#define MODAL_MESH_TURN_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

/* Whether each of the n linear tetrahedra in `elements` (indices ascending, of negative volume) only has its nodes in the
 * wrong order: it shares a face with another element, and each that it shares one with has its corners' mean on the other
 * side of that face. Where one does not, the tetrahedron lies over its neighbour, and no order makes that right.
 * *agree: 1 or 0. Takes 80 bytes a tetrahedron in the list; MODAL_ERROR_MEMORY. */
modal_status modal_tetrahedra_only_turned(const modal_volume_mesh *mesh, int64_t n, const int32_t *elements, int *agree,
                                          modal_error *err);

#endif
