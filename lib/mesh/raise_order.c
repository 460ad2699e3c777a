/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/raise_order.h"

#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/sort.h"

enum { EDGES = 6 };

/* Numbers the edges in the order of their first use: edge [6 n_elements], ends [n_edges, 2]. */
static modal_status number_edges(const modal_volume_mesh *mesh, int32_t **edge, int32_t **ends,
                                 int64_t *n_edges, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_element_kind *kind = &modal_element_kinds[MODAL_ELEMENT_TET4];
    int64_t n = EDGES * mesh->n_elements;
    uint64_t *keys = NULL;
    int32_t *places = NULL;
    *n_edges = 0;
    if (n > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "too many elements, %lld", (long long)mesh->n_elements);
    MODAL_TRY(modal_alloc(&keys, n, sizeof *keys, "edges", err));
    MODAL_TRY(modal_alloc(&places, n, sizeof *places, "edges", err));
    MODAL_TRY(modal_alloc(edge, n, sizeof **edge, "edges", err));
    for (int64_t i = 0; i < n; i++) {
        const int32_t *nodes = modal_mesh_nodes(mesh, i / EDGES);
        uint32_t a = (uint32_t)nodes[kind->edges[i % EDGES][0]], b = (uint32_t)nodes[kind->edges[i % EDGES][1]];
        keys[i] = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
        places[i] = (int32_t)i;
    }
    MODAL_TRY(modal_sort_by_key(n, keys, places, err));
    /* The first place of each edge, since the sort is stable. */
    int32_t first = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || keys[i] != keys[i - 1]) {
            first = places[i];
            ++*n_edges;
        }
        (*edge)[places[i]] = first;
    }
    MODAL_TRY(modal_alloc(ends, 2 * *n_edges, sizeof **ends, "edges", err));
    int32_t number = 0;
    for (int64_t i = 0; i < n; i++) {
        if ((*edge)[i] != i) {
            (*edge)[i] = (*edge)[(*edge)[i]]; /* its first place is behind us and has its number */
            continue;
        }
        const int32_t *nodes = modal_mesh_nodes(mesh, i / EDGES);
        (*ends)[2 * (int64_t)number] = nodes[kind->edges[i % EDGES][0]];
        (*ends)[2 * (int64_t)number + 1] = nodes[kind->edges[i % EDGES][1]];
        (*edge)[i] = number++;
    }
done:
    modal_free(&keys);
    modal_free(&places);
    return status;
}

/* The edges of a mesh, and marks of a group. */
typedef struct numbered {
    int64_t n_nodes, n_edges;
    const int32_t *edge, *ends; /* [elements, EDGES], [n_edges, 2] */
    uint8_t *in, *edge_in;      /* [n_nodes], [n_edges] scratch */
} numbered;

/* The group's nodes and the middles of its edges. */
static modal_status extend_group(const modal_group *group, const numbered *of, int32_t **nodes, int64_t *n, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_nodes = of->n_nodes, n_edges = of->n_edges;
    const int32_t *edge = of->edge, *ends = of->ends;
    uint8_t *in = of->in, *edge_in = of->edge_in;
    int64_t n_new = 0;
    memset(in, 0, (size_t)n_nodes);
    memset(edge_in, 0, (size_t)n_edges);
    for (int64_t k = 0; k < group->n_nodes; k++) in[group->nodes[k]] = 1;
    if (group->dimension == 3)
        for (int64_t k = 0; k < EDGES * group->n_elements; k++)
            edge_in[edge[EDGES * (int64_t)group->elements[k / EDGES] + k % EDGES]] = 1;
    else if (group->dimension > 0)
        for (int64_t i = 0; i < n_edges; i++) edge_in[i] = in[ends[2 * i]] && in[ends[2 * i + 1]];
    for (int64_t i = 0; i < n_edges; i++) n_new += edge_in[i];
    MODAL_TRY(modal_alloc(nodes, group->n_nodes + n_new, sizeof **nodes, "group", err));
    memcpy(*nodes, group->nodes, (size_t)group->n_nodes * sizeof **nodes);
    *n = group->n_nodes;
    for (int64_t i = 0; i < n_edges; i++)
        if (edge_in[i]) (*nodes)[(*n)++] = (int32_t)(n_nodes + i);
done:
    return status;
}

