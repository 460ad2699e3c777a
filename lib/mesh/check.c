/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/check.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/mesh/measure.h"
#include "lib/mesh/turn.h"

static int in_range(int32_t index, int64_t n) { return index >= 0 && index < n; }

static modal_status check_sizes(const modal_volume_mesh *mesh, modal_error *err)
{
    if (mesh->n_nodes < 0 || mesh->n_nodes > INT32_MAX)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%lld nodes: more than %d",
                               (long long)mesh->n_nodes, INT32_MAX);
    if (mesh->n_elements < 0 || mesh->n_elements > INT32_MAX)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%lld elements: more than %d",
                               (long long)mesh->n_elements, INT32_MAX);
    if (mesh->n_elements == 0) return modal_error_set(err, MODAL_ERROR_INPUT, "no elements");
    return MODAL_OK;
}

/* The groups, then those of the conditions. */
static modal_group *any_group(const modal_volume_mesh *mesh, int32_t g)
{
    return g < mesh->n_groups ? &mesh->groups[g] : &mesh->conditions[g - mesh->n_groups].group;
}

static modal_status check_values(const modal_volume_mesh *mesh, modal_error *err)
{
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        for (int k = 0; k < 3; k++)
            if (!isfinite(mesh->nodes[3 * i + k]))
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "node %lld: coordinate %c is not finite",
                                       (long long)mesh->node_tags[i], "xyz"[k]);
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const long long tag = (long long)mesh->element_tags[e];
        if (mesh->element_type[e] >= MODAL_ELEMENT_TYPES)
            return modal_error_set(err, MODAL_ERROR_INPUT, "element %lld: no type of number %d", tag,
                                   mesh->element_type[e]);
        for (int k = 0; k < modal_mesh_kind(mesh, e)->n_nodes; k++)
            if (!in_range(modal_mesh_nodes(mesh, e)[k], mesh->n_nodes))
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "element %lld: no node of index %d among %lld", tag,
                                       modal_mesh_nodes(mesh, e)[k], (long long)mesh->n_nodes);
    }
    for (int32_t g = 0; g < mesh->n_groups + mesh->n_conditions; g++) {
        const modal_group *group = any_group(mesh, g);
        for (int64_t i = 0; i < group->n_nodes; i++)
            if (!in_range(group->nodes[i], mesh->n_nodes))
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "group %s: no node of index %d among %lld",
                                       group->name ? group->name : "",
                                       group->nodes[i], (long long)mesh->n_nodes);
    }
    return MODAL_OK;
}

/* Straightens the edges of quadratic elements that are not positive; those beside that suffer from it likewise. Where that makes all
 * elements positive, *nodes [n_nodes, 3] are the new positions and summary says how many elements there were, else it is NULL. */
static modal_status straighten(modal_volume_mesh *mesh, const modal_rule_table *rules, double **nodes, modal_mesh_summary *summary,
                               modal_error *err)
{
    enum { ROUNDS = 4 };
    modal_status status = MODAL_OK;
    uint8_t *is_straight = NULL;
    double *const old = mesh->nodes, volume = summary->volume;
    int64_t n_bad = 1;
    *nodes = NULL;
    MODAL_TRY(modal_alloc_zero(&is_straight, mesh->n_elements, 1, "straight elements", err));
    MODAL_TRY(modal_alloc(nodes, 3 * mesh->n_nodes, sizeof **nodes, "straight elements", err));
    memcpy(*nodes, old, (size_t)(3 * mesh->n_nodes) * sizeof *old);
    mesh->nodes = *nodes; /* for the measures; put back below */
    for (int round = 0; round < ROUNDS && n_bad > 0; round++) {
        n_bad = 0;
        summary->volume = 0;
        for (int64_t e = 0; e < mesh->n_elements; e++) {
            const modal_element_kind *kind = modal_mesh_kind(mesh, e);
            const int32_t *v = modal_mesh_nodes(mesh, e);
            const modal_measure found = modal_element_measure(mesh, e, rules);
            summary->volume += found.volume;
            if (found.sign > 0) continue;
            n_bad++;
            if (!kind->quadratic || is_straight[e]) {
                round = ROUNDS; /* nothing helps */
                break;
            }
            is_straight[e] = 1;
            for (int i = 0; i < kind->n_edges; i++)
                for (int k = 0; k < 3; k++)
                    (*nodes)[3 * (int64_t)v[kind->n_corners + i] + k] =
                        ((*nodes)[3 * (int64_t)v[kind->edges[i][0]] + k] + (*nodes)[3 * (int64_t)v[kind->edges[i][1]] + k]) / 2;
        }
    }
    mesh->nodes = old;
    for (int64_t e = 0; e < mesh->n_elements && n_bad == 0; e++) summary->n_straightened += is_straight[e];
    if (n_bad > 0) summary->volume = volume;
done:
    if (status != MODAL_OK || n_bad > 0) modal_free(nodes);
    modal_free(&is_straight);
    return status;
}

