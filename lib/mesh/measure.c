/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/measure.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/mesh/tetrahedron.h"

static const double ZERO_VOLUME = 1e-14; /* |6 V|, or a Jacobian, relative to the longest edge cubed */

modal_status modal_rule_table_init(const modal_volume_mesh *mesh, modal_rule_table *table,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    memset(table, 0, sizeof *table);
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int type = mesh->element_type[e];
        if (type == MODAL_ELEMENT_TET4 || table->rules[type]) continue;
        MODAL_TRY(modal_alloc(&table->rules[type], 2, sizeof **table->rules, "quadrature", err));
        for (int i = 0; i < 2; i++)
            modal_element_rule_init((modal_element_type)type, (modal_element_integral)i,
                                    &table->rules[type][i]);
    }
done:
    if (status != MODAL_OK) modal_rule_table_free(table);
    return status;
}

void modal_rule_table_free(modal_rule_table *table)
{
    for (int i = 0; i < MODAL_ELEMENT_TYPES; i++) modal_free(&table->rules[i]);
}

static double longest_edge2(const modal_element_kind *kind, const double *const *x)
{
    double longest2 = 0;
    for (int i = 0; i < kind->n_edges; i++) {
        double edge[3];
        modal_subtract(x[kind->edges[i][0]], x[kind->edges[i][1]], edge);
        longest2 = fmax(longest2, modal_dot(edge, edge));
    }
    return longest2;
}

modal_measure modal_element_measure(const modal_volume_mesh *mesh, int64_t e,
                                    const modal_rule_table *table)
{
    const modal_element_kind *kind = modal_mesh_kind(mesh, e);
    const int32_t *nodes = modal_mesh_nodes(mesh, e);
    const double *x[MODAL_ELEMENT_MOST_NODES];
    modal_measure found = {0};
    for (int k = 0; k < kind->n_nodes; k++) x[k] = mesh->nodes + 3 * (int64_t)nodes[k];
    const double longest2 = longest_edge2(kind, x), least = ZERO_VOLUME * longest2 * sqrt(longest2);
    if (mesh->element_type[e] == MODAL_ELEMENT_TET4) {
        const double six_volume = modal_six_volume(x[0], x[1], x[2], x[3]);
        found.volume = six_volume / 6;
        found.sign = !(fabs(six_volume) > least) ? 0 : six_volume > 0 ? 1 : -1;
        return found;
    }
    int n_positive = 0, n_negative = 0, n = 0;
    found.jacobian = INFINITY;
    for (int i = 0; i < 2; i++) {
        const modal_element_rule *rule = &table->rules[mesh->element_type[e]][i];
        for (int q = 0; q < rule->n_points; q++, n++) {
            double j[3][3];
            const double det = modal_element_jacobian(rule->n_nodes, rule->derivatives[q], x, j);
            n_positive += det > least;
            n_negative += det < -least;
            if (i == MODAL_INTEGRAL_MASS) found.volume += rule->weights[q] * det;
            if (det >= found.jacobian) continue;
            found.jacobian = det;
            found.where = q;
            found.n_points = rule->n_points;
        }
    }
    found.sign = n_positive == n ? 1 : n_negative == n ? -1 : 0;
    return found;
}

modal_status modal_element_refuse(const modal_volume_mesh *mesh, int64_t e,
                                  const modal_measure *found, int64_t n_bad, modal_error *err)
{
    const long long tag = (long long)mesh->element_tags[e];
    const char *plural = n_bad == 1 ? "" : "s";
    if (!isfinite(found->volume))
        return modal_error_set(err, MODAL_ERROR_INPUT, "element %lld: its volume does not fit float64, %g (%lld element%s in all)",
                               tag, found->volume, (long long)n_bad, plural);
    if (mesh->element_type[e] == MODAL_ELEMENT_TET4)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "element %lld: %s volume %.3g (%lld element%s in all)", tag,
                               found->sign ? "negative" : "zero", found->volume, (long long)n_bad,
                               plural);
    return modal_error_set(err, MODAL_ERROR_INPUT,
                           "element %lld: %s with the Jacobian %.3g at quadrature point %d of %d, must "
                           "be positive (%lld element%s in all)",
                           tag, modal_mesh_kind(mesh, e)->name, found->jacobian, found->where,
                           found->n_points, (long long)n_bad, plural);
}
