/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes at which a solid hangs together by less than a face. */
#ifndef MODAL_MESH_JOINTS_H
#define MODAL_MESH_JOINTS_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

/* Elements that share a face, directly or through others, are one piece. Finds the nodes that elements of
 * different pieces share: pieces that share one node turn about it, pieces that share an edge turn about that.
 * The first n_most nodes, ascending, come into nodes; *n_joints is the number of all. Parts that share nothing
 * are no joint. Takes 20 bytes a face while it works; MODAL_ERROR_MEMORY. */
modal_status modal_volume_mesh_joints(const modal_volume_mesh *mesh, int64_t n_most, int32_t *nodes,
                                      int64_t *n_joints, modal_error *err);

#endif
