/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fem/columns.h"

#include <math.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/model/node_modes.h"

modal_status modal_fem_compare_solids(const modal_volume_mesh *a, const modal_volume_mesh *b, modal_error *err)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0;
    if (a->n_nodes != b->n_nodes)
        return modal_error_set(err, MODAL_ERROR_INPUT, "another solid: %lld nodes, not %lld", (long long)b->n_nodes,
                               (long long)a->n_nodes);
    if (a->n_elements != b->n_elements)
        return modal_error_set(err, MODAL_ERROR_INPUT, "another solid: %lld elements, not %lld",
                               (long long)b->n_elements, (long long)a->n_elements);
    for (int64_t i = 0; i < 3 * a->n_nodes; i++) {
        low[i % 3] = fmin(low[i % 3], a->nodes[i]);
        high[i % 3] = fmax(high[i % 3], a->nodes[i]);
    }
    for (int p = 0; p < 3; p++) size = fmax(size, high[p] - low[p]);
    for (int64_t i = 0; i < 3 * a->n_nodes; i++)
        if (!(fabs(a->nodes[i] - b->nodes[i]) <= 1e-9 * size))
            return modal_error_set(err, MODAL_ERROR_INPUT, "another solid: node %lld is %g m away", (long long)(i / 3),
                                   fabs(a->nodes[i] - b->nodes[i]));
    for (int64_t e = 0; e < a->n_elements; e++)
        if (a->element_type[e] != b->element_type[e] ||
            memcmp(modal_mesh_nodes(a, e), modal_mesh_nodes(b, e),
                   (size_t)modal_mesh_kind(a, e)->n_nodes * sizeof(int32_t)) != 0)
            return modal_error_set(err, MODAL_ERROR_INPUT, "another solid: element %lld has other nodes or another type",
                                   (long long)e);
    return MODAL_OK;
}

modal_status modal_fem_assemble_mass(const modal_shape *shape, int n_threads, modal_fem_system *system, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = &shape->solid.mesh;
    uint8_t *used = NULL;
    int32_t *without = NULL;
    int64_t n_without = 0;
    MODAL_TRY(modal_alloc_zero(&used, mesh->n_nodes, 1, "nodes", err));
    MODAL_TRY(modal_alloc(&without, mesh->n_nodes, sizeof *without, "nodes", err));
    for (int64_t e = 0; e < mesh->n_elements; e++)
        for (int a = 0; a < modal_mesh_kind(mesh, e)->n_nodes; a++) used[modal_mesh_nodes(mesh, e)[a]] = 1;
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        if (!used[i]) without[n_without++] = (int32_t)i;
    MODAL_TRY(modal_fem_assemble(mesh, without, NULL, n_without, shape->modes.mass_rule, n_threads, system, err));
done:
    modal_free(&used);
    modal_free(&without);
    return status;
}

modal_status modal_fem_take_columns(const modal_shape *shape, const modal_fem_system *system, double **columns,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_node_modes modes = {0};
    double *phi = NULL;
    const int64_t n = 3 * system->n_free;
    MODAL_TRY(modal_node_modes_init(&modes, shape, err));
    MODAL_TRY(modal_alloc(&phi, shape->solid.mesh.n_nodes, 3 * sizeof *phi, "modes", err));
    MODAL_TRY(modal_alloc(columns, shape->modes.n_modes * n, sizeof **columns, "modes", err));
    for (int32_t k = 0; k < shape->modes.n_modes; k++) {
        modal_node_modes_get(&modes, k, phi);
        for (int64_t i = 0; i < n; i++) (*columns)[k * n + i] = phi[3 * (int64_t)system->free_nodes[i / 3] + i % 3];
    }
done:
    modal_node_modes_free(&modes);
    modal_free(&phi);
    return status;
}

void modal_fem_products(int64_t n, int64_t n_a, const double *a, int64_t n_b, const double *b, double *products,
                     int n_threads)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(modal_free_threads(n_threads))
    for (int64_t k = 0; k < n_a * n_b; k++) {
        const double *x = a + k / n_b * n, *y = b + k % n_b * n;
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
        products[k] = sum;
    }
}

int modal_fem_solve_products(int64_t n, double *g, int64_t columns, double *c)
{
    for (int64_t j = 0; j < n; j++) {
        const double before = g[j * n + j];
        for (int64_t k = 0; k < j; k++) g[j * n + j] -= g[j * n + k] * g[j * n + k];
        if (!(g[j * n + j] > 1e-12 * before)) return 0;
        g[j * n + j] = sqrt(g[j * n + j]);
        for (int64_t i = j + 1; i < n; i++) {
            for (int64_t k = 0; k < j; k++) g[i * n + j] -= g[i * n + k] * g[j * n + k];
            g[i * n + j] /= g[j * n + j];
        }
    }
    for (int64_t v = 0; v < columns; v++) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t k = 0; k < i; k++) c[i * columns + v] -= g[i * n + k] * c[k * columns + v];
            c[i * columns + v] /= g[i * n + i];
        }
        for (int64_t i = n - 1; i >= 0; i--) {
            for (int64_t k = i + 1; k < n; k++) c[i * columns + v] -= g[k * n + i] * c[k * columns + v];
            c[i * columns + v] /= g[i * n + i];
        }
    }
    return 1;
}
