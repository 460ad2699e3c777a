/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/volume_mesh.h"

#include <string.h>

#include "lib/base/memory.h"

void modal_volume_mesh_free(modal_volume_mesh *mesh)
{
    for (int32_t i = 0; i < mesh->n_groups; i++) {
        modal_free(&mesh->groups[i].name);
        modal_free(&mesh->groups[i].nodes);
        modal_free(&mesh->groups[i].elements);
    }
    for (int32_t i = 0; i < mesh->n_materials; i++) modal_free(&mesh->materials[i].name);
    modal_free(&mesh->nodes);
    modal_free(&mesh->node_tags);
    modal_free(&mesh->tetrahedra);
    modal_free(&mesh->element_tags);
    modal_free(&mesh->groups);
    modal_free(&mesh->materials);
    modal_free(&mesh->element_material);
    memset(mesh, 0, sizeof *mesh);
}

void modal_surface_mesh_free(modal_surface_mesh *surface)
{
    modal_free(&surface->positions);
    modal_free(&surface->triangles);
    modal_free(&surface->uv);
    modal_free(&surface->triangle_uv);
    memset(surface, 0, sizeof *surface);
}
