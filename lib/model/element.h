/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of volume elements: their nodes, faces and edges, as tables.
 *
 * Corner nodes, with the reference coordinates (r, s, t) of each (lib/mesh/element_shape.h):
 *   TET4, TET10     0 (0,0,0)  1 (1,0,0)  2 (0,1,0)  3 (0,0,1)
 *   HEX8, HEX20     0 (-1,-1,-1)  1 (1,-1,-1)  2 (1,1,-1)  3 (-1,1,-1), then 4 .. 7 above them, t = 1
 *   WEDGE6          0 (0,0,-1)  1 (1,0,-1)  2 (0,1,-1), then 3 .. 5 above them, t = 1
 *   PYRAMID5        0 (-1,-1,0)  1 (1,-1,0)  2 (1,1,0)  3 (-1,1,0), the apex 4 (0,0,1)
 * Mid-side nodes follow the corners, in the order of `edges`:
 *   TET10           4 of 01, 5 of 12, 6 of 20, 7 of 03, 8 of 13, 9 of 23
 *   HEX20           8 .. 11 of 01 12 23 30, 12 .. 15 of 45 56 67 74, 16 .. 19 of 04 15 26 37
 * This is the order of Abaqus and CalculiX (C3D4, C3D10, C3D8, C3D20, C3D6), and VTK's but for the
 * wedge, which VTK turns over. Readers of other orders convert. */
#ifndef MODAL_MODEL_ELEMENT_H
#define MODAL_MODEL_ELEMENT_H

#include <stdint.h>

/* The values stand in basis.h5 and stay. */
typedef enum modal_element_type {
    MODAL_ELEMENT_TET4 = 0,
    MODAL_ELEMENT_TET10 = 1,
    MODAL_ELEMENT_HEX8 = 2,
    MODAL_ELEMENT_HEX20 = 3,
    MODAL_ELEMENT_WEDGE6 = 4,
    MODAL_ELEMENT_PYRAMID5 = 5,
    MODAL_ELEMENT_TYPES = 6
} modal_element_type;

enum {
    MODAL_ELEMENT_MOST_NODES = 20,
    MODAL_ELEMENT_MOST_CORNERS = 8,
    MODAL_ELEMENT_MOST_FACES = 6,
    MODAL_ELEMENT_MOST_EDGES = 12,
    MODAL_FACE_MOST_NODES = 8,
    MODAL_FACE_MOST_TRIANGLES = 6
};

typedef struct modal_element_face {
    uint8_t n_corners; /* 3 or 4 */
    uint8_t n_nodes;   /* n_corners, or twice that with mid-side nodes */
    /* Corners counter-clockwise seen from outside, then the mid-side nodes: that of corner i and the
     * next one at n_corners + i. */
    uint8_t nodes[MODAL_FACE_MOST_NODES];
} modal_element_face;

typedef struct modal_element_kind {
    const char *name; /* "TET4" */
    uint8_t n_nodes, n_corners, n_faces, n_edges;
    uint8_t quadratic; /* 1: with mid-side nodes */
    modal_element_face faces[MODAL_ELEMENT_MOST_FACES];
    uint8_t edges[MODAL_ELEMENT_MOST_EDGES][2]; /* corners; the mid-side node of edge i is n_corners + i */
    uint8_t mirror[MODAL_ELEMENT_MOST_NODES];   /* node order that turns an inverted element right */
} modal_element_kind;

/* [MODAL_ELEMENT_TYPES] */
extern const modal_element_kind modal_element_kinds[MODAL_ELEMENT_TYPES];

/* Cuts a face into triangles, in local places of face->nodes ([n, 3], same orientation as the face),
 * and returns their number: 1 (3 nodes), 2 (4), 4 (6) or 6 (8). `nodes` are the face's nodes in the
 * mesh, [face->n_nodes]. A quadrilateral is cut along the diagonal through its lowest node, one with
 * mid-side nodes loses its four corners and keeps a quadrilateral of mid-side nodes, cut likewise: so
 * the cut depends on the nodes alone, and both elements at a face see the same triangles. */
int modal_face_triangles(const modal_element_face *face, const int32_t *nodes,
                         uint8_t triangles[MODAL_FACE_MOST_TRIANGLES][3]);

#endif
