/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/reduced/points.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/fem/enhanced.h"
#include "lib/fem/tetrahedron.h"
#include "lib/model/material.h"

enum { LANES = REDUCED_LANES };

/* Types, nodes, materials and shapes; the roots of the materials that are used. */
static modal_status check_elements(const modal_volume_mesh *mesh, reduced_points *points, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *used = NULL;
    MODAL_TRY(modal_alloc_zero(&used, mesh->n_materials, 1, "materials", err));
    MODAL_TRY(modal_alloc(&points->roots, mesh->n_materials, sizeof *points->roots, "materials", err));
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const long long tag = (long long)mesh->element_tags[e];
        const int32_t m = mesh->element_material[e], *nodes = modal_mesh_nodes(mesh, e);
        if (mesh->element_type[e] >= MODAL_ELEMENT_TYPES)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "element %lld: no type of number %d", tag,
                       mesh->element_type[e]);
        if (m < 0 || m >= mesh->n_materials)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "element %lld: no material", tag);
        if (!used[m]) {
            modal_elasticity elasticity;
            MODAL_TRY(modal_material_check(&mesh->materials[m], err));
            modal_elasticity_init(&mesh->materials[m], &elasticity);
            modal_elasticity_root(&elasticity, points->roots[m]);
            used[m] = 1;
        }
        for (int a = 0; a < modal_mesh_kind(mesh, e)->n_nodes; a++)
            if (nodes[a] < 0 || nodes[a] >= mesh->n_nodes)
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "element %lld: node index %d of %lld", tag, nodes[a],
                           (long long)mesh->n_nodes);
    }
    MODAL_TRY(modal_rule_table_init(mesh, &points->rules, err));
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const modal_measure found = modal_element_measure(mesh, e, &points->rules);
        /* a tetrahedron may be inside out */
        const int sound = mesh->element_type[e] == MODAL_ELEMENT_TET4 ? found.sign != 0 : found.sign > 0;
        if (sound && isfinite(found.volume)) continue;
        status = modal_element_refuse(mesh, e, &found, 1, err);
        goto done;
    }
done:
    modal_free(&used);
    return status;
}

static int points_of(const reduced_points *points, int type)
{
    return points->rules.rules[type] ? points->rules.rules[type][MODAL_INTEGRAL_STIFFNESS].n_points : 1;
}

modal_status reduced_points_init(const modal_volume_mesh *mesh, reduced_points *points, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t at[MODAL_ELEMENT_TYPES];
    memset(points, 0, sizeof *points);
    points->mesh = mesh;
    if (mesh->n_elements > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "mesh: %lld elements", (long long)mesh->n_elements);
    MODAL_TRY(check_elements(mesh, points, err));
    if (modal_volume_mesh_is_enhanced(mesh))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "St. Venant-Kirchhoff's law: not for elements with incompatible modes or a mean dilatation "
                   "(modalpack --hex8 conforming)");
    MODAL_TRY(modal_alloc(&points->order, mesh->n_elements, sizeof *points->order, "elements by type", err));
    for (int64_t e = 0; e < mesh->n_elements; e++) points->first_element[mesh->element_type[e] + 1]++;
    for (int type = 0; type < MODAL_ELEMENT_TYPES; type++) {
        const int64_t n_points = points->first_element[type + 1] * points_of(points, type);
        points->first_block[type + 1] = points->first_block[type] + (n_points + LANES - 1) / LANES;
        points->first_element[type + 1] += points->first_element[type];
        at[type] = points->first_element[type];
    }
    points->n_blocks = points->first_block[MODAL_ELEMENT_TYPES];
    for (int64_t e = 0; e < mesh->n_elements; e++) points->order[at[mesh->element_type[e]]++] = (int32_t)e;
done:
    if (status != MODAL_OK) reduced_points_free(points);
    return status;
}

void reduced_points_free(reduced_points *points)
{
    modal_rule_table_free(&points->rules);
    modal_free(&points->roots);
    modal_free(&points->order);
    memset(points, 0, sizeof *points);
}

/* Gradients of the shape functions [n_nodes, 3] at a point of an element; returns its volume. */
static double point_gradients(const reduced_points *points, int64_t e, int q, double *gradients)
{
    const modal_volume_mesh *mesh = points->mesh;
    const int type = mesh->element_type[e], n = modal_element_kinds[type].n_nodes;
    const double *x[MODAL_ELEMENT_MOST_NODES];
    for (int a = 0; a < n; a++) x[a] = mesh->nodes + 3 * (int64_t)modal_mesh_nodes(mesh, e)[a];
    if (type == MODAL_ELEMENT_TET4) return modal_tetrahedron_gradients(x, (double(*)[3])gradients);
    const modal_element_rule *rule = &points->rules.rules[type][MODAL_INTEGRAL_STIFFNESS];
    const double det = modal_element_gradients(n, rule->derivatives[q], x, gradients);
    for (int i = 0; i < 3 * n; i++) gradients[i] /= det;
    return rule->weights[q] * det;
}

void reduced_points_load(const reduced_points *points, int64_t index, reduced_block *block)
{
    const modal_volume_mesh *mesh = points->mesh;
    int type = 0;
    while (index >= points->first_block[type + 1]) type++;
    const int n = modal_element_kinds[type].n_nodes, n_points = points_of(points, type);
    const int64_t first = (index - points->first_block[type]) * LANES,
                  left = (points->first_element[type + 1] - points->first_element[type]) * n_points - first;
    block->n_nodes = n;
    block->n_lanes = left < LANES ? (int)left : LANES;
    if (left < LANES) {
        memset(block->nodes, 0, (size_t)n * sizeof *block->nodes);
        memset(block->gradients, 0, (size_t)n * sizeof *block->gradients);
        memset(block->root, 0, sizeof block->root);
    }
    for (int lane = 0; lane < block->n_lanes; lane++) {
        const int64_t e = points->order[points->first_element[type] + (first + lane) / n_points];
        const double *root = points->roots[mesh->element_material[e]];
        double gradients[3 * MODAL_ELEMENT_MOST_NODES];
        const double scale = sqrt(point_gradients(points, e, (int)((first + lane) % n_points), gradients));
        for (int a = 0; a < n; a++) {
            block->nodes[a][lane] = modal_mesh_nodes(mesh, e)[a];
            for (int k = 0; k < 3; k++) block->gradients[a][k][lane] = gradients[3 * a + k];
        }
        for (int k = 0; k < MODAL_ELASTICITY_ROOT; k++) block->root[k][lane] = scale * root[k];
    }
}

void reduced_gradient(const reduced_block *block, const double *u,
                      double gradient[restrict][LANES])
{
    double corner[3][LANES];
    for (int a = 0; a < block->n_nodes; a++) {
        for (int lane = 0; lane < LANES; lane++) {
            const double *at = u + 3 * (int64_t)block->nodes[a][lane];
            for (int p = 0; p < 3; p++) corner[p][lane] = at[p];
        }
        for (int p = 0; p < 3; p++)
            for (int k = 0; k < 3; k++) {
                double *sum = gradient[3 * p + k];
                const double *g = block->gradients[a][k];
                for (int lane = 0; lane < LANES; lane++)
                    sum[lane] = (a ? sum[lane] : 0) + corner[p][lane] * g[lane];
            }
    }
}
