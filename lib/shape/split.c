/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/shape/split.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/memory.h"

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

modal_status modal_split_bodies(const modal_volume_mesh *mesh, int32_t *part, int32_t *n_parts,
                                modal_error *err)
{
    int32_t *parent = NULL, *number = NULL;
    modal_status status = MODAL_OK;
    *n_parts = 0;
    MODAL_TRY(modal_alloc(&parent, mesh->n_nodes, sizeof *parent, "bodies", err));
    MODAL_TRY(modal_alloc(&number, mesh->n_nodes, sizeof *number, "bodies", err));
    for (int64_t i = 0; i < mesh->n_nodes; i++) parent[i] = (int32_t)i, number[i] = -1;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int64_t end = mesh->element_offsets[e + 1];
        int32_t first = root_of(parent, mesh->element_nodes[mesh->element_offsets[e]]);
        for (int64_t k = mesh->element_offsets[e] + 1; k < end; k++) {
            const int32_t other = root_of(parent, mesh->element_nodes[k]);
            if (other < first)
                parent[first] = other, first = other;
            else
                parent[other] = first;
        }
    }
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t root = root_of(parent, mesh->element_nodes[mesh->element_offsets[e]]);
        if (number[root] < 0) number[root] = (*n_parts)++;
        part[e] = number[root];
    }
done:
    modal_free(&parent);
    modal_free(&number);
    return status;
}

modal_status modal_split_groups(const modal_volume_mesh *mesh, int32_t *part, int32_t *group,
                                int32_t *n_parts, modal_error *err)
{
    *n_parts = 0;
    for (int64_t e = 0; e < mesh->n_elements; e++) part[e] = -1;
    for (int32_t g = 0; g < mesh->n_groups; g++) {
        const modal_group *at = &mesh->groups[g];
        if (at->dimension != 3 || at->n_elements == 0) continue;
        for (int64_t k = 0; k < at->n_elements; k++) {
            const int32_t e = at->elements[k];
            if (part[e] >= 0)
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "element %" PRId64 ": in the volume groups %s and %s",
                                       mesh->element_tags[e], mesh->groups[group[part[e]]].name, at->name);
            part[e] = *n_parts;
        }
        group[(*n_parts)++] = g;
    }
    for (int64_t e = 0; e < mesh->n_elements; e++)
        if (part[e] < 0)
            return modal_error_set(err, MODAL_ERROR_INPUT, "element %" PRId64 ": in no volume group",
                                   mesh->element_tags[e]);
    return MODAL_OK;
}

/* Where nodes and elements of the whole are in the parts. */
typedef struct places {
    int64_t *node_offsets; /* [n_nodes + 1] CSR: a node is in these parts, at these places */
    int32_t *node_part, *node_place;
    int32_t *element_place; /* [n_elements] */
} places;

static void places_free(places *p)
{
    modal_free(&p->node_offsets);
    modal_free(&p->node_part);
    modal_free(&p->node_place);
    modal_free(&p->element_place);
}

/* The place of a node in a part. */
static int32_t place_in(const places *p, int32_t node, int32_t part)
{
    for (int64_t k = p->node_offsets[node]; k < p->node_offsets[node + 1]; k++)
        if (p->node_part[k] == part) return p->node_place[k];
    return -1;
}

