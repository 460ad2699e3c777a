/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/msh_parts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"

/* The groups of one dimension that each node is in: CSR. */
typedef struct node_groups {
    int64_t *offsets; /* [n_nodes + 1] */
    int32_t *groups;  /* ascending within a node */
} node_groups;

static modal_status list_groups(const modal_volume_mesh *mesh, int dimension, node_groups *lists,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&lists->offsets, mesh->n_nodes + 2, sizeof *lists->offsets, "groups of nodes", err));
    /* Counted two places on, so that filling moves each begin to where it belongs. */
    int64_t *next = lists->offsets + 1;
    for (int32_t g = 0; g < mesh->n_groups; g++)
        for (int64_t k = 0; mesh->groups[g].dimension == dimension && k < mesh->groups[g].n_nodes; k++)
            next[mesh->groups[g].nodes[k] + 1]++;
    for (int64_t i = 0; i < mesh->n_nodes; i++) next[i + 1] += next[i];
    MODAL_TRY(modal_alloc(&lists->groups, next[mesh->n_nodes], sizeof *lists->groups, "groups of nodes", err));
    for (int32_t g = 0; g < mesh->n_groups; g++)
        for (int64_t k = 0; mesh->groups[g].dimension == dimension && k < mesh->groups[g].n_nodes; k++)
            lists->groups[next[mesh->groups[g].nodes[k]]++] = g;
done:
    return status;
}

static int is_in(const node_groups *lists, int32_t node, int32_t group)
{
    for (int64_t k = lists->offsets[node]; k < lists->offsets[node + 1]; k++)
        if (lists->groups[k] == group) return 1;
    return 0;
}

/* Adds a face or edge to each group that has all its nodes. */
static modal_status add_where_inside(const node_groups *lists, int dimension, const int32_t *nodes,
                                     int n_nodes, msh_parts *parts, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int64_t k = lists->offsets[nodes[0]]; k < lists->offsets[nodes[0] + 1]; k++) {
        int inside = 1;
        for (int i = 1; i < n_nodes && inside; i++) inside = is_in(lists, nodes[i], lists->groups[k]);
        if (!inside) continue;
        MODAL_TRY(modal_grow(&parts->parts, &parts->capacity, parts->n + 1, sizeof *parts->parts,
                             "faces of groups", err));
        msh_part *part = &parts->parts[parts->n++];
        *part = (msh_part){lists->groups[k], (int8_t)dimension, (int8_t)n_nodes, {0}};
        memcpy(part->nodes, nodes, (size_t)n_nodes * sizeof *nodes);
    }
done:
    return status;
}

static modal_status add_faces(const modal_volume_mesh *mesh, const node_groups *lists,
                              msh_parts *parts, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const modal_element_kind *kind = modal_mesh_kind(mesh, e);
        const int32_t *nodes = modal_mesh_nodes(mesh, e);
        for (int f = 0; f < kind->n_faces; f++) {
            int32_t face[MODAL_FACE_MOST_NODES];
            for (int i = 0; i < kind->faces[f].n_nodes; i++) face[i] = nodes[kind->faces[f].nodes[i]];
            MODAL_TRY(add_where_inside(lists, 2, face, kind->faces[f].n_nodes, parts, err));
        }
    }
done:
    return status;
}

static modal_status add_edges(const modal_volume_mesh *mesh, const node_groups *lists,
                              msh_parts *parts, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const modal_element_kind *kind = modal_mesh_kind(mesh, e);
        const int32_t *nodes = modal_mesh_nodes(mesh, e);
        for (int k = 0; k < kind->n_edges; k++) {
            int32_t edge[3] = {nodes[kind->edges[k][0]], nodes[kind->edges[k][1]], 0};
            if (kind->quadratic) edge[2] = nodes[kind->n_corners + k];
            MODAL_TRY(add_where_inside(lists, 1, edge, kind->quadratic ? 3 : 2, parts, err));
        }
    }
done:
    return status;
}

static void sort_corners(const msh_part *part, int32_t sorted[4])
{
    int n = part->n_nodes == 8 || part->n_nodes == 4 ? 4 : part->dimension == 1 ? 2 : 3;
    for (int i = 0; i < n; i++) {
        int k = i;
        for (; k > 0 && sorted[k - 1] > part->nodes[i]; k--) sorted[k] = sorted[k - 1];
        sorted[k] = part->nodes[i];
    }
    for (int i = n; i < 4; i++) sorted[i] = -1;
}

/* By group and corners, whatever their order; then by the order, to be the same whatever qsort does. */
static int compare_corners(const void *a, const void *b)
{
    const msh_part *x = a, *y = b;
    int32_t p[4], q[4];
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    sort_corners(x, p);
    sort_corners(y, q);
    for (int i = 0; i < 4; i++)
        if (p[i] != q[i]) return p[i] < q[i] ? -1 : 1;
    return 0;
}

