/* SPDX-License-Identifier: Apache-2.0 */
/* modalpack: the solid, its materials, its fixed nodes, and the surface that will deform. */
#include <stdlib.h>
#include <string.h>

#include "formats/bou.h"
#include "formats/mesh_read.h"
#include "formats/surface_read.h"
#include "lib/base/memory.h"
#include "lib/mesh/check.h"
#include "lib/mesh/shape_surface.h"
#include "tools/modalpack.h"

/* The group of that name, or NULL. A name that groups of several dimensions bear needs the dimension in
 * front, "2:base". dimension < 0: any. */
static modal_status find_group(const modal_volume_mesh *mesh, const char *name, size_t length,
                               int dimension, const modal_group **group, modal_error *err)
{
    *group = NULL;
    for (int32_t i = 0; i < mesh->n_groups; i++) {
        const modal_group *g = &mesh->groups[i];
        if (strlen(g->name) != length || memcmp(g->name, name, length) != 0) continue;
        if (dimension >= 0 && g->dimension != dimension) continue;
        if (*group)
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "group %s: two of that name, say which: %d:%s or %d:%s", g->name,
                                   (*group)->dimension, g->name, g->dimension, g->name);
        *group = g;
    }
    if (!*group && dimension < 0 && length > 2 && name[0] >= '0' && name[0] <= '3' && name[1] == ':')
        return find_group(mesh, name + 2, length - 2, name[0] - '0', group, err);
    return MODAL_OK;
}

static modal_status unknown_group(const modal_volume_mesh *mesh, const char *option,
                                  const char *name, int length, int dimension, modal_error *err)
{
    char known[512] = "none";
    size_t used = 0;
    int32_t n_left = 0;
    for (int32_t i = 0; i < mesh->n_groups; i++) {
        const modal_group *g = &mesh->groups[i];
        if (dimension >= 0 && g->dimension != dimension) continue;
        if (n_left > 0 || used + strlen(g->name) + 32 > sizeof known)
            n_left++;
        else
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                                     g->name);
    }
    if (n_left > 0)
        snprintf(known + used, sizeof known - used, "%s%d more", used ? " and " : "", n_left);
    return modal_error_set(err, MODAL_ERROR_INPUT, "%s: unknown group, %.*s (known: %s)", option,
                           length, name, known);
}

static modal_status append_material(modal_volume_mesh *mesh, const char *name, size_t length,
                                    double young, double poisson, double density, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_material *longer = NULL;
    modal_material material = {.young = young, .poisson = poisson, .density = density};
    MODAL_TRY(modal_copy_text(&material.name, name, length, err));
    MODAL_TRY(modal_alloc(&longer, mesh->n_materials + 1, sizeof *longer, "materials", err));
    if (mesh->n_materials > 0)
        memcpy(longer, mesh->materials, (size_t)mesh->n_materials * sizeof *longer);
    longer[mesh->n_materials++] = material;
    material.name = NULL;
    modal_free(&mesh->materials);
    mesh->materials = longer;
done:
    modal_free(&material.name);
    return status;
}

/* Materials: the mesh file's own, then the plain options for all, then --material for groups. */
static modal_status assign_materials(tool *t, const request *r, modal_volume_mesh *mesh,
                                     modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *by_option = NULL;
    MODAL_TRY(modal_alloc_zero(&by_option, mesh->n_elements, 1, "materials", err));
    if (r->has_material) {
        if (mesh->n_materials > 0) tool_note(t, "the materials of %s are replaced", r->mesh_path);
        for (int32_t i = 0; i < mesh->n_materials; i++) modal_free(&mesh->materials[i].name);
        mesh->n_materials = 0;
        MODAL_TRY(append_material(mesh, "all", 3, r->young, r->poisson, r->density, err));
        for (int64_t e = 0; e < mesh->n_elements; e++) mesh->element_material[e] = 0;
    }
    for (int i = 0; i < tool_count(&t->arguments, "material"); i++) {
        const char *text = tool_value_at(&t->arguments, "material", i), *equals = strrchr(text, '=');
        double constants[3];
        const modal_group *group;
        if (!equals || equals == text)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--material: not GROUP=E,NU,RHO, %s", text);
        MODAL_TRY(tool_parse_numbers(equals + 1, 3, constants, "--material", err));
        size_t length = (size_t)(equals - text);
        MODAL_TRY(find_group(mesh, text, length, 3, &group, err));
        if (!group) {
            status = unknown_group(mesh, "--material", text, (int)length, 3, err);
            goto done;
        }
        int32_t index = mesh->n_materials;
        MODAL_TRY(append_material(mesh, text, length, constants[0], constants[1], constants[2], err));
        for (int64_t k = 0; k < group->n_elements; k++) {
            int32_t e = group->elements[k];
            if (by_option[e])
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "--material: element %lld is in two of the groups, %s",
                           (long long)mesh->element_tags[e], group->name);
            by_option[e] = 1;
            mesh->element_material[e] = index;
        }
    }
    if (mesh->n_materials == 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE,
                   "%s: no material in the file; give --young, --poisson and --density, or --material",
                   r->mesh_path);
done:
    modal_free(&by_option);
    return status;
}

typedef struct tagged_node {
    int64_t tag;
    int32_t node;
} tagged_node;

static int compare_tags(const void *a, const void *b)
{
    int64_t x = ((const tagged_node *)a)->tag, y = ((const tagged_node *)b)->tag;
    return (x > y) - (x < y);
}

