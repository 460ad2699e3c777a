/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/check.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/mesh/tetrahedron.h"

static const double ZERO_VOLUME = 1e-14; /* |6 V| relative to the longest edge cubed */

static int in_range(int32_t index, int64_t n) { return index >= 0 && index < n; }

static modal_status check_sizes(const modal_volume_mesh *mesh, modal_error *err)
{
    if (mesh->n_nodes < 0 || mesh->n_nodes > INT32_MAX)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%lld nodes: more than %d",
                               (long long)mesh->n_nodes, INT32_MAX);
    if (mesh->n_elements < 0 || mesh->n_elements > INT32_MAX)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%lld elements: more than %d",
                               (long long)mesh->n_elements, INT32_MAX);
    if (mesh->n_elements == 0) return modal_error_set(err, MODAL_ERROR_INPUT, "no tetrahedra");
    return MODAL_OK;
}

static modal_status check_values(const modal_volume_mesh *mesh, modal_error *err)
{
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        for (int k = 0; k < 3; k++)
            if (!isfinite(mesh->nodes[3 * i + k]))
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "node %lld: coordinate %c is not finite",
                                       (long long)mesh->node_tags[i], "xyz"[k]);
    for (int64_t e = 0; e < mesh->n_elements; e++)
        for (int k = 0; k < 4; k++)
            if (!in_range(mesh->tetrahedra[4 * e + k], mesh->n_nodes))
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "element %lld: no node of index %d among %lld",
                                       (long long)mesh->element_tags[e],
                                       mesh->tetrahedra[4 * e + k], (long long)mesh->n_nodes);
    for (int32_t g = 0; g < mesh->n_groups; g++)
        for (int64_t i = 0; i < mesh->groups[g].n_nodes; i++)
            if (!in_range(mesh->groups[g].nodes[i], mesh->n_nodes))
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "group %s: no node of index %d among %lld",
                                       mesh->groups[g].name ? mesh->groups[g].name : "",
                                       mesh->groups[g].nodes[i], (long long)mesh->n_nodes);
    return MODAL_OK;
}

/* The sign of an element's volume, 0 where it is too small to tell (or not a number). */
static int volume_sign(const modal_volume_mesh *mesh, int64_t e, double *volume)
{
    const double *x[4];
    double longest2 = 0;
    for (int k = 0; k < 4; k++) x[k] = mesh->nodes + 3 * (int64_t)mesh->tetrahedra[4 * e + k];
    for (int a = 0; a < 4; a++)
        for (int b = a + 1; b < 4; b++) {
            double edge[3];
            modal_subtract(x[a], x[b], edge);
            longest2 = fmax(longest2, modal_dot(edge, edge));
        }
    double six_volume = modal_six_volume(x[0], x[1], x[2], x[3]);
    *volume = six_volume / 6;
    if (!(fabs(six_volume) > ZERO_VOLUME * longest2 * sqrt(longest2))) return 0;
    return six_volume > 0 ? 1 : -1;
}

static modal_status check_volumes(const modal_volume_mesh *mesh, int *flipped, double *total,
                                  modal_error *err)
{
    int64_t n_zero = 0, n_negative = 0, first = -1;
    int first_sign = 0;
    double first_volume = 0;
    *total = 0;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        double volume;
        int sign = volume_sign(mesh, e, &volume);
        *total += volume;
        n_zero += sign == 0;
        n_negative += sign < 0;
        if (sign <= 0 && first < 0) {
            first = e;
            first_sign = sign;
            first_volume = volume;
        }
    }
    *flipped = n_negative == mesh->n_elements;
    *total = fabs(*total);
    if (first < 0 || *flipped) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_INPUT, "element %lld: %s volume %.3g (%lld element%s in all)",
                           (long long)mesh->element_tags[first], first_sign ? "negative" : "zero",
                           first_volume, (long long)(n_zero + n_negative),
                           n_zero + n_negative == 1 ? "" : "s");
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
    for (int64_t i = 0; i < 4 * mesh->n_elements; i++)
        mesh->tetrahedra[i] = new_index[mesh->tetrahedra[i]];
    for (int32_t g = 0; g < mesh->n_groups; g++) {
        modal_group *group = &mesh->groups[g];
        int64_t kept = 0;
        for (int64_t i = 0; i < group->n_nodes; i++)
            if (new_index[group->nodes[i]] >= 0) group->nodes[kept++] = new_index[group->nodes[i]];
        group->n_nodes = kept;
    }
    mesh->n_nodes = n_kept;
}

modal_status modal_volume_mesh_check(modal_volume_mesh *mesh, modal_mesh_summary *summary,
                                     modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_mesh_summary found = {0};
    int32_t *index = NULL; /* [n_nodes] first each node's component, then its new index */
    MODAL_TRY(check_sizes(mesh, err));
    MODAL_TRY(check_values(mesh, err));
    MODAL_TRY(check_volumes(mesh, &found.flipped, &found.volume, err));
    MODAL_TRY(modal_alloc(&index, mesh->n_nodes, sizeof *index, "node components", err));

    /* Nothing can fail from here on: the mesh is changed only now. */
    found.n_components = modal_volume_mesh_components(mesh, index);
    int64_t n_kept = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        index[i] = index[i] >= 0 ? (int32_t)n_kept++ : -1;
    found.dropped_nodes = mesh->n_nodes - n_kept;
    if (found.dropped_nodes > 0) drop_nodes(mesh, index, n_kept);
    for (int64_t e = 0; found.flipped && e < mesh->n_elements; e++) {
        int32_t *nodes = mesh->tetrahedra + 4 * e, third = nodes[2];
        nodes[2] = nodes[3];
        nodes[3] = third;
    }
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
    for (int64_t i = 0; i < 4 * mesh->n_elements; i++)
        component[mesh->tetrahedra[i]] = mesh->tetrahedra[i];
    for (int64_t e = 0; e < mesh->n_elements; e++)
        for (int k = 1; k < 4; k++) {
            int32_t a = find_root(component, mesh->tetrahedra[4 * e]);
            int32_t b = find_root(component, mesh->tetrahedra[4 * e + k]);
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
