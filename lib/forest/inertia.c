/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/forest/inertia.h"

#include <string.h>

#include "kernels/reduced_step/reduced_step.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/fem/assemble.h"
#include "lib/model/node_modes.h"
#include "lib/model/rigid_mass.h"

void modal_inertia_free(modal_inertia *inertia)
{
    modal_free(&inertia->moments);
    memset(inertia, 0, sizeof *inertia);
}

/* The mass matrix over all nodes that elements use; the others are handed over as fixed. */
static modal_status assemble_all(const modal_shape *shape, int n_threads, modal_fem_system *system,
                                 modal_error *err)
{
    const modal_volume_mesh *mesh = &shape->solid.mesh;
    modal_status status = MODAL_OK;
    uint8_t *used = NULL;
    int32_t *unused = NULL;
    int64_t n_unused = 0;
    MODAL_TRY(modal_alloc_zero(&used, mesh->n_nodes, 1, "nodes", err));
    MODAL_TRY(modal_alloc(&unused, mesh->n_nodes, sizeof *unused, "nodes", err));
    for (int64_t i = 0; i < mesh->element_offsets[mesh->n_elements]; i++) used[mesh->element_nodes[i]] = 1;
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        if (!used[i]) unused[n_unused++] = (int32_t)i;
    MODAL_TRY(modal_fem_assemble(mesh, unused, NULL, n_unused, shape->modes.mass_rule, n_threads, system, err));
done:
    modal_free(&used);
    modal_free(&unused);
    return status;
}

/* Of a rigid surface, which is filled evenly; one without mass has none. */
static modal_status rigid_inertia(const modal_shape *shape, modal_inertia *inertia, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_rigid_mass unit;
    MODAL_TRY(modal_alloc_zero(&inertia->moments, modal_step_moments(0) + 1, sizeof(double), "inertia", err));
    if (!(shape->modes.total_mass > 0)) goto done;
    MODAL_TRY(modal_rigid_mass_of(&shape->surface, 1, &unit, err));
    const double density = shape->modes.total_mass / unit.mass;
    inertia->mass = shape->modes.total_mass;
    for (int i = 0; i < 3; i++) inertia->first[i] = density * unit.first[i];
    for (int i = 0; i < 9; i++) inertia->second[i] = density * unit.second[i];
done:
    if (status != MODAL_OK) modal_inertia_free(inertia);
    return status;
}

modal_status modal_inertia_compute(const modal_shape *shape, int n_threads, modal_inertia *inertia,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_fem_system system = {0};
    const modal_volume_mesh *mesh = &shape->solid.mesh;
    const int32_t r = shape->modes.n_modes;
    const int64_t columns = modal_step_moments(r);
    double *fields = NULL, *products = NULL; /* [r + 2, n, 3]: modes, rest positions, ones */
    double *phi = NULL;                      /* [n_nodes, 3] */
    modal_node_modes modes = {0};
    memset(inertia, 0, sizeof *inertia);
    if (r == 0 && mesh->n_nodes == 0) return rigid_inertia(shape, inertia, err);
    if (!modal_shape_has_node_modes(shape))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "shape %s has no solid with modes at its nodes, which a frame that moves "
                   "needs (modalpack --volume-modes)", shape->name ? shape->name : "");
    MODAL_TRY(modal_node_modes_init(&modes, shape, err));
    MODAL_TRY(assemble_all(shape, n_threads, &system, err));
    const int64_t n = system.n_free;
    MODAL_TRY(modal_alloc(&fields, 3 * n * (r + 2), sizeof *fields, "inertia", err));
    MODAL_TRY(modal_alloc(&products, 3 * n * (r + 2), sizeof *products, "inertia", err));
    MODAL_TRY(modal_alloc_zero(&inertia->moments, (1 + r) * columns, sizeof(double), "inertia", err));
    MODAL_TRY(modal_alloc(&phi, 3 * mesh->n_nodes, sizeof *phi, "inertia", err));
    for (int32_t k = 0; k < r; k++) {
        modal_node_modes_get(&modes, k, phi);
        for (int64_t i = 0; i < n; i++)
            memcpy(fields + (k * n + i) * 3, phi + 3 * (int64_t)system.free_nodes[i], 3 * sizeof *phi);
    }
    for (int64_t i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++) {
            fields[(r * n + i) * 3 + axis] = mesh->nodes[3 * (int64_t)system.free_nodes[i] + axis];
            fields[((r + 1) * n + i) * 3 + axis] = 1;
        }
    modal_identity_blocks_multiply(&system.pattern, system.mass, r + 2, fields, products, n_threads);
    const double *rest = fields + 3 * n * r, *heavy_rest = products + 3 * n * r;
    for (int64_t i = 0; i < n; i++) {
        inertia->mass += products[3 * n * (r + 1) + 3 * i];
        for (int a = 0; a < 3; a++) {
            inertia->first[a] += heavy_rest[3 * i + a];
            for (int b = 0; b < 3; b++)
                inertia->second[3 * a + b] += rest[3 * i + a] * heavy_rest[3 * i + b];
        }
    }
    /* row 0: with the rest positions; row 1 + l: with mode l */
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads))
    for (int32_t l = 0; l <= r; l++) {
        const double *with = products + 3 * n * (l == 0 ? r : l - 1);
        double *row = inertia->moments + l * columns;
        for (int32_t k = 0; k < r; k++)
            for (int64_t i = 0; i < n; i++)
                for (int a = 0; a < 3; a++)
                    for (int b = 0; b < 3; b++)
                        row[9 * k + 3 * a + b] += fields[(k * n + i) * 3 + a] * with[3 * i + b];
    }
done:
    modal_fem_system_free(&system);
    modal_node_modes_free(&modes);
    modal_free(&phi);
    modal_free(&fields);
    modal_free(&products);
    if (status != MODAL_OK) modal_inertia_free(inertia);
    return status;
}
