/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/faces.h"

int modal_faces_compare_corners(const void *a, const void *b)
{
    const modal_face *x = a, *y = b;
    for (int k = 0; k < 4; k++)
        if (x->corners[k] != y->corners[k]) return x->corners[k] < y->corners[k] ? -1 : 1;
    return 0;
}

int modal_faces_compare(const void *a, const void *b)
{
    const modal_face *x = a, *y = b;
    const int corners = modal_faces_compare_corners(a, b);
    return corners ? corners : (x->element > y->element) - (x->element < y->element);
}

modal_face modal_face_of(const modal_volume_mesh *mesh, int64_t element, int face)
{
    const modal_element_face *kind = &modal_mesh_kind(mesh, element)->faces[face];
    const int32_t *nodes = modal_mesh_nodes(mesh, element);
    modal_face f = {.corners = {-1, -1, -1, -1}, .element = (int32_t)element};
    for (int k = 0; k < kind->n_corners; k++) {
        const int32_t node = nodes[kind->nodes[k]];
        int place = k;
        for (; place > 0 && f.corners[place - 1] > node; place--) f.corners[place] = f.corners[place - 1];
        f.corners[place] = node;
    }
    return f;
}
