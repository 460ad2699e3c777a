/* SPDX-License-Identifier: Apache-2.0 */
/* The boundary surface of a solid. */
#ifndef MODAL_MESH_BOUNDARY_H
#define MODAL_MESH_BOUNDARY_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/mesh/volume_mesh.h"

/* Finds the faces that belong to one tetrahedron only. surface gets one vertex for each boundary
 * node, in ascending node order (the "user's order" of this surface), and one triangle for each
 * boundary face, counter-clockwise from outside, in ascending (element, local face) order (local
 * faces: tetrahedron.h); no uv. *vertex_nodes [surface->n_vertices] is the node of each vertex.
 * The mesh must have passed modal_volume_mesh_check. MODAL_ERROR_INPUT, with the elements' user
 * tags: a face of more than two tetrahedra, or two on the same side of a face (they overlap; a
 * tetrahedron given twice is the usual case). On an error surface is zeroed and *vertex_nodes NULL;
 * otherwise the caller frees both. O(elements). */
modal_status modal_volume_mesh_boundary(const modal_volume_mesh *mesh, modal_surface_mesh *surface,
                                        int32_t **vertex_nodes, modal_error *err);

#endif
