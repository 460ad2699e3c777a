/* SPDX-License-Identifier: Apache-2.0 */
/* How many elements a body has through its thickness, by its topology alone: sizes and shapes of elements do not matter.
 *
 * A node's depth is the least number of elements that lead from it to a node of the boundary, from one to the next by
 * common nodes. Through n layers of elements depths go up to n / 2: there are four or more where depths of two are. A node of the
 * boundary is on a thick part where two elements lead from it to a node of depth two, or where a neighbour is: at sharp
 * edges unstructured tetrahedra have all their nodes on the boundary. Else it is on a thin part. */
#ifndef MODAL_MESH_LAYERS_H
#define MODAL_MESH_LAYERS_H

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

typedef struct modal_layers {
    int64_t n_surface; /* nodes of the boundary that an element without mid-side nodes has */
    int64_t n_thin;    /* of them, where there are fewer than four elements through the thickness */
    int64_t n_single;  /* of these, where there is one: neither it nor a neighbour has a node inside in its elements */
} modal_layers;

/* vertex_nodes [n_vertices] are the nodes of the boundary, as modal_volume_mesh_boundary gives them. O(elements).
 * MODAL_ERROR_MEMORY. */
modal_status modal_mesh_count_layers(const modal_volume_mesh *mesh, int64_t n_vertices, const int32_t *vertex_nodes,
                                     modal_layers *layers, modal_error *err);

#endif
