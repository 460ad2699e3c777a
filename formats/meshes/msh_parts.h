/* SPDX-License-Identifier: Apache-2.0 */
/* For the writer of .msh files: the faces, edges and points that stand for groups of nodes. */
#ifndef MODAL_FORMATS_MSH_PARTS_H
#define MODAL_FORMATS_MSH_PARTS_H

#include "lib/model/volume_mesh.h"

typedef struct msh_part {
    int32_t group; /* index in the mesh */
    int8_t dimension, n_nodes;
    int32_t nodes[MODAL_FACE_MOST_NODES]; /* in the order of Gmsh, corners first */
} msh_part;

/* In the order of dimension, group, nodes. */
typedef struct msh_parts {
    int64_t n, capacity;
    msh_part *parts;
} msh_parts;

modal_status msh_find_parts(const modal_volume_mesh *mesh, msh_parts *parts, modal_error *err);
void msh_parts_free(msh_parts *parts);

#endif
