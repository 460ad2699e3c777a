/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/turn.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/mesh/faces.h"
#include "lib/mesh/predicates.h"

/* The side of the face on which the mean of the element's corners is. */
static int side_of(const modal_volume_mesh *mesh, const modal_face *face, int64_t element)
{
    const modal_element_kind *kind = modal_mesh_kind(mesh, element);
    const int32_t *nodes = modal_mesh_nodes(mesh, element);
    const double *x[3];
    double mean[3] = {0};
    for (int k = 0; k < 3; k++) x[k] = mesh->nodes + 3 * (int64_t)face->corners[k];
    for (int i = 0; i < kind->n_corners; i++)
        for (int k = 0; k < 3; k++) mean[k] += mesh->nodes[3 * (int64_t)nodes[i] + k] / kind->n_corners;
    return modal_orientation_exact(x[0], x[1], x[2], mean);
}

static int compare_indices(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

modal_status modal_tetrahedra_only_turned(const modal_volume_mesh *mesh, int64_t n, const int32_t *elements, int *agree,
                                          modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_face *faces = NULL;
    int8_t *has_neighbour = NULL;
    *agree = 0;
    MODAL_TRY(modal_alloc(&faces, 4 * n, sizeof *faces, "faces", err));
    MODAL_TRY(modal_alloc_zero(&has_neighbour, n, 1, "faces", err));
    for (int64_t i = 0; i < 4 * n; i++) faces[i] = modal_face_of(mesh, elements[i / 4], (int)(i % 4));
    qsort(faces, (size_t)(4 * n), sizeof *faces, modal_faces_compare);
    for (int64_t e = 0; e < mesh->n_elements; e++)
        for (int f = 0; f < modal_mesh_kind(mesh, e)->n_faces; f++) {
            const modal_face face = modal_face_of(mesh, e, f);
            const modal_face *found = bsearch(&face, faces, (size_t)(4 * n), sizeof face, modal_faces_compare_corners);
            if (!found) continue;
            /* two of the list may share the face */
            while (found > faces && modal_faces_compare_corners(found - 1, &face) == 0) found--;
            for (; found < faces + 4 * n && modal_faces_compare_corners(found, &face) == 0; found++) {
                if (found->element == e) continue;
                if (side_of(mesh, &face, e) * side_of(mesh, &face, found->element) >= 0) goto done;
                const int32_t *place = bsearch(&found->element, elements, (size_t)n, sizeof *elements, compare_indices);
                has_neighbour[place - elements] = 1;
            }
        }
    *agree = !memchr(has_neighbour, 0, (size_t)n);
done:
    modal_free(&faces);
    modal_free(&has_neighbour);
    return status;
}