static int compare_parts(const void *a, const void *b)
{
    const msh_part *x = a, *y = b;
    int order = compare_corners(a, b);
    for (int i = 0; i < x->n_nodes && order == 0; i++)
        order = (x->nodes[i] > y->nodes[i]) - (x->nodes[i] < y->nodes[i]);
    return order;
}

static modal_status keep(msh_parts *parts, const msh_part *part, int32_t *covered, modal_error *err)
{
    modal_status status = modal_grow(&parts->parts, &parts->capacity, parts->n + 1,
                                     sizeof *parts->parts, "faces of groups", err);
    if (status != MODAL_OK) return status;
    parts->parts[parts->n++] = *part;
    for (int k = 0; k < part->n_nodes; k++) covered[part->nodes[k]] = part->group + 1;
    return MODAL_OK;
}

/* One of each; inner faces only where they bring a node that those of the boundary lack.
 * covered[node] - 1 is the last group that has the node so far. */
static modal_status keep_one_of_each(msh_parts *found, msh_parts *parts, int32_t *covered,
                                     modal_error *err)
{
    modal_status status = MODAL_OK;
    if (found->n > 0)
        qsort(found->parts, (size_t)found->n, sizeof *found->parts, compare_parts);
    for (int64_t begin = 0, end; begin < found->n; begin = end) {
        int32_t group = found->parts[begin].group;
        for (end = begin; end < found->n && found->parts[end].group == group;) end++;
        for (int inner = 0; inner < 2; inner++)
            for (int64_t i = begin, next; i < end; i = next) {
                const msh_part *part = &found->parts[i];
                int brings = 0;
                for (next = i + 1; next < end && compare_corners(part, &found->parts[next]) == 0;) next++;
                int is_inner = part->dimension == 2 && next > i + 1;
                for (int k = 0; k < part->n_nodes; k++) brings |= covered[part->nodes[k]] != group + 1;
                if (is_inner == inner && (!inner || brings)) MODAL_TRY(keep(parts, part, covered, err));
            }
    }
done:
    return status;
}

/* Nodes of groups of this dimension that nothing has brought. */
static modal_status add_points(const modal_volume_mesh *mesh, int dimension, msh_parts *parts,
                               int32_t *covered, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t next = 0, n_before = parts->n;
    for (int32_t g = 0; g < mesh->n_groups; g++) {
        const modal_group *group = &mesh->groups[g];
        if (group->dimension != dimension) continue;
        /* The marks are those of the last group at a node: set them again for this one. */
        while (next < n_before && parts->parts[next].group < g) next++;
        for (; next < n_before && parts->parts[next].group == g; next++)
            for (int k = 0; k < parts->parts[next].n_nodes; k++)
                covered[parts->parts[next].nodes[k]] = g + 1;
        for (int64_t k = 0; k < group->n_nodes; k++)
            if (covered[group->nodes[k]] != g + 1) {
                msh_part part = {g, 0, 1, {group->nodes[k]}};
                MODAL_TRY(keep(parts, &part, covered, err));
            }
    }
done:
    return status;
}

modal_status msh_find_parts(const modal_volume_mesh *mesh, msh_parts *parts, modal_error *err)
{
    modal_status status = MODAL_OK;
    node_groups lists = {0};
    msh_parts one = {0}, found = {0};
    int32_t *covered = NULL;
    memset(parts, 0, sizeof *parts);
    MODAL_TRY(modal_alloc_zero(&covered, mesh->n_nodes, sizeof *covered, "marks", err));
    for (int dimension = 0; dimension < 3; dimension++) {
        int32_t n = 0;
        for (int32_t g = 0; g < mesh->n_groups; g++) n += mesh->groups[g].dimension == dimension;
        if (n == 0) continue;
        one.n = found.n = 0;
        memset(covered, 0, (size_t)mesh->n_nodes * sizeof *covered);
        if (dimension > 0) {
            MODAL_TRY(list_groups(mesh, dimension, &lists, err));
            MODAL_TRY((dimension == 1 ? add_edges : add_faces)(mesh, &lists, &found, err));
            modal_free(&lists.offsets);
            modal_free(&lists.groups);
            MODAL_TRY(keep_one_of_each(&found, &one, covered, err));
            memset(covered, 0, (size_t)mesh->n_nodes * sizeof *covered);
        }
        MODAL_TRY(add_points(mesh, dimension, &one, covered, err));
        MODAL_TRY(modal_grow(&parts->parts, &parts->capacity, parts->n + one.n, sizeof *parts->parts,
                             "faces of groups", err));
        if (one.n > 0)
            memcpy(parts->parts + parts->n, one.parts, (size_t)one.n * sizeof *one.parts);
        parts->n += one.n;
    }
done:
    modal_free(&lists.offsets);
    modal_free(&lists.groups);
    modal_free(&covered);
    msh_parts_free(&one);
    msh_parts_free(&found);
    if (status != MODAL_OK) msh_parts_free(parts);
    return status;
}

void msh_parts_free(msh_parts *parts)
{
    modal_free(&parts->parts);
    memset(parts, 0, sizeof *parts);
}
