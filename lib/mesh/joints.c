/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/joints.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/mesh/faces.h"

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* piece [n_elements]: the same number for elements that hang together by faces. */
static modal_status find_pieces(const modal_volume_mesh *mesh, int32_t *piece, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_face *faces = NULL;
    int64_t n_faces = 0;
    for (int64_t e = 0; e < mesh->n_elements; e++) n_faces += modal_mesh_kind(mesh, e)->n_faces;
    MODAL_TRY(modal_alloc(&faces, n_faces, sizeof *faces, "faces", err));
    n_faces = 0;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const modal_element_kind *kind = modal_mesh_kind(mesh, e);
        piece[e] = (int32_t)e;
        for (int f = 0; f < kind->n_faces; f++) faces[n_faces++] = modal_face_of(mesh, e, f);
    }
    qsort(faces, (size_t)n_faces, sizeof *faces, modal_faces_compare);
    for (int64_t i = 1; i < n_faces; i++) {
        if (memcmp(faces[i].corners, faces[i - 1].corners, sizeof faces[i].corners) != 0) continue;
        const int32_t a = root_of(piece, faces[i - 1].element), b = root_of(piece, faces[i].element);
        piece[a < b ? b : a] = a < b ? a : b;
    }
    for (int64_t e = 0; e < mesh->n_elements; e++) piece[e] = root_of(piece, (int32_t)e);
done:
    modal_free(&faces);
    return status;
}

modal_status modal_volume_mesh_joints(const modal_volume_mesh *mesh, int64_t n_most, int32_t *nodes,
                                      int64_t *n_joints, modal_error *err)
{
    enum { NONE = -1, JOINT = -2 };
    modal_status status = MODAL_OK;
    int32_t *piece = NULL, *of_node = NULL;
    *n_joints = 0;
    MODAL_TRY(modal_alloc(&piece, mesh->n_elements, sizeof *piece, "pieces", err));
    MODAL_TRY(modal_alloc(&of_node, mesh->n_nodes, sizeof *of_node, "pieces", err));
    MODAL_TRY(find_pieces(mesh, piece, err));
    for (int64_t i = 0; i < mesh->n_nodes; i++) of_node[i] = NONE;
    for (int64_t e = 0; e < mesh->n_elements; e++)
        for (int64_t k = mesh->element_offsets[e]; k < mesh->element_offsets[e + 1]; k++) {
            int32_t *of = &of_node[mesh->element_nodes[k]];
            if (*of == NONE) *of = piece[e];
            else if (*of != piece[e]) *of = JOINT;
        }
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        if (of_node[i] == JOINT && ++*n_joints <= n_most) nodes[*n_joints - 1] = (int32_t)i;
done:
    modal_free(&piece);
    modal_free(&of_node);
    return status;
}
