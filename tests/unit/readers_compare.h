/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests and fuzz targets of the readers: whether results hold the promises of their
 * headers, and whether two are the same. */
#ifndef MODAL_TESTS_READERS_COMPARE_H
#define MODAL_TESTS_READERS_COMPARE_H

#include <math.h>
#include <string.h>

#include "lib/model/material.h"
#include "lib/model/volume_mesh.h"

static inline int indices_ascend(const int32_t *items, int64_t n, int64_t limit)
{
    if (!items) return 0;
    for (int64_t i = 0; i < n; i++)
        if (items[i] < 0 || items[i] >= limit || (i > 0 && items[i] <= items[i - 1])) return 0;
    return 1;
}

static inline int reals_are_finite(const double *items, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(items[i])) return 0;
    return 1;
}

/* 1, or 0 where a mesh that was read without an error breaks a promise. */
static inline int mesh_is_sound(const modal_volume_mesh *mesh)
{
    if (mesh->n_nodes < 1 || mesh->n_elements < 1 || !mesh->groups || !mesh->materials ||
        !reals_are_finite(mesh->nodes, 3 * mesh->n_nodes))
        return 0;
    for (int64_t i = 0; i < mesh->n_elements; i++) {
        if (mesh->element_type[i] >= MODAL_ELEMENT_TYPES) return 0;
        const int32_t *nodes = modal_mesh_nodes(mesh, i);
        const int n_nodes = modal_mesh_kind(mesh, i)->n_nodes;
        if (mesh->element_offsets[i + 1] - mesh->element_offsets[i] != n_nodes) return 0;
        for (int j = 0; j < n_nodes; j++) {
            if (nodes[j] < 0 || nodes[j] >= mesh->n_nodes) return 0;
            for (int k = 0; k < j; k++)
                if (nodes[j] == nodes[k]) return 0;
        }
        int32_t material = mesh->element_material[i];
        if (mesh->n_materials == 0 ? material != -1
                                   : material < 0 || material >= mesh->n_materials)
            return 0;
        if (mesh->element_tags[i] < 0) return 0;
    }
    for (int32_t i = 0; i < mesh->n_groups; i++) {
        const modal_group *group = &mesh->groups[i];
        if (!group->name || !*group->name || group->dimension < 0 || group->dimension > 3 ||
            !indices_ascend(group->nodes, group->n_nodes, mesh->n_nodes) ||
            !indices_ascend(group->elements, group->n_elements, mesh->n_elements) ||
            (group->dimension < 3 && group->n_elements > 0))
            return 0;
    }
    for (int32_t i = 0; i < mesh->n_materials; i++)
        if (modal_material_check(&mesh->materials[i], NULL) != MODAL_OK) return 0;
    return 1;
}

static inline int mesh_is_zeroed(const modal_volume_mesh *mesh)
{
    static const modal_volume_mesh zeroed;
    return memcmp(mesh, &zeroed, sizeof zeroed) == 0;
}

/* The same bytes: arrays of one length. */
#define ARRAYS_ARE_EQUAL(a, b, n) (memcmp((a), (b), (size_t)(n) * sizeof *(a)) == 0)

static inline int nodes_and_elements_are_equal(const modal_volume_mesh *a,
                                               const modal_volume_mesh *b)
{
    return a->n_nodes == b->n_nodes && a->n_elements == b->n_elements &&
           ARRAYS_ARE_EQUAL(a->nodes, b->nodes, 3 * a->n_nodes) &&
           ARRAYS_ARE_EQUAL(a->node_tags, b->node_tags, a->n_nodes) &&
           ARRAYS_ARE_EQUAL(a->element_type, b->element_type, a->n_elements) &&
           ARRAYS_ARE_EQUAL(a->element_offsets, b->element_offsets, a->n_elements + 1) &&
           ARRAYS_ARE_EQUAL(a->element_nodes, b->element_nodes, a->element_offsets[a->n_elements]) &&
           ARRAYS_ARE_EQUAL(a->element_tags, b->element_tags, a->n_elements);
}

static inline int groups_are_equal(const modal_volume_mesh *a, const modal_volume_mesh *b)
{
    if (a->n_groups != b->n_groups) return 0;
    for (int32_t i = 0; i < a->n_groups; i++) {
        const modal_group *x = &a->groups[i], *y = &b->groups[i];
        if (strcmp(x->name, y->name) != 0 || x->dimension != y->dimension || x->tag != y->tag ||
            x->n_nodes != y->n_nodes || x->n_elements != y->n_elements ||
            !ARRAYS_ARE_EQUAL(x->nodes, y->nodes, x->n_nodes) ||
            !ARRAYS_ARE_EQUAL(x->elements, y->elements, x->n_elements))
            return 0;
    }
    return 1;
}

static inline int meshes_are_equal(const modal_volume_mesh *a, const modal_volume_mesh *b)
{
    if (!nodes_and_elements_are_equal(a, b) || !groups_are_equal(a, b) ||
        a->n_materials != b->n_materials ||
        !ARRAYS_ARE_EQUAL(a->element_material, b->element_material, a->n_elements))
        return 0;
    for (int32_t i = 0; i < a->n_materials; i++)
        if (strcmp(a->materials[i].name, b->materials[i].name) != 0 ||
            !(a->materials[i].young == b->materials[i].young) ||
            !(a->materials[i].poisson == b->materials[i].poisson) ||
            !(a->materials[i].density == b->materials[i].density))
            return 0;
    return 1;
}

static inline int surface_is_sound(const modal_surface_mesh *surface)
{
    if (surface->n_triangles < 1 ||
        !reals_are_finite(surface->positions, 3 * surface->n_vertices) ||
        !surface->uv != !surface->triangle_uv || (!surface->uv && surface->n_uv != 0) ||
        (surface->uv && !reals_are_finite(surface->uv, 2 * surface->n_uv)))
        return 0;
    for (int32_t i = 0; i < surface->n_parts; i++)
        if (!surface->part_names[i] || !*surface->part_names[i]) return 0;
    for (int32_t i = 0; i < surface->n_materials; i++)
        if (!surface->material_names[i] || !*surface->material_names[i]) return 0;
    for (int32_t i = 0; i < surface->n_libraries; i++)
        if (!surface->libraries[i] || !*surface->libraries[i]) return 0;
    for (int64_t i = 0, next = 0; surface->triangle_normal && i < 3 * surface->n_triangles; i++) {
        if (surface->triangle_normal[i] < 0 || surface->triangle_normal[i] > next) return 0;
        next += surface->triangle_normal[i] == next;
    }
    for (int64_t i = 0; i < surface->n_triangles; i++) {
        const int32_t *triangle = surface->triangles + 3 * i;
        if (surface->triangle_material &&
            (surface->triangle_material[i] < -1 || surface->triangle_material[i] >= surface->n_materials))
            return 0;
        if (surface->triangle_part &&
            (surface->triangle_part[i] < -1 || surface->triangle_part[i] >= surface->n_parts))
            return 0;
        for (int j = 0; j < 3; j++) {
            if (triangle[j] < 0 || triangle[j] >= surface->n_vertices ||
                triangle[j] == triangle[(j + 1) % 3])
                return 0;
            if (!surface->uv) continue;
            int32_t uv = surface->triangle_uv[3 * i + j];
            if (uv < 0 || uv >= surface->n_uv) return 0;
        }
    }
    return 1;
}

#endif
