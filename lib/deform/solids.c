/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/deform/solids.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/model/node_modes.h"

/* The nodes take the place of the surface, in the user's order, which is the only one they have. */
static modal_status nodes_as_surface(modal_shape *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = s->solid.mesh.n_nodes;
    const int64_t tile_floats = (int64_t)s->modes.n_modes * 3 * MODAL_TILE;
    double *phi = NULL; /* [n, 3] */
    float *matrix = NULL;
    modal_node_modes modes = {0};
    if (n == 0 || !modal_shape_has_node_modes(s))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "shape %s: no solid with modes at its nodes, which a volume needs (modalpack --volume-modes)",
                   s->name ? s->name : "");
    MODAL_TRY(modal_node_modes_init(&modes, s, err));
    MODAL_TRY(modal_alloc(&phi, 3 * n, sizeof *phi, "modes at the nodes", err));
    MODAL_TRY(modal_alloc_zero(&matrix, modal_tile_count(n) * tile_floats, sizeof(float), "modes at the nodes", err));
    for (int32_t k = 0; k < s->modes.n_modes; k++) {
        modal_node_modes_get(&modes, k, phi);
        for (int64_t v = 0; v < n; v++)
            for (int i = 0; i < 3; i++) {
                const double value = phi[3 * v + i];
                if (!(fabs(value) <= FLT_MAX))
                    MODAL_FAIL(err, MODAL_ERROR_INPUT,
                               "shape %s: mode %d at node %" PRId64 " does not fit float32, %g", s->name ? s->name : "", k, v, value);
                matrix[v / MODAL_TILE * tile_floats + (3 * k + i) * MODAL_TILE + v % MODAL_TILE] = (float)value;
            }
    }
    modal_free(&s->surface.rest_positions);
    modal_free(&s->surface.triangles);
    modal_free(&s->surface.user_vertex);
    modal_free(&s->surface.user_triangle);
    modal_free(&s->surface.face_offsets);
    modal_free(&s->surface.faces);
    modal_free(&s->modes.modal_matrix);
    s->surface.n_triangles = 0;
    s->surface.n_vertices = n;
    s->surface.rest_positions = s->solid.mesh.nodes;
    s->solid.mesh.nodes = NULL;
    MODAL_TRY(modal_alloc(&s->surface.user_vertex, n, sizeof *s->surface.user_vertex, "nodes", err));
    for (int64_t v = 0; v < n; v++) s->surface.user_vertex[v] = (int32_t)v;
    modal_free(&s->solid.volume_modes);
    modal_free(&s->solid.volume_modes_float);
    modal_free(&s->solid.inner_modes);
    s->modes.modal_matrix = matrix;
    matrix = NULL;
done:
    modal_node_modes_free(&modes);
    modal_free(&phi);
    modal_free(&matrix);
    return status;
}

/* VTK's types, and its order: it turns the wedge over. */
static const uint8_t vtk_types[MODAL_ELEMENT_TYPES] = {
    [MODAL_ELEMENT_TET4] = 10, [MODAL_ELEMENT_TET10] = 24,  [MODAL_ELEMENT_HEX8] = 12,
    [MODAL_ELEMENT_HEX20] = 25, [MODAL_ELEMENT_WEDGE6] = 13, [MODAL_ELEMENT_PYRAMID5] = 14};

static void add_cells(modal_solid_cells *c, const modal_volume_mesh *mesh, int64_t first_point)
{
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const modal_element_kind *kind = modal_mesh_kind(mesh, e);
        const int32_t *nodes = modal_mesh_nodes(mesh, e);
        const int turned = mesh->element_type[e] == MODAL_ELEMENT_WEDGE6;
        int64_t *to = c->connectivity + c->offsets[c->n_cells];
        for (int k = 0; k < kind->n_nodes; k++) to[k] = first_point + nodes[turned ? kind->mirror[k] : k];
        c->types[c->n_cells] = vtk_types[mesh->element_type[e]];
        c->offsets[c->n_cells + 1] = c->offsets[c->n_cells] + kind->n_nodes;
        c->n_cells++;
    }
}

static modal_status new_cells(modal_solid_cells *c, int64_t n_cells, int64_t n_corners, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc(&c->connectivity, n_corners, sizeof *c->connectivity, "cells", err));
    MODAL_TRY(modal_alloc(&c->offsets, n_cells + 1, sizeof *c->offsets, "cells", err));
    MODAL_TRY(modal_alloc(&c->types, n_cells, 1, "cells", err));
    c->offsets[0] = 0;
done:
    return status;
}

modal_status modal_solid_cells_of(const modal_volume_mesh *mesh, modal_solid_cells *cells, modal_error *err)
{
    const modal_status status = new_cells(cells, mesh->n_elements, mesh->element_offsets[mesh->n_elements], err);
    if (status == MODAL_OK) add_cells(cells, mesh, 0);
    return status;
}

modal_status modal_solids_as_surfaces(modal_basis *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < b->n_shapes; i++) MODAL_TRY(nodes_as_surface(&b->shapes[i], err));
done:
    return status;
}

modal_status modal_solid_cells_of_basis(const modal_basis *b, modal_solid_cells *cells, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n_cells = 0, n_corners = 0, first_point = 0;
    for (int32_t i = 0; i < b->n_objects; i++) {
        const modal_volume_mesh *mesh = &b->shapes[b->objects[i].shape].solid.mesh;
        if (!modal_size_add(n_cells, mesh->n_elements, &n_cells) ||
            !modal_size_add(n_corners, mesh->element_offsets[mesh->n_elements], &n_corners))
            MODAL_FAIL(err, MODAL_ERROR_MEMORY, "too many elements");
    }
    MODAL_TRY(new_cells(cells, n_cells, n_corners, err));
    for (int32_t i = 0; i < b->n_objects; i++) {
        const modal_shape *s = &b->shapes[b->objects[i].shape];
        add_cells(cells, &s->solid.mesh, first_point);
        first_point += s->surface.n_vertices;
    }
done:
    return status;
}

void modal_solid_cells_free(modal_solid_cells *cells)
{
    modal_free(&cells->connectivity);
    modal_free(&cells->offsets);
    modal_free(&cells->types);
}
