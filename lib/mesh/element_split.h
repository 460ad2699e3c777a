/* SPDX-License-Identifier: Apache-2.0 */
/* Elements cut into tetrahedra, for locating points. */
#ifndef MODAL_MESH_ELEMENT_SPLIT_H
#define MODAL_MESH_ELEMENT_SPLIT_H

#include "lib/mesh/element.h"

enum { MODAL_SPLIT_MOST = 8 };

/* Cuts an element into tetrahedra between its own nodes, in local node numbers [n, 4], and returns
 * their number: TET4 1 (itself), TET10 8 (through its mid-side nodes), WEDGE6 3, PYRAMID5 2, HEX8 and
 * HEX20 6 (between corners; the mid-side nodes of HEX20 are passed over). `nodes` are the element's
 * nodes in the mesh. Neighbours cut a common face alike: quadrilaterals through their lowest node,
 * as modal_face_triangles does. All are right-handed in an element of a plain shape.
 * Source: J. Dompierre, P. Labbe, M.-G. Vallet, R. Camarero, "How to subdivide pyramids, prisms and
 * hexahedra into tetrahedra", 8th International Meshing Roundtable, 1999. */
int modal_element_split(modal_element_type type, const int32_t *nodes,
                        uint8_t tetrahedra[MODAL_SPLIT_MOST][4]);

#endif