/* Marks the nodes with the numbers that a .bou file lists. */
static modal_status mark_numbers(const modal_volume_mesh *mesh, const char *path, uint8_t *fixed,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *numbers = NULL, count = 0;
    tagged_node *tags = NULL;
    MODAL_TRY(modal_bou_read(path, &numbers, &count, err));
    MODAL_TRY(modal_alloc(&tags, mesh->n_nodes, sizeof *tags, "node numbers", err));
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        tags[i] = (tagged_node){mesh->node_tags[i], (int32_t)i};
    qsort(tags, (size_t)mesh->n_nodes, sizeof *tags, compare_tags);
    for (int64_t i = 0; i < count; i++) {
        tagged_node key = {numbers[i], 0};
        tagged_node *found =
            bsearch(&key, tags, (size_t)mesh->n_nodes, sizeof *tags, compare_tags);
        if (!found)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no element has a node of that number, %lld", path,
                       (long long)numbers[i]);
        fixed[found->node] = 1;
    }
done:
    modal_free(&numbers);
    modal_free(&tags);
    return status;
}

/* shape->fixed_nodes from the --fixed options: names of groups first, files second. */
static modal_status collect_fixed_nodes(const tool *t, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = &shape->volume;
    uint8_t *fixed = NULL;
    MODAL_TRY(modal_alloc_zero(&fixed, mesh->n_nodes, 1, "fixed nodes", err));
    for (int i = 0; i < tool_count(&t->arguments, "fixed"); i++) {
        const char *name = tool_value_at(&t->arguments, "fixed", i);
        const modal_group *group;
        MODAL_TRY(find_group(mesh, name, strlen(name), -1, &group, err));
        FILE *file = group ? NULL : fopen(name, "r");
        if (file) {
            fclose(file);
            MODAL_TRY(mark_numbers(mesh, name, fixed, err));
        } else if (!group) {
            status = unknown_group(mesh, "--fixed", name, (int)strlen(name), -1, err);
            goto done;
        } else if (group->n_nodes == 0) {
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "--fixed: a group without nodes of the solid, %s", name);
        } else {
            for (int64_t k = 0; k < group->n_nodes; k++) fixed[group->nodes[k]] = 1;
        }
    }
    for (int64_t i = 0; i < mesh->n_nodes; i++) shape->n_fixed_nodes += fixed[i];
    MODAL_TRY(modal_alloc(&shape->fixed_nodes, shape->n_fixed_nodes, sizeof(int32_t), "fixed nodes",
                          err));
    MODAL_TRY(modal_alloc(&shape->fixed_components, shape->n_fixed_nodes, 1, "fixed nodes", err));
    memset(shape->fixed_components, MODAL_FIXED_ALL, (size_t)shape->n_fixed_nodes);
    int64_t k = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        if (fixed[i]) shape->fixed_nodes[k++] = (int32_t)i;
done:
    modal_free(&fixed);
    return status;
}

modal_status modalpack_read_solid(tool *t, const request *r, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_mesh_summary summary = {0};
    modal_volume_mesh *mesh = &shape->volume;
    double start = tool_seconds();
    MODAL_TRY(modal_mesh_read(r->mesh_path, mesh, err));
    status = modal_volume_mesh_check(mesh, &summary, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", r->mesh_path);
        goto done;
    }
    tool_stage(t, "read mesh", tool_seconds() - start, -1);
    if (summary.dropped_nodes > 0)
        tool_warn(t, "%s: nodes in no element dropped, %lld", r->mesh_path,
                  (long long)summary.dropped_nodes);
    if (summary.flipped)
        tool_warn(t, "%s: all elements are left-handed; their nodes were mirrored",
                  r->mesh_path);
    if (summary.n_components > 1)
        tool_warn(t, "%s: bodies that do not touch, %d", r->mesh_path, summary.n_components);
    tool_note(t, "%lld nodes, %lld elements, volume %.6g m^3", (long long)mesh->n_nodes,
              (long long)mesh->n_elements, summary.volume);
    MODAL_TRY(assign_materials(t, r, mesh, err));
    MODAL_TRY(collect_fixed_nodes(t, shape, err));
done:
    return status;
}

modal_status modalpack_make_surface(tool *t, const request *r, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh fine = {0};
    double start = tool_seconds();
    if (!r->surface_path) {
        MODAL_TRY(modal_shape_surface_boundary(&shape->volume, shape, err));
    } else {
        modal_embed_summary embedded = {0};
        int64_t n_collapsed;
        MODAL_TRY(modal_surface_read(r->surface_path, &fine, &n_collapsed, err));
        if (n_collapsed > 0)
            tool_warn(t, "%s: triangles with one vertex twice left out, %lld", r->surface_path,
                      (long long)n_collapsed);
        status = modal_shape_surface_embedded(&shape->volume, &fine, shape, &embedded, err);
        if (status != MODAL_OK) {
            modal_error_context(err, "%s", r->surface_path);
            goto done;
        }
        tool_note(t, "%lld of %lld surface vertices are outside the solid, the farthest by %.3g m",
                  (long long)embedded.n_outside, (long long)shape->n_vertices,
                  shape->farthest_outside);
        json_object_set_new(t->report, "vertices_outside", json_integer(embedded.n_outside));
        json_object_set_new(t->report, "farthest_outside_m", json_real(shape->farthest_outside));
    }
    tool_note(t, "surface of %lld vertices, %lld triangles", (long long)shape->n_vertices,
              (long long)shape->n_triangles);
    tool_stage(t, "surface", tool_seconds() - start, -1);
done:
    modal_surface_mesh_free(&fine);
    return status;
}