/* The elements of negative volume; *turned [n_turned] is NULL where they are all or none. *nodes: see straighten. */
static modal_status check_volumes(modal_volume_mesh *mesh, modal_mesh_summary *summary, int32_t **turned, double **nodes, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n_bad = 0, n_negative = 0, n_linear = 0, first = -1;
    double total = 0, negative = 0;
    int agree = 0;
    modal_measure at_first = {0};
    modal_rule_table rules = {0};
    MODAL_TRY(modal_rule_table_init(mesh, &rules, err));
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const modal_measure found = modal_element_measure(mesh, e, &rules);
        total += found.volume;
        n_bad += found.sign <= 0;
        n_negative += found.sign < 0;
        if (found.sign < 0 && mesh->element_type[e] == MODAL_ELEMENT_TET4) n_linear++, negative += found.volume;
        if (found.sign <= 0 && first < 0) {
            first = e;
            at_first = found;
        }
    }
    summary->flipped = n_negative == mesh->n_elements;
    summary->volume = fabs(total);
    if (first < 0 || summary->flipped) goto done;
    if (n_linear == n_bad) {
        MODAL_TRY(modal_alloc(turned, n_bad, sizeof **turned, "turned elements", err));
        for (int64_t e = first; e < mesh->n_elements; e++)
            if (modal_element_measure(mesh, e, &rules).sign < 0) (*turned)[summary->n_turned++] = (int32_t)e;
        MODAL_TRY(modal_tetrahedra_only_turned(mesh, n_bad, *turned, &agree, err));
        summary->volume = fabs(total - 2 * negative);
    }
    if (!agree) MODAL_TRY(straighten(mesh, &rules, nodes, summary, err));
    if (!agree && !*nodes) status = modal_element_refuse(mesh, first, &at_first, n_bad, err);
done:
    modal_rule_table_free(&rules);
    return status;
}

/* Moves the nodes that are used to the front; new_index has the place of each, -1 = dropped. */
static void drop_nodes(modal_volume_mesh *mesh, const int32_t *new_index, int64_t n_kept)
{
    for (int64_t i = 0; i < mesh->n_nodes; i++) {
        int32_t to = new_index[i];
        if (to < 0) continue;
        memmove(mesh->nodes + 3 * (int64_t)to, mesh->nodes + 3 * i, 3 * sizeof(double));
        mesh->node_tags[to] = mesh->node_tags[i];
    }
    for (int64_t i = 0; i < mesh->element_offsets[mesh->n_elements]; i++)
        mesh->element_nodes[i] = new_index[mesh->element_nodes[i]];
    for (int32_t g = 0; g < mesh->n_groups + mesh->n_conditions; g++) {
        modal_group *group = any_group(mesh, g);
        int64_t kept = 0;
        for (int64_t i = 0; i < group->n_nodes; i++)
            if (new_index[group->nodes[i]] >= 0) group->nodes[kept++] = new_index[group->nodes[i]];
        group->n_nodes = kept;
        kept = 0;
        for (int64_t i = 0; i < group->n_faces; i++) { /* those of no element go */
            int32_t *to = group->faces + 4 * kept, used = 1;
            memmove(to, group->faces + 4 * i, 4 * sizeof *to);
            for (int k = 0; k < 4 && to[k] >= 0; k++) used &= (to[k] = new_index[to[k]]) >= 0;
            kept += used;
        }
        group->n_faces = kept;
    }
    mesh->n_nodes = n_kept;
}

