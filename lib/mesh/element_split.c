/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/element_split.h"

#include <string.h>

/* Corners cut off, then four around the axis between the middles of the edges 01 and 23. */
static const uint8_t tet10_parts[8][4] = {{0, 4, 6, 7}, {4, 1, 5, 8}, {6, 5, 2, 9}, {7, 8, 9, 3},
                                          {4, 9, 5, 6}, {4, 9, 6, 7}, {4, 9, 7, 8}, {4, 9, 8, 5}};

int modal_element_split(modal_element_type type, const int32_t *nodes,
                        uint8_t tetrahedra[MODAL_SPLIT_MOST][4])
{
    const modal_element_kind *kind = &modal_element_kinds[type];
    int lowest = 0, n = 0;
    if (type == MODAL_ELEMENT_TET4) {
        for (int k = 0; k < 4; k++) tetrahedra[0][k] = (uint8_t)k;
        return 1;
    }
    if (type == MODAL_ELEMENT_TET10) {
        memcpy(tetrahedra, tet10_parts, sizeof tet10_parts);
        return 8;
    }
    /* The cone of the lowest node over the faces that it is not on; those it is on are cut by the
     * cone through it, which is their lowest node, too. */
    for (int k = 1; k < kind->n_corners; k++)
        if (nodes[k] < nodes[lowest]) lowest = k;
    for (int f = 0; f < kind->n_faces; f++) {
        modal_element_face face = kind->faces[f];
        int32_t corners[4];
        uint8_t triangles[MODAL_FACE_MOST_TRIANGLES][3];
        int touches = 0;
        face.n_nodes = face.n_corners;
        for (int k = 0; k < face.n_corners; k++) {
            touches |= face.nodes[k] == lowest;
            corners[k] = nodes[face.nodes[k]];
        }
        if (touches) continue;
        const int n_triangles = modal_face_triangles(&face, corners, triangles);
        for (int i = 0; i < n_triangles; i++, n++) {
            tetrahedra[n][0] = face.nodes[triangles[i][0]];
            tetrahedra[n][1] = face.nodes[triangles[i][2]];
            tetrahedra[n][2] = face.nodes[triangles[i][1]];
            tetrahedra[n][3] = (uint8_t)lowest;
        }
    }
    return n;
}