/* Counts of nodes and elements of each part, and the places. */
static modal_status find_places(const modal_volume_mesh *mesh, const int32_t *part, int32_t n_parts,
                                modal_shape *parts, places *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *offsets = NULL, *seen = NULL, n_all = 0;
    int32_t *touching = NULL;
    const int64_t n = mesh->n_nodes, n_corners = mesh->element_offsets[mesh->n_elements];
    /* elements at each node */
    MODAL_TRY(modal_alloc_zero(&offsets, n + 2, sizeof *offsets, "parts", err));
    MODAL_TRY(modal_alloc(&touching, n_corners, sizeof *touching, "parts", err));
    MODAL_TRY(modal_alloc(&seen, n_parts, sizeof *seen, "parts", err));
    MODAL_TRY(modal_alloc(&p->node_offsets, n + 1, sizeof *p->node_offsets, "parts", err));
    MODAL_TRY(modal_alloc(&p->node_part, n_corners, sizeof *p->node_part, "parts", err));
    MODAL_TRY(modal_alloc(&p->node_place, n_corners, sizeof *p->node_place, "parts", err));
    MODAL_TRY(modal_alloc(&p->element_place, mesh->n_elements, sizeof *p->element_place, "parts", err));
    for (int64_t k = 0; k < n_corners; k++) offsets[mesh->element_nodes[k] + 2]++;
    for (int64_t i = 0; i < n; i++) offsets[i + 2] += offsets[i + 1];
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        p->element_place[e] = (int32_t)parts[part[e]].solid.mesh.n_elements++;
        for (int64_t k = mesh->element_offsets[e]; k < mesh->element_offsets[e + 1]; k++)
            touching[offsets[mesh->element_nodes[k] + 1]++] = part[e];
    }
    for (int32_t k = 0; k < n_parts; k++) seen[k] = -1;
    for (int64_t i = 0; i < n; i++) {
        p->node_offsets[i] = n_all;
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++) {
            const int32_t at = touching[k];
            if (seen[at] == i) continue;
            seen[at] = i;
            p->node_part[n_all] = at;
            p->node_place[n_all++] = (int32_t)parts[at].solid.mesh.n_nodes++;
        }
    }
    p->node_offsets[n] = n_all;
done:
    modal_free(&offsets);
    modal_free(&touching);
    modal_free(&seen);
    return status;
}

static modal_status copy_elements(const modal_volume_mesh *mesh, const int32_t *part, const places *p,
                                  int32_t n_parts, modal_shape *parts, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int32_t k = 0; k < n_parts; k++) {
        modal_volume_mesh *to = &parts[k].solid.mesh;
        to->stiffness_rule = mesh->stiffness_rule;
        MODAL_TRY(modal_alloc(&to->nodes, to->n_nodes, 3 * sizeof(double), "nodes", err));
        MODAL_TRY(modal_alloc(&to->node_tags, to->n_nodes, sizeof(int64_t), "nodes", err));
        MODAL_TRY(modal_alloc(&to->element_type, to->n_elements, 1, "elements", err));
        MODAL_TRY(modal_alloc_zero(&to->element_offsets, to->n_elements + 1, sizeof(int64_t), "elements", err));
        MODAL_TRY(modal_alloc(&to->element_tags, to->n_elements, sizeof(int64_t), "elements", err));
        MODAL_TRY(modal_alloc(&to->element_material, to->n_elements, sizeof(int32_t), "elements", err));
        if (mesh->element_fibres)
            MODAL_TRY(modal_alloc(&to->element_fibres, 3 * to->n_elements, sizeof(double), "elements", err));
    }
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        for (int64_t k = p->node_offsets[i]; k < p->node_offsets[i + 1]; k++) {
            modal_volume_mesh *to = &parts[p->node_part[k]].solid.mesh;
            memcpy(to->nodes + 3 * (int64_t)p->node_place[k], mesh->nodes + 3 * i, 3 * sizeof(double));
            to->node_tags[p->node_place[k]] = mesh->node_tags[i];
        }
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        modal_volume_mesh *to = &parts[part[e]].solid.mesh;
        const int32_t at = p->element_place[e];
        to->element_type[at] = mesh->element_type[e];
        to->element_tags[at] = mesh->element_tags[e];
        to->element_material[at] = mesh->element_material[e];
        if (mesh->element_fibres) memcpy(to->element_fibres + 3 * (int64_t)at, mesh->element_fibres + 3 * e, 3 * sizeof(double));
        to->element_offsets[at + 1] =
            to->element_offsets[at] + mesh->element_offsets[e + 1] - mesh->element_offsets[e];
    }
    for (int32_t k = 0; k < n_parts; k++) {
        modal_volume_mesh *to = &parts[k].solid.mesh;
        MODAL_TRY(modal_alloc(&to->element_nodes, to->element_offsets[to->n_elements], sizeof(int32_t),
                              "elements", err));
    }
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        modal_volume_mesh *to = &parts[part[e]].solid.mesh;
        int32_t *nodes = to->element_nodes + to->element_offsets[p->element_place[e]];
        for (int64_t k = mesh->element_offsets[e]; k < mesh->element_offsets[e + 1]; k++)
            *nodes++ = place_in(p, mesh->element_nodes[k], part[e]);
    }
