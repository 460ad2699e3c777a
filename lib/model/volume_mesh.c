/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/volume_mesh.h"

#include <string.h>

#include "lib/base/memory.h"

int modal_volume_mesh_is_all(const modal_volume_mesh *mesh, modal_element_type type)
{
    for (int64_t e = 0; e < mesh->n_elements; e++)
        if (mesh->element_type[e] != type) return 0;
    return 1;
}

modal_status modal_volume_mesh_new_elements(modal_volume_mesh *mesh, int64_t n,
                                            modal_element_type type, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t width = modal_element_kinds[type].n_nodes;
    MODAL_TRY(modal_alloc(&mesh->element_type, n, sizeof *mesh->element_type, "element types", err));
    MODAL_TRY(modal_alloc(&mesh->element_offsets, n + 1, sizeof *mesh->element_offsets,
                          "element offsets", err));
    MODAL_TRY(modal_alloc(&mesh->element_nodes, n, (size_t)width * sizeof *mesh->element_nodes,
                          "element nodes", err));
    for (int64_t e = 0; e <= n; e++) mesh->element_offsets[e] = width * e;
    memset(mesh->element_type, type, (size_t)n);
    mesh->n_elements = n;
done:
    if (status != MODAL_OK) {
        modal_free(&mesh->element_type);
        modal_free(&mesh->element_offsets);
        modal_free(&mesh->element_nodes);
    }
    return status;
}

void modal_volume_mesh_free(modal_volume_mesh *mesh)
{
    for (int32_t i = 0; i < mesh->n_groups; i++) {
        modal_free(&mesh->groups[i].name);
        modal_free(&mesh->groups[i].nodes);
        modal_free(&mesh->groups[i].elements);
        modal_free(&mesh->groups[i].faces);
    }
    for (int32_t i = 0; i < mesh->n_materials; i++) modal_free(&mesh->materials[i].name);
    for (int32_t i = 0; i < mesh->n_conditions; i++) {
        modal_free(&mesh->conditions[i].group.name);
        modal_free(&mesh->conditions[i].group.nodes);
    }
    modal_free(&mesh->conditions);
    for (int k = 0; k < MODAL_UNSUPPORTED_KINDS; k++) modal_notes_free(&mesh->not_taken[k]);
    modal_notes_free(&mesh->notes);
    modal_free(&mesh->nodes);
    modal_free(&mesh->node_tags);
    modal_free(&mesh->element_type);
    modal_free(&mesh->element_offsets);
    modal_free(&mesh->element_nodes);
    modal_free(&mesh->element_tags);
    modal_free(&mesh->groups);
    modal_free(&mesh->materials);
    modal_free(&mesh->element_material);
    modal_free(&mesh->element_fibres);
    memset(mesh, 0, sizeof *mesh);
}

void modal_surface_mesh_free(modal_surface_mesh *surface)
{
    modal_free(&surface->positions);
    modal_free(&surface->triangles);
    modal_free(&surface->uv);
    modal_free(&surface->triangle_uv);
    modal_free(&surface->triangle_normal);
    modal_free(&surface->colours);
    for (int32_t i = 0; i < surface->n_parts; i++) modal_free(&surface->part_names[i]);
    modal_free(&surface->part_names);
    modal_free(&surface->triangle_part);
    for (int32_t i = 0; i < surface->n_materials; i++) modal_free(&surface->material_names[i]);
    modal_free(&surface->material_names);
    modal_free(&surface->triangle_material);
    for (int32_t i = 0; i < surface->n_libraries; i++) modal_free(&surface->libraries[i]);
    modal_free(&surface->libraries);
    modal_notes_free(&surface->notes);
    memset(surface, 0, sizeof *surface);
}
