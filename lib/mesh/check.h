/* SPDX-License-Identifier: Apache-2.0 */
/* What a volume mesh must satisfy before anything is computed from it. */
#ifndef MODAL_MESH_CHECK_H
#define MODAL_MESH_CHECK_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

typedef struct modal_mesh_summary {
    int flipped;           /* 1: all elements were left-handed, their nodes are mirrored now */
    int64_t n_turned;      /* linear tetrahedra that were left-handed among others, mirrored now */
    int64_t n_straightened; /* quadratic elements that their middle nodes had turned inside out, with straight edges now */
    int64_t dropped_nodes; /* nodes that no element used */
    int32_t n_components;  /* parts that share no node */
    double volume;         /* m^3, of all elements */
    double box_min[3];     /* m, of the nodes that are left */
    double box_max[3];
} modal_mesh_summary;

/* Checks a mesh and puts right what has one meaning only. Refused as MODAL_ERROR_INPUT: no
 * elements; more nodes or elements than int32 counts; an index out of range; a coordinate that is
 * not finite; a linear tetrahedron of zero volume, |6 V| <= 1e-14 (longest edge)^3, or of negative
 * volume, any other element whose Jacobian is not above that at every point of its quadrature rules
 * (element_shape.h), the first by its user tag, with the value and the number of such elements. Put
 * right: when all elements are negative they are mirrored; when only linear tetrahedra are, and each lies beside the
 * elements it shares faces with and not over them (turn.h), these are; when only quadratic elements are not positive, and would be
 * with their middle nodes in the middle of their edges, these are moved there, if no other element suffers; nodes in no element are dropped from nodes,
 * node_tags and groups, elements renumbered (the order of nodes stays; a group may become empty and is kept).
 * On an error mesh and summary are unchanged. O(n). */
modal_status modal_volume_mesh_check(modal_volume_mesh *mesh, modal_mesh_summary *summary,
                                     modal_error *err);

/* Writes for each node the connected component that it belongs to, numbered 0, 1, ... by ascending
 * smallest node; -1 for a node in no element. Elements that share a node are connected. Returns the
 * number of components. component has n_nodes entries; indices must be in range. */
int32_t modal_volume_mesh_components(const modal_volume_mesh *mesh, int32_t *component);

#endif
