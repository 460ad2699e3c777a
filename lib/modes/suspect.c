/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/mesh/joints.h"
#include "lib/mesh/measure.h"
#include "lib/modes/problem.h"

/* 1 - 2 nu, and volume over longest edge cubed: below, K loses half of its digits and more. */
static const double NEAR_HALF = 1e-8, FLAT = 1e-5;

static double longest_edge(const modal_volume_mesh *mesh, int64_t e)
{
    const modal_element_kind *kind = modal_mesh_kind(mesh, e);
    const int32_t *nodes = modal_mesh_nodes(mesh, e);
    double longest = 0;
    for (int i = 0; i < kind->n_edges; i++) {
        const double *a = mesh->nodes + 3 * (int64_t)nodes[kind->edges[i][0]];
        const double *b = mesh->nodes + 3 * (int64_t)nodes[kind->edges[i][1]];
        longest = fmax(longest, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
    }
    return longest;
}

void modal_modes_suspect(const modal_volume_mesh *mesh, char text[MODAL_SUSPECT])
{
    modal_rule_table table;
    double flattest = FLAT;
    *text = 0;
    for (int32_t m = 0; m < mesh->n_materials; m++)
        if (1 - 2 * mesh->materials[m].poisson < NEAR_HALF) {
            snprintf(text, MODAL_SUSPECT, ": material \"%.60s\": nu is too near 0.5, %.17g", mesh->materials[m].name,
                     mesh->materials[m].poisson);
            return;
        }
    if (modal_rule_table_init(mesh, &table, NULL) != MODAL_OK) return;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const double volume = modal_element_measure(mesh, e, &table).volume, longest = longest_edge(mesh, e);
        if (!(volume / (longest * longest * longest) < flattest)) continue;
        flattest = volume / (longest * longest * longest);
        snprintf(text, MODAL_SUSPECT, ": element %lld is nearly flat, volume %.3g m^3, longest edge %.3g m",
                 (long long)mesh->element_tags[e], volume, longest);
    }
    modal_rule_table_free(&table);
}

void modal_modes_loose(const modal_volume_mesh *mesh, char text[MODAL_LOOSE])
{
    enum { NAMED = 6 };
    int32_t nodes[NAMED];
    int64_t n_joints = 0;
    if (modal_volume_mesh_joints(mesh, NAMED, nodes, &n_joints, NULL) != MODAL_OK || n_joints == 0) {
        modal_modes_suspect(mesh, text);
        return;
    }
    const int64_t named = n_joints < NAMED ? n_joints : NAMED;
    size_t used = (size_t)snprintf(text, MODAL_LOOSE, ": parts hang together by no face, only at node%s", n_joints > 1 ? "s" : "");
    for (int64_t k = 0; k < named && used < MODAL_LOOSE; k++)
        used += (size_t)snprintf(text + used, MODAL_LOOSE - used, "%s %" PRId64, k > 0 ? "," : "", mesh->node_tags[nodes[k]]);
    if (n_joints > named && used < MODAL_LOOSE)
        snprintf(text + used, MODAL_LOOSE - used, " and %" PRId64 " more", n_joints - named);
}
