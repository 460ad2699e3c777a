/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fem/rebase.h"

#include <math.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/fem/columns.h"
#include "lib/model/node_modes.h"

void modal_rebase_free(modal_rebase *rebase)
{
    modal_free(&rebase->transfer);
    modal_free(&rebase->square);
    modal_free(&rebase->rest);
    memset(rebase, 0, sizeof *rebase);
}

static modal_status build(const modal_shape *from, const modal_shape *to, int n_threads, modal_rebase *rebase,
                          modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_fem_system system = {0};
    double *u = NULL, *v = NULL, *image = NULL, *products = NULL;
    const int64_t r = from->modes.n_modes, s = to->modes.n_modes, most = r > s ? r : s;
    const modal_shape *const both[] = {from, to};
    for (int k = 0; k < 2; k++)
        if (!modal_shape_has_node_modes(both[k]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "shape %s of the %s basis: no modes at the nodes of a solid",
                       both[k]->name ? both[k]->name : "", k ? "new" : "old");
    MODAL_TRY(modal_fem_compare_solids(&from->solid.mesh, &to->solid.mesh, err));
    MODAL_TRY(modal_fem_assemble_mass(to, n_threads, &system, err));
    const int64_t n = 3 * system.n_free;
    MODAL_TRY(modal_fem_take_columns(from, &system, &u, err));
    MODAL_TRY(modal_fem_take_columns(to, &system, &v, err));
    MODAL_TRY(modal_alloc(&image, most * n, sizeof *image, "modes", err));
    MODAL_TRY(modal_alloc(&products, s * s, sizeof *products, "modes", err));
    MODAL_TRY(modal_alloc(&rebase->transfer, s * r, sizeof(double), "modes", err));
    MODAL_TRY(modal_alloc(&rebase->square, r * r, sizeof(double), "modes", err));
    MODAL_TRY(modal_alloc(&rebase->rest, r * r, sizeof(double), "modes", err));
    rebase->r_from = (int32_t)r;
    rebase->r_to = (int32_t)s;
    modal_identity_blocks_multiply(&system.pattern, system.mass, r, u, image, n_threads);
    modal_fem_products(n, r, u, r, image, rebase->square, n_threads);
    modal_fem_products(n, s, v, r, image, rebase->transfer, n_threads);
    modal_identity_blocks_multiply(&system.pattern, system.mass, s, v, image, n_threads);
    modal_fem_products(n, s, v, s, image, products, n_threads);
    if (!modal_fem_solve_products(s, products, r, rebase->transfer))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "shape %s of the new basis: its columns depend on each other",
                   to->name ? to->name : "");
    /* what is left of the old columns: differences of energies would lose half of the digits */
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads))
    for (int64_t k = 0; k < r; k++)
        for (int64_t j = 0; j < s; j++)
            for (int64_t i = 0; i < n; i++) u[k * n + i] -= rebase->transfer[j * r + k] * v[j * n + i];
    modal_identity_blocks_multiply(&system.pattern, system.mass, r, u, image, n_threads);
    modal_fem_products(n, r, u, r, image, rebase->rest, n_threads);
done:
    modal_fem_system_free(&system);
    modal_free(&u);
    modal_free(&v);
    modal_free(&image);
    modal_free(&products);
    return status;
}

modal_status modal_rebase_build(const modal_shape *from, const modal_shape *to, int n_threads, modal_rebase *rebase,
                                modal_error *err)
{
    memset(rebase, 0, sizeof *rebase);
    const modal_status status = build(from, to, n_threads, rebase, err);
    if (status != MODAL_OK) modal_rebase_free(rebase);
    return status;
}

/* q^T a q */
static double quadratic(int64_t n, const double *a, const double *q)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double row = 0;
        for (int64_t j = 0; j < n; j++) row += a[i * n + j] * q[j];
        sum += q[i] * row;
    }
    return sum;
}

double modal_rebase_apply(const modal_rebase *rebase, const double *q, double *q_to)
{
    const int64_t r = rebase->r_from, s = rebase->r_to;
    for (int64_t i = 0; i < s; i++) {
        q_to[i] = 0;
        for (int64_t j = 0; j < r; j++) q_to[i] += rebase->transfer[i * r + j] * q[j];
    }
    const double square = quadratic(r, rebase->square, q), rest = quadratic(r, rebase->rest, q);
    return square > 0 && rest > 0 ? sqrt(rest / square) : 0;
}
