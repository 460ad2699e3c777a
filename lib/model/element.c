/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/element.h"

#define TRIANGLE(a, b, c) {3, 3, {a, b, c}}
#define QUAD(a, b, c, d) {4, 4, {a, b, c, d}}
#define TRIANGLE6(a, b, c, ab, bc, ca) {3, 6, {a, b, c, ab, bc, ca}}
#define QUAD8(a, b, c, d, ab, bc, cd, da) {4, 8, {a, b, c, d, ab, bc, cd, da}}

const modal_element_kind modal_element_kinds[MODAL_ELEMENT_TYPES] = {
    [MODAL_ELEMENT_TET4] = {
        "TET4", 4, 4, 4, 6, 0,
        /* face f is opposite node f, as in tetrahedron.h */
        {TRIANGLE(1, 2, 3), TRIANGLE(0, 3, 2), TRIANGLE(0, 1, 3), TRIANGLE(0, 2, 1)},
        {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}},
        {0, 1, 3, 2}},
    [MODAL_ELEMENT_TET10] = {
        "TET10", 10, 4, 4, 6, 1,
        {TRIANGLE6(1, 2, 3, 5, 9, 8), TRIANGLE6(0, 3, 2, 7, 9, 6), TRIANGLE6(0, 1, 3, 4, 8, 7),
         TRIANGLE6(0, 2, 1, 6, 5, 4)},
        {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}},
        {0, 1, 3, 2, 4, 8, 7, 6, 5, 9}},
    [MODAL_ELEMENT_HEX8] = {
        "HEX8", 8, 8, 6, 12, 0,
        {QUAD(0, 3, 2, 1), QUAD(4, 5, 6, 7), QUAD(0, 1, 5, 4), QUAD(1, 2, 6, 5), QUAD(2, 3, 7, 6),
         QUAD(3, 0, 4, 7)},
        {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}},
        {4, 5, 6, 7, 0, 1, 2, 3}},
    [MODAL_ELEMENT_HEX20] = {
        "HEX20", 20, 8, 6, 12, 1,
        {QUAD8(0, 3, 2, 1, 11, 10, 9, 8), QUAD8(4, 5, 6, 7, 12, 13, 14, 15),
         QUAD8(0, 1, 5, 4, 8, 17, 12, 16), QUAD8(1, 2, 6, 5, 9, 18, 13, 17),
         QUAD8(2, 3, 7, 6, 10, 19, 14, 18), QUAD8(3, 0, 4, 7, 11, 16, 15, 19)},
        {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}},
        {4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11, 16, 17, 18, 19}},
    [MODAL_ELEMENT_WEDGE6] = {
        "WEDGE6", 6, 6, 5, 9, 0,
        {TRIANGLE(0, 2, 1), TRIANGLE(3, 4, 5), QUAD(0, 1, 4, 3), QUAD(1, 2, 5, 4), QUAD(2, 0, 3, 5)},
        {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}},
        {3, 4, 5, 0, 1, 2}},
    [MODAL_ELEMENT_PYRAMID5] = {
        "PYRAMID5", 5, 5, 5, 8, 0,
        {QUAD(0, 3, 2, 1), TRIANGLE(0, 1, 4), TRIANGLE(1, 2, 4), TRIANGLE(2, 3, 4), TRIANGLE(3, 0, 4)},
        {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}, {2, 4}, {3, 4}},
        {0, 3, 2, 1, 4}},
};

static int add(uint8_t triangles[][3], int n, int a, int b, int c)
{
    triangles[n][0] = (uint8_t)a;
    triangles[n][1] = (uint8_t)b;
    triangles[n][2] = (uint8_t)c;
    return n + 1;
}

/* The quadrilateral of places first .. first + 3, cut through its lowest node. */
static int add_quad(uint8_t triangles[][3], int n, const int32_t *nodes, int first)
{
    int low = 0;
    for (int k = 1; k < 4; k++)
        if (nodes[first + k] < nodes[first + low]) low = k;
    const int place[4] = {first + low, first + (low + 1) % 4, first + (low + 2) % 4,
                          first + (low + 3) % 4};
    n = add(triangles, n, place[0], place[1], place[2]);
    return add(triangles, n, place[0], place[2], place[3]);
}

int modal_face_triangles(const modal_element_face *face, const int32_t *nodes,
                         uint8_t triangles[MODAL_FACE_MOST_TRIANGLES][3])
{
    const int c = face->n_corners;
    if (face->n_nodes == 3) return add(triangles, 0, 0, 1, 2);
    if (face->n_nodes == 4) return add_quad(triangles, 0, nodes, 0);
    int n = 0;
    for (int k = 0; k < c; k++) n = add(triangles, n, k, c + k, c + (k + c - 1) % c);
    return c == 3 ? add(triangles, n, 3, 4, 5) : add_quad(triangles, n, nodes, 4);
}