static void mirror_element(modal_volume_mesh *mesh, int64_t e)
{
    const modal_element_kind *kind = modal_mesh_kind(mesh, e);
    int32_t *nodes = modal_mesh_nodes(mesh, e), kept[MODAL_ELEMENT_MOST_NODES];
    memcpy(kept, nodes, kind->n_nodes * sizeof *nodes);
    for (int k = 0; k < kind->n_nodes; k++) nodes[k] = kept[kind->mirror[k]];
}

modal_status modal_volume_mesh_check(modal_volume_mesh *mesh, modal_mesh_summary *summary,
                                     modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_mesh_summary found = {0};
    int32_t *turned = NULL;
    double *nodes = NULL;
    int32_t *index = NULL; /* [n_nodes] first each node's component, then its new index */
    MODAL_TRY(check_sizes(mesh, err));
    MODAL_TRY(check_values(mesh, err));
    MODAL_TRY(check_volumes(mesh, &found, &turned, &nodes, err));
    MODAL_TRY(modal_alloc(&index, mesh->n_nodes, sizeof *index, "node components", err));

    /* Nothing can fail from here on: the mesh is changed only now. */
    if (nodes) memcpy(mesh->nodes, nodes, (size_t)(3 * mesh->n_nodes) * sizeof *nodes);
    found.n_components = modal_volume_mesh_components(mesh, index);
    int64_t n_kept = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        index[i] = index[i] >= 0 ? (int32_t)n_kept++ : -1;
    found.dropped_nodes = mesh->n_nodes - n_kept;
    if (found.dropped_nodes > 0) drop_nodes(mesh, index, n_kept);
    for (int64_t e = 0; found.flipped && e < mesh->n_elements; e++) mirror_element(mesh, e);
    for (int64_t i = 0; turned && i < found.n_turned; i++) mirror_element(mesh, turned[i]);
    for (int k = 0; k < 3; k++) {
        found.box_min[k] = INFINITY;
        found.box_max[k] = -INFINITY;
        for (int64_t i = 0; i < mesh->n_nodes; i++) {
            found.box_min[k] = fmin(found.box_min[k], mesh->nodes[3 * i + k]);
            found.box_max[k] = fmax(found.box_max[k], mesh->nodes[3 * i + k]);
        }
    }
    *summary = found;
done:
    modal_free(&index);
    modal_free(&turned);
    modal_free(&nodes);
    return status;
}

static int32_t find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Union-find in the output array itself: the smaller root becomes the parent, so that a component's
 * root is its smallest node and a parent never has the larger index. */
int32_t modal_volume_mesh_components(const modal_volume_mesh *mesh, int32_t *component)
{
    for (int64_t i = 0; i < mesh->n_nodes; i++) component[i] = -1;
    for (int64_t e = 0; e < mesh->n_elements; e++)
        for (int64_t i = mesh->element_offsets[e]; i < mesh->element_offsets[e + 1]; i++)
            component[mesh->element_nodes[i]] = mesh->element_nodes[i];
    for (int64_t e = 0; e < mesh->n_elements; e++)
        for (int64_t i = mesh->element_offsets[e] + 1; i < mesh->element_offsets[e + 1]; i++) {
            int32_t a = find_root(component, mesh->element_nodes[i - 1]);
            int32_t b = find_root(component, mesh->element_nodes[i]);
            if (a < b) component[b] = a;
            else component[a] = b;
        }
    /* Ascending, so that a parent's own parent is a root already, then that a root has its number
     * already when a node of its component asks for it. */
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        if (component[i] >= 0) component[i] = component[component[i]];
    int32_t n_components = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        if (component[i] == i) component[i] = n_components++;
        else if (component[i] >= 0) component[i] = component[component[i]];
    return n_components;
}
