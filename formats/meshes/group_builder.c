/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/group_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"

static modal_status append(modal_group_builder *builder, int dimension, int32_t tag, int32_t *group,
                           modal_error *err)
{
    modal_status status = MODAL_OK;
    if (builder->n == INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "more than %d groups", INT32_MAX);
    MODAL_TRY(modal_grow(&builder->drafts, &builder->capacity, builder->n + 1,
                         sizeof *builder->drafts, "groups", err));
    builder->drafts[builder->n] =
        (modal_group_draft){.group = {.dimension = dimension, .tag = tag}};
    *group = (int32_t)builder->n++;
done:
    return status;
}

modal_status modal_group_builder_find(modal_group_builder *builder, int dimension, int32_t tag,
                                      int32_t *group, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t earlier;
    MODAL_TRY(modal_grow(&builder->keys, &builder->key_capacity, builder->n + 1,
                         sizeof *builder->keys, "groups", err));
    builder->keys[builder->n] = 4 * (int64_t)tag + dimension;
    *group = modal_tag_table_find(&builder->table, builder->keys, builder->keys[builder->n]);
    if (*group >= 0) goto done;
    MODAL_TRY(append(builder, dimension, tag, group, err));
    MODAL_TRY(modal_tag_table_add(&builder->table, builder->keys, *group, &earlier, err));
done:
    return status;
}

modal_status modal_group_builder_name(modal_group_builder *builder, const char *name,
                                      int64_t length, int32_t *group, modal_error *err)
{
    modal_status status = append(builder, 3, -1, group, err);
    if (status != MODAL_OK) return status;
    return modal_copy_text(&builder->drafts[*group].group.name, name, (size_t)length, err);
}

modal_status modal_group_builder_add_element(modal_group_builder *builder, int32_t group,
                                             int32_t element, modal_error *err)
{
    modal_group_draft *draft = &builder->drafts[group];
    modal_status status =
        modal_grow(&draft->group.elements, &draft->element_capacity, draft->group.n_elements + 1,
                   sizeof(int32_t), "elements of a group", err);
    if (status == MODAL_OK) draft->group.elements[draft->group.n_elements++] = element;
    return status;
}

modal_status modal_group_builder_add_nodes(modal_group_builder *builder, int32_t group,
                                           const int32_t *nodes, int64_t n_nodes, modal_error *err)
{
    modal_group_draft *draft = &builder->drafts[group];
    modal_status status =
        modal_grow(&draft->group.nodes, &draft->node_capacity, draft->group.n_nodes + n_nodes,
                   sizeof(int32_t), "nodes of a group", err);
    if (status != MODAL_OK) return status;
    memcpy(draft->group.nodes + draft->group.n_nodes, nodes, (size_t)n_nodes * sizeof *nodes);
    draft->group.n_nodes += n_nodes;
    return MODAL_OK;
}

modal_status modal_group_builder_add_cell(modal_group_builder *builder, int32_t group,
                                          const int32_t *nodes, int64_t n_nodes, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_group_draft *draft = &builder->drafts[group];
    MODAL_TRY(modal_group_builder_add_nodes(builder, group, nodes, n_nodes, err));
    if (draft->group.dimension != 2) goto done;
    draft->has_others |= n_nodes != 3 && n_nodes != 4;
    if (draft->has_others) goto done;
    MODAL_TRY(modal_grow(&draft->group.faces, &draft->face_capacity, draft->group.n_faces + 1,
                         4 * sizeof(int32_t), "faces of a group", err));
    int32_t *face = draft->group.faces + 4 * draft->group.n_faces++;
    for (int k = 0; k < 4; k++) face[k] = k < n_nodes ? nodes[k] : -1;
done:
    return status;
}

