/* SPDX-License-Identifier: Apache-2.0 */
/* The boundary surface of a solid. */
#ifndef MODAL_MESH_BOUNDARY_H
#define MODAL_MESH_BOUNDARY_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/mesh/face_match.h"
#include "lib/model/volume_mesh.h"

/* Finds the faces that belong to one element only. surface gets one vertex for each boundary
 * node, in ascending node order (the "user's order" of this surface), and the triangles of each
 * boundary face (element.h: modal_face_triangles; mid-side nodes are vertices like others),
 * counter-clockwise from outside, in ascending (element, local face) order; no uv.
 * *vertex_nodes [surface->n_vertices] is the node of each vertex. The mesh must have passed
 * modal_volume_mesh_check. MODAL_ERROR_INPUT, with the elements' user tags: a face of more than two
 * elements, or two on the same side of a face (they overlap; an element given twice is the usual
 * case), or two of which one has mid-side nodes on the face that the other has not (the motion would
 * tear there), or a triangle of one element on half of a quadrilateral of another (likewise). On an
 * error surface is zeroed and *vertex_nodes NULL; otherwise the caller frees
 * both. O(elements); scratch for a range of faces at a time, an eighth of
 * all at most where there are many. */
modal_status modal_volume_mesh_boundary(const modal_volume_mesh *mesh, modal_surface_mesh *surface,
                                        int32_t **vertex_nodes, modal_error *err);

/* The finder of modal_volume_mesh_boundary: this process matches the faces. */
modal_face_finder modal_find_faces;
/* The same with faces that `find` finds, for instance on other processes. */
modal_status modal_volume_mesh_boundary_by(modal_face_finder *find, const modal_volume_mesh *mesh, modal_surface_mesh *surface,
                                           int32_t **vertex_nodes, modal_error *err);

#endif