done:
    return status;
}

/* The materials that a part uses. */
static modal_status copy_materials(const modal_volume_mesh *mesh, modal_volume_mesh *to, int32_t *number,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t n_used = 0;
    for (int32_t m = 0; m < mesh->n_materials; m++) number[m] = -1;
    for (int64_t e = 0; e < to->n_elements; e++) {
        int32_t *m = &to->element_material[e];
        if (*m >= 0 && number[*m] < 0) number[*m] = n_used++;
        if (*m >= 0) *m = number[*m];
    }
    MODAL_TRY(modal_alloc_zero(&to->materials, n_used, sizeof *to->materials, "materials", err));
    to->n_materials = n_used;
    for (int32_t m = 0; m < mesh->n_materials; m++) {
        if (number[m] < 0) continue;
        to->materials[number[m]] = mesh->materials[m];
        to->materials[number[m]].name = NULL;
        MODAL_TRY(modal_copy_text(&to->materials[number[m]].name, mesh->materials[m].name, SIZE_MAX, err));
    }
done:
    return status;
}

/* One group's members, part by part: first counted (count[part]), then stored in new groups. */
static modal_status copy_group(const modal_group *group, const int32_t *part, const places *p,
                               modal_shape *parts, int64_t *n_in, int64_t *e_in, int32_t *touched,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t n_touched = 0;
    for (int64_t k = 0; k < group->n_nodes; k++)
        for (int64_t at = p->node_offsets[group->nodes[k]]; at < p->node_offsets[group->nodes[k] + 1]; at++)
            if (n_in[p->node_part[at]]++ == 0) touched[n_touched++] = p->node_part[at];
    for (int64_t k = 0; k < group->n_elements; k++) e_in[part[group->elements[k]]]++;
    for (int32_t k = 0; k < n_touched; k++) {
        modal_volume_mesh *to = &parts[touched[k]].solid.mesh;
        const int64_t n_nodes = n_in[touched[k]], n_elements = e_in[touched[k]];
        n_in[touched[k]] = e_in[touched[k]] = 0;
        if (status != MODAL_OK || (group->n_elements > 0 && n_elements == 0)) continue;
        modal_group *more = NULL, *last;
        status = modal_alloc_zero(&more, to->n_groups + 1, sizeof *more, "groups", err);
        if (status != MODAL_OK) continue;
        if (to->n_groups > 0) memcpy(more, to->groups, (size_t)to->n_groups * sizeof *more);
        modal_free(&to->groups);
        to->groups = more;
        last = &more[to->n_groups++];
        last->dimension = group->dimension;
        last->tag = group->tag;
        status = modal_copy_text(&last->name, group->name, SIZE_MAX, err);
        if (status == MODAL_OK) status = modal_alloc(&last->nodes, n_nodes, sizeof(int32_t), "groups", err);
        if (status == MODAL_OK)
            status = modal_alloc(&last->elements, n_elements, sizeof(int32_t), "groups", err);
        n_in[touched[k]] = -1; /* it takes members */
    }
    if (status != MODAL_OK) return status;
    for (int64_t k = 0; k < group->n_nodes; k++)
        for (int64_t at = p->node_offsets[group->nodes[k]]; at < p->node_offsets[group->nodes[k] + 1]; at++) {
            modal_volume_mesh *to = &parts[p->node_part[at]].solid.mesh;
            if (n_in[p->node_part[at]] != -1) continue;
            modal_group *last = &to->groups[to->n_groups - 1];
            last->nodes[last->n_nodes++] = p->node_place[at];
        }
    for (int64_t k = 0; k < group->n_elements; k++) {
        modal_volume_mesh *to = &parts[part[group->elements[k]]].solid.mesh;
        modal_group *last = &to->groups[to->n_groups - 1];
        last->elements[last->n_elements++] = p->element_place[group->elements[k]];
    }
    for (int32_t k = 0; k < n_touched; k++) n_in[touched[k]] = 0;
    return MODAL_OK;
}