/* The groups, then those of the conditions: a side that is held is held in the middles of its edges, too. */
static modal_group *any_group(const modal_volume_mesh *mesh, int32_t g)
{
    return g < mesh->n_groups ? &mesh->groups[g] : &mesh->conditions[g - mesh->n_groups].group;
}

modal_status modal_volume_mesh_raise_order(modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *edge = NULL, *ends = NULL, **group_nodes = NULL;
    int64_t n_edges = 0, n_old = mesh->n_nodes, greatest = 0, *tags = NULL, *group_counts = NULL;
    double *nodes = NULL;
    uint8_t *in = NULL, *edge_in = NULL;
    modal_volume_mesh raised = {0};
    const int32_t n_groups = mesh->n_groups + mesh->n_conditions;
    if (!modal_volume_mesh_is_all(mesh, MODAL_ELEMENT_TET4))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "not a mesh of linear tetrahedra only");
    MODAL_TRY(number_edges(mesh, &edge, &ends, &n_edges, err));
    if (n_old + n_edges > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "too many nodes, %lld", (long long)(n_old + n_edges));
    MODAL_TRY(modal_alloc(&nodes, 3 * (n_old + n_edges), sizeof *nodes, "nodes", err));
    MODAL_TRY(modal_alloc(&tags, n_old + n_edges, sizeof *tags, "node tags", err));
    MODAL_TRY(modal_alloc(&in, n_old, 1, "groups", err));
    MODAL_TRY(modal_alloc(&edge_in, n_edges, 1, "groups", err));
    MODAL_TRY(modal_alloc_zero(&group_nodes, n_groups, sizeof *group_nodes, "groups", err));
    MODAL_TRY(modal_alloc(&group_counts, n_groups, sizeof *group_counts, "groups", err));
    const numbered edges = {n_old, n_edges, edge, ends, in, edge_in};
    for (int32_t g = 0; g < n_groups; g++)
        MODAL_TRY(extend_group(any_group(mesh, g), &edges, &group_nodes[g], &group_counts[g], err));
    MODAL_TRY(modal_volume_mesh_new_elements(&raised, mesh->n_elements, MODAL_ELEMENT_TET10, err));
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        int32_t *to = modal_mesh_nodes(&raised, e);
        memcpy(to, modal_mesh_nodes(mesh, e), 4 * sizeof *to);
        for (int k = 0; k < EDGES; k++) to[4 + k] = (int32_t)(n_old + edge[EDGES * e + k]);
    }
    memcpy(nodes, mesh->nodes, 3 * (size_t)n_old * sizeof *nodes);
    memcpy(tags, mesh->node_tags, (size_t)n_old * sizeof *tags);
    for (int64_t i = 0; i < n_old; i++) greatest = tags[i] > greatest ? tags[i] : greatest;
    for (int64_t i = 0; i < n_edges; i++) {
        const double *a = nodes + 3 * (int64_t)ends[2 * i], *b = nodes + 3 * (int64_t)ends[2 * i + 1];
        for (int k = 0; k < 3; k++) nodes[3 * (n_old + i) + k] = a[k] + (b[k] - a[k]) / 2;
        tags[n_old + i] = greatest + 1 + i;
    }
    /* Nothing fails from here on. */
    modal_free(&mesh->nodes);
    modal_free(&mesh->node_tags);
    modal_free(&mesh->element_type);
    modal_free(&mesh->element_offsets);
    modal_free(&mesh->element_nodes);
    mesh->nodes = nodes;
    mesh->node_tags = tags;
    mesh->n_nodes = n_old + n_edges;
    mesh->element_type = raised.element_type;
    mesh->element_offsets = raised.element_offsets;
    mesh->element_nodes = raised.element_nodes;
    nodes = NULL;
    tags = NULL;
    for (int32_t g = 0; g < n_groups; g++) {
        modal_group *group = any_group(mesh, g);
        modal_free(&group->nodes);
        group->nodes = group_nodes[g];
        group->n_nodes = group_counts[g];
        group_nodes[g] = NULL;
    }
done:
    for (int32_t g = 0; group_nodes && g < n_groups; g++) modal_free(&group_nodes[g]);
    modal_free(&group_nodes);
    modal_free(&group_counts);
    modal_free(&edge);
    modal_free(&ends);
    modal_free(&in);
    modal_free(&edge_in);
    modal_free(&nodes);
    modal_free(&tags);
    return status;
}
