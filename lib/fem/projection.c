/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fem/projection.h"

#include <math.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/fem/columns.h"
#include "lib/model/node_modes.h"

void modal_projection_free(modal_projection *p)
{
    modal_fem_system_free(&p->system);
    modal_free(&p->columns);
    modal_free(&p->rows);
    modal_free(&p->u);
    modal_free(&p->image);
    memset(p, 0, sizeof *p);
}

static modal_status build(const modal_shape *shape, int n_threads, modal_projection *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *products = NULL;
    const int64_t r = shape->modes.n_modes;
    const char *name = shape->name ? shape->name : "";
    if (shape->solid.mesh.n_nodes == 0 || !modal_shape_has_node_modes(shape) || r == 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "shape %s: no modes at the nodes of a solid (modalpack --volume-modes)", name);
    MODAL_TRY(modal_fem_assemble_mass(shape, n_threads, &p->system, err));
    const int64_t n = 3 * p->system.n_free;
    p->r = (int32_t)r;
    p->n_threads = n_threads;
    p->n_nodes = shape->solid.mesh.n_nodes;
    MODAL_TRY(modal_fem_take_columns(shape, &p->system, &p->columns, err));
    MODAL_TRY(modal_alloc(&p->rows, r * n, sizeof *p->rows, "modes", err));
    MODAL_TRY(modal_alloc(&products, r * r, sizeof *products, "modes", err));
    MODAL_TRY(modal_alloc(&p->u, n, sizeof *p->u, "displacements", err));
    MODAL_TRY(modal_alloc(&p->image, n, sizeof *p->image, "displacements", err));
    modal_identity_blocks_multiply(&p->system.pattern, p->system.mass, r, p->columns, p->rows, n_threads);
    modal_fem_products(n, r, p->columns, r, p->rows, products, n_threads);
    if (!modal_fem_solve_products(r, products, n, p->rows))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "shape %s: its columns depend on each other", name);
done:
    modal_free(&products);
    return status;
}

modal_status modal_projection_build(const modal_shape *shape, int n_threads, modal_projection *projection, modal_error *err)
{
    memset(projection, 0, sizeof *projection);
    const modal_status status = build(shape, n_threads, projection, err);
    if (status != MODAL_OK) modal_projection_free(projection);
    return status;
}

/* sqrt(u^T M u) */
static double norm(modal_projection *p)
{
    const int64_t n = 3 * p->system.n_free;
    double sum = 0;
    modal_identity_blocks_multiply(&p->system.pattern, p->system.mass, 1, p->u, p->image, p->n_threads);
    for (int64_t i = 0; i < n; i++) sum += p->u[i] * p->image[i];
    return sum > 0 ? sqrt(sum) : 0;
}

/* The largest length, and the free node that has it. */
static double longest(const modal_projection *p, int64_t *free_node)
{
    double most = 0;
    *free_node = 0;
    for (int64_t i = 0; i < p->system.n_free; i++) {
        const double *v = p->u + 3 * i, square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        if (square > most) most = square, *free_node = i;
    }
    return sqrt(most);
}

void modal_projection_apply(modal_projection *p, const double *u, double *q, modal_projection_error *error)
{
    const int64_t n = 3 * p->system.n_free;
    int64_t node;
    for (int64_t i = 0; i < n; i++) p->u[i] = u[3 * (int64_t)p->system.free_nodes[i / 3] + i % 3];
    error->whole = norm(p);
    error->most = longest(p, &node);
    modal_fem_products(n, p->r, p->rows, 1, p->u, q, p->n_threads);
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(p->n_threads))
    for (int64_t i = 0; i < n; i++)
        for (int32_t k = 0; k < p->r; k++) p->u[i] -= q[k] * p->columns[k * n + i];
    error->left = norm(p);
    error->farthest = longest(p, &node);
    error->node = p->system.free_nodes[node];
}