static modal_status copy_fixed(const modal_solid *whole, const places *p, int32_t n_parts,
                               modal_shape *parts, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int64_t k = 0; k < whole->n_fixed_nodes; k++)
        for (int64_t at = p->node_offsets[whole->fixed_nodes[k]];
             at < p->node_offsets[whole->fixed_nodes[k] + 1]; at++)
            parts[p->node_part[at]].solid.n_fixed_nodes++;
    for (int32_t k = 0; k < n_parts; k++) {
        MODAL_TRY(modal_alloc(&parts[k].solid.fixed_nodes, parts[k].solid.n_fixed_nodes, sizeof(int32_t), "fixed nodes",
                              err));
        MODAL_TRY(modal_alloc(&parts[k].solid.fixed_components, parts[k].solid.n_fixed_nodes, 1, "fixed nodes", err));
        parts[k].solid.n_fixed_nodes = 0;
    }
    for (int64_t k = 0; k < whole->n_fixed_nodes; k++)
        for (int64_t at = p->node_offsets[whole->fixed_nodes[k]];
             at < p->node_offsets[whole->fixed_nodes[k] + 1]; at++) {
            modal_shape *to = &parts[p->node_part[at]];
            to->solid.fixed_components[to->solid.n_fixed_nodes] = whole->fixed_components[k];
            to->solid.fixed_nodes[to->solid.n_fixed_nodes++] = p->node_place[at];
        }
done:
    return status;
}

modal_status modal_split_shape(const modal_shape *whole, const int32_t *part, int32_t n_parts,
                               modal_shape *parts, int64_t *n_shared, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = &whole->solid.mesh;
    places p = {0};
    int64_t *n_in = NULL, *e_in = NULL;
    int32_t *touched = NULL;
    MODAL_TRY(modal_alloc_zero(&n_in, n_parts, sizeof *n_in, "parts", err));
    MODAL_TRY(modal_alloc_zero(&e_in, n_parts, sizeof *e_in, "parts", err));
    MODAL_TRY(modal_alloc(&touched, n_parts > mesh->n_materials ? n_parts : mesh->n_materials,
                          sizeof *touched, "parts", err));
    MODAL_TRY(find_places(mesh, part, n_parts, parts, &p, err));
    MODAL_TRY(copy_elements(mesh, part, &p, n_parts, parts, err));
    for (int32_t k = 0; k < n_parts; k++)
        MODAL_TRY(copy_materials(mesh, &parts[k].solid.mesh, touched, err));
    for (int32_t g = 0; g < mesh->n_groups; g++)
        MODAL_TRY(copy_group(&mesh->groups[g], part, &p, parts, n_in, e_in, touched, err));
    MODAL_TRY(copy_fixed(&whole->solid, &p, n_parts, parts, err));
    *n_shared = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++) *n_shared += p.node_offsets[i + 1] - p.node_offsets[i] > 1;
done:
    places_free(&p);
    modal_free(&n_in);
    modal_free(&e_in);
    modal_free(&touched);
    return status;
}