static int compare_indices(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Drops repeats, then sorts: a group's triangles repeat each node about six times. stamps[i] is
 * the last group that had item i. */
static int64_t sort_members(int32_t *items, int64_t n, int32_t *stamps, int32_t stamp)
{
    int64_t kept = 0;
    int ascending = 1;
    for (int64_t i = 0; i < n; i++) {
        if (stamps[items[i]] == stamp) continue;
        stamps[items[i]] = stamp;
        ascending &= kept == 0 || items[kept - 1] < items[i];
        items[kept++] = items[i];
    }
    if (!ascending) qsort(items, (size_t)kept, sizeof *items, compare_indices);
    return kept;
}

static int compare_drafts(const void *a, const void *b)
{
    const modal_group *x = &((const modal_group_draft *)a)->group;
    const modal_group *y = &((const modal_group_draft *)b)->group;
    if (x->dimension != y->dimension) return x->dimension < y->dimension ? -1 : 1;
    return (x->tag > y->tag) - (x->tag < y->tag);
}

static int compare_names(const void *a, const void *b)
{
    const modal_group *x = *(const modal_group *const *)a, *y = *(const modal_group *const *)b;
    if (x->dimension != y->dimension) return x->dimension < y->dimension ? -1 : 1;
    return strcmp(x->name, y->name);
}

static modal_status check_names(const modal_volume_mesh *mesh, const char *file, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_group **sorted = NULL;
    MODAL_TRY(modal_alloc(&sorted, mesh->n_groups, sizeof *sorted, "group names", err));
    for (int32_t i = 0; i < mesh->n_groups; i++) sorted[i] = &mesh->groups[i];
    qsort(sorted, (size_t)mesh->n_groups, sizeof *sorted, compare_names);
    for (int32_t i = 1; i < mesh->n_groups; i++)
        if (compare_names(&sorted[i - 1], &sorted[i]) == 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT,
                       "%s: two groups of dimension %d have one name, '%.200s'", file,
                       sorted[i]->dimension, sorted[i]->name);
done:
    modal_free(&sorted);
    return status;
}

/* Copies the elements' nodes into the group, then sorts both. */
static modal_status finish_volume_group(modal_group_builder *builder, int32_t index,
                                        const modal_volume_mesh *mesh, int32_t *element_stamps,
                                        modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_group *group = &builder->drafts[index].group;
    group->n_elements = sort_members(group->elements, group->n_elements, element_stamps, index);
    for (int64_t i = 0; i < group->n_elements; i++) {
        const int32_t e = group->elements[i];
        MODAL_TRY(modal_group_builder_add_nodes(builder, index, modal_mesh_nodes(mesh, e),
                                                modal_mesh_kind(mesh, e)->n_nodes, err));
    }
done:
    return status;
}

modal_status modal_group_builder_finish(modal_group_builder *builder, const char *file,
                                        modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *node_stamps = NULL, *element_stamps = NULL;
    MODAL_TRY(modal_alloc(&node_stamps, mesh->n_nodes, sizeof *node_stamps, "group marks", err));
    MODAL_TRY(
        modal_alloc(&element_stamps, mesh->n_elements, sizeof *element_stamps, "group marks", err));
    for (int64_t i = 0; i < mesh->n_nodes; i++) node_stamps[i] = -1;
    for (int64_t i = 0; i < mesh->n_elements; i++) element_stamps[i] = -1;
    if (builder->table.count > 0)
        qsort(builder->drafts, (size_t)builder->n, sizeof *builder->drafts, compare_drafts);
    for (int32_t i = 0; i < builder->n; i++) {
        modal_group *group = &builder->drafts[i].group;
        if (group->dimension == 3)
            MODAL_TRY(finish_volume_group(builder, i, mesh, element_stamps, err));
        group->n_nodes = sort_members(group->nodes, group->n_nodes, node_stamps, i);
        if (builder->drafts[i].has_others) {
            modal_free(&group->faces);
            group->n_faces = 0;
        }
        if (!group->name) {
            char number[16];
            snprintf(number, sizeof number, "%d", group->tag);
            MODAL_TRY(modal_copy_text(&group->name, number, sizeof number, err));
        }
        /* Empty groups, too, have arrays that may be passed on. */
        if (!group->nodes) MODAL_TRY(modal_alloc(&group->nodes, 0, sizeof(int32_t), "group", err));
        if (!group->elements)
            MODAL_TRY(modal_alloc(&group->elements, 0, sizeof(int32_t), "group", err));
    }
    MODAL_TRY(modal_alloc(&mesh->groups, builder->n, sizeof *mesh->groups, "groups", err));
    for (int32_t i = 0; i < builder->n; i++) mesh->groups[i] = builder->drafts[i].group;
    mesh->n_groups = (int32_t)builder->n;
    builder->n = 0;
    MODAL_TRY(check_names(mesh, file, err));
done:
    modal_free(&node_stamps);
    modal_free(&element_stamps);
    return status;
}

void modal_group_builder_free(modal_group_builder *builder)
{
    for (int64_t i = 0; i < builder->n; i++) {
        modal_free(&builder->drafts[i].group.name);
        modal_free(&builder->drafts[i].group.nodes);
        modal_free(&builder->drafts[i].group.elements);
        modal_free(&builder->drafts[i].group.faces);
    }
    modal_free(&builder->drafts);
    modal_free(&builder->keys);
    modal_tag_table_free(&builder->table);
    memset(builder, 0, sizeof *builder);
}
