/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/layers.h"

#include <string.h>

#include "lib/base/memory.h"

enum { BOUNDARY = 1, LINEAR = 2, ONE = 4, DEEP = 8, BELOW_DEEP = 16, NEAR_THICK = 32, THICK = 64, INNER = 128 };

/* In every element that has a node with `from`, gives `mark` to its nodes that have `among`. */
static void spread(const modal_volume_mesh *mesh, uint8_t *marks, int from, int among, int mark)
{
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t *nodes = modal_mesh_nodes(mesh, e);
        const int n = modal_mesh_kind(mesh, e)->n_nodes;
        int some = 0;
        for (int a = 0; a < n && !some; a++) some = (marks[nodes[a]] & from) != 0;
        for (int a = 0; a < n && some; a++)
            if ((marks[nodes[a]] & among) == among) marks[nodes[a]] |= (uint8_t)mark;
    }
}

modal_status modal_mesh_count_layers(const modal_volume_mesh *mesh, int64_t n_vertices, const int32_t *vertex_nodes,
                                     modal_layers *layers, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *marks = NULL;
    memset(layers, 0, sizeof *layers);
    MODAL_TRY(modal_alloc_zero(&marks, mesh->n_nodes, 1, "layers of elements", err));
    for (int64_t v = 0; v < n_vertices; v++) marks[vertex_nodes[v]] |= BOUNDARY;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const modal_element_kind *kind = modal_mesh_kind(mesh, e);
        for (int a = 0; a < kind->n_nodes && !kind->quadratic; a++) marks[modal_mesh_nodes(mesh, e)[a]] |= LINEAR;
    }
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        if (!(marks[i] & BOUNDARY)) marks[i] |= INNER;
    spread(mesh, marks, BOUNDARY, INNER, ONE);
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        if ((marks[i] & INNER) && !(marks[i] & ONE)) marks[i] |= DEEP;
    spread(mesh, marks, DEEP, ONE, BELOW_DEEP);
    spread(mesh, marks, BELOW_DEEP, BOUNDARY, NEAR_THICK);
    spread(mesh, marks, NEAR_THICK, BOUNDARY, THICK);
    for (int64_t i = 0; i < mesh->n_nodes; i++) {
        if (!(marks[i] & BOUNDARY) || !(marks[i] & LINEAR)) continue;
        layers->n_surface++;
        layers->n_thin += !(marks[i] & THICK);
    }
    for (int64_t i = 0; i < mesh->n_nodes; i++) marks[i] &= (uint8_t)~(ONE | DEEP); /* now of the boundary: inner nodes are near */
    spread(mesh, marks, INNER, BOUNDARY, ONE);
    spread(mesh, marks, ONE, BOUNDARY, DEEP);
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        layers->n_single += (marks[i] & (BOUNDARY | LINEAR | DEEP)) == (BOUNDARY | LINEAR);
done:
    modal_free(&marks);
    return status;
}
