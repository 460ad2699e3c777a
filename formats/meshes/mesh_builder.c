/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/mesh_builder.h"

#include <string.h>

#include "lib/base/memory.h"

modal_status modal_mesh_builder_node(modal_mesh_builder *builder, int64_t tag,
                                     const double position[3])
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *mesh = builder->mesh;
    modal_error *err = builder->text->err;
    int32_t earlier;
    if (mesh->n_nodes == INT32_MAX)
        return modal_text_fail(builder->text, "more than %d nodes", INT32_MAX);
    MODAL_TRY(modal_grow(&mesh->nodes, &builder->node_capacity, mesh->n_nodes + 1,
                         3 * sizeof *mesh->nodes, "nodes", err));
    MODAL_TRY(modal_grow(&mesh->node_tags, &builder->node_tag_capacity, mesh->n_nodes + 1,
                         sizeof *mesh->node_tags, "node tags", err));
    mesh->node_tags[mesh->n_nodes] = tag;
    MODAL_TRY(modal_tag_table_add(&builder->node_table, mesh->node_tags, (int32_t)mesh->n_nodes,
                                  &earlier, err));
    if (earlier >= 0)
        return modal_text_fail(builder->text, "this number appears twice, %lld", (long long)tag);
    memcpy(mesh->nodes + 3 * mesh->n_nodes++, position, 3 * sizeof *position);
done:
    return status;
}

modal_status modal_mesh_builder_find_node(const modal_mesh_builder *builder, int64_t tag,
                                          int32_t *node)
{
    *node = modal_tag_table_find(&builder->node_table, builder->mesh->node_tags, tag);
    return *node >= 0 ? MODAL_OK
                      : modal_text_fail(builder->text, "unknown node, %lld", (long long)tag);
}

modal_status modal_mesh_builder_check_repeats(const modal_mesh_builder *builder,
                                              const int32_t *nodes, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (nodes[i] == nodes[j])
                return modal_text_fail(builder->text, "repeated node, %lld",
                                       (long long)builder->mesh->node_tags[nodes[i]]);
    return MODAL_OK;
}

modal_status modal_mesh_builder_element(modal_mesh_builder *builder, modal_element_type type,
                                        int64_t tag, const int32_t *nodes)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *mesh = builder->mesh;
    modal_error *err = builder->text->err;
    int64_t n = mesh->n_elements;
    int n_nodes = modal_element_kinds[type].n_nodes;
    int32_t earlier;
    if (n == INT32_MAX) return modal_text_fail(builder->text, "more than %d elements", INT32_MAX);
    MODAL_TRY(modal_mesh_builder_check_repeats(builder, nodes, n_nodes));
    MODAL_TRY(modal_grow(&mesh->element_type, &builder->type_capacity, n + 1,
                         sizeof *mesh->element_type, "elements", err));
    MODAL_TRY(modal_grow(&mesh->element_offsets, &builder->offset_capacity, n + 2,
                         sizeof *mesh->element_offsets, "elements", err));
    if (n == 0) mesh->element_offsets[0] = 0;
    int64_t offset = mesh->element_offsets[n];
    MODAL_TRY(modal_grow(&mesh->element_nodes, &builder->element_node_capacity, offset + n_nodes,
                         sizeof *mesh->element_nodes, "elements", err));
    MODAL_TRY(modal_grow(&mesh->element_tags, &builder->element_tag_capacity, n + 1,
                         sizeof *mesh->element_tags, "element tags", err));
    mesh->element_tags[n] = tag;
    MODAL_TRY(modal_tag_table_add(&builder->element_table, mesh->element_tags, (int32_t)n, &earlier,
                                  err));
    if (earlier >= 0)
        return modal_text_fail(builder->text, "this number appears twice, %lld", (long long)tag);
    mesh->element_type[n] = (uint8_t)type;
    memcpy(mesh->element_nodes + offset, nodes, (size_t)n_nodes * sizeof *nodes);
    mesh->element_offsets[n + 1] = offset + n_nodes;
    mesh->n_elements++;
done:
    return status;
}

modal_status modal_mesh_builder_join(modal_mesh_builder *builder, int dimension, int32_t tag,
                                     const int32_t *nodes, int64_t n_nodes)
{
    modal_status status = MODAL_OK;
    modal_error *err = builder->text->err;
    int32_t group;
    MODAL_TRY(modal_group_builder_find(&builder->groups, dimension, tag, &group, err));
    /* The nodes of volume groups come from their elements, at the end. */
    MODAL_TRY(dimension == 3
                  ? modal_group_builder_add_element(&builder->groups, group,
                                                    (int32_t)(builder->mesh->n_elements - 1), err)
                  : modal_group_builder_add_cell(&builder->groups, group, nodes, n_nodes, err));
done:
    return status;
}

modal_status modal_mesh_builder_finish(modal_mesh_builder *builder)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *mesh = builder->mesh;
    modal_error *err = builder->text->err;
    builder->text->subject = NULL;
    if (mesh->n_elements == 0) return modal_text_fail(builder->text, "no volume elements");
    if (!mesh->element_material) {
        MODAL_TRY(modal_alloc(&mesh->element_material, mesh->n_elements,
                              sizeof *mesh->element_material, "materials of elements", err));
        for (int64_t e = 0; e < mesh->n_elements; e++) mesh->element_material[e] = -1;
    }
    if (!mesh->materials)
        MODAL_TRY(modal_alloc(&mesh->materials, 0, sizeof *mesh->materials, "materials", err));
    MODAL_TRY(modal_group_builder_finish(&builder->groups, builder->text->name, mesh, err));
done:
    return status;
}

void modal_mesh_builder_free(modal_mesh_builder *builder)
{
    modal_tag_table_free(&builder->node_table);
    modal_tag_table_free(&builder->element_table);
    modal_group_builder_free(&builder->groups);
}
