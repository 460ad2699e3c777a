/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/reduced/imported.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/fem/sparse.h"
#include "lib/modes/factor.h"
#include "lib/reduced/space.h"

/* The columns over the free degrees of freedom; what is fixed must not move. */
static modal_status take_columns(const reduced_space *space, int64_t m, const double *columns,
                                 double *vectors, modal_error *err)
{
    const int64_t n = space->n, n_nodes = space->n_nodes;
    for (int64_t k = 0; k < m; k++) {
        double largest, moves;
        const int64_t node = reduced_space_take(space, columns + 3 * n_nodes * k, vectors + k * n, &largest, &moves);
        if (!(largest > 0))
            return modal_error_set(err, MODAL_ERROR_INPUT, "column %lld: all values are 0", (long long)k);
        if (node >= 0)
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "column %lld: node %lld is fixed and moves by %g of the largest value",
                                   (long long)k, (long long)node, moves / largest);
    }
    return MODAL_OK;
}

modal_status modal_imported_solve(const modal_volume_mesh *mesh, const modal_imported_options *o, int32_t n_columns,
                                  const double *columns, modal_modes_result *result,
                                  double *mass_coupling, double *stiffness_coupling, modal_error *err)
{
    modal_status status = MODAL_OK;
    reduced_space space = {0};
    double *vectors = NULL, *image = NULL, *products = NULL;
    const int64_t m = n_columns;
    memset(result, 0, sizeof *result);
    *mass_coupling = *stiffness_coupling = 0;
    MODAL_TRY(reduced_space_build(mesh, o->fixed_nodes, o->fixed_components, o->n_fixed, o->mass_rule, o->n_threads, &space, err));
    MODAL_TRY(modal_alloc(&vectors, m * space.n, sizeof *vectors, "imported columns", err));
    MODAL_TRY(modal_alloc(&image, m * space.n, sizeof *image, "imported columns", err));
    MODAL_TRY(modal_alloc(&products, m * m, sizeof *products, "imported columns", err));
    MODAL_TRY(take_columns(&space, m, columns, vectors, err));
    MODAL_TRY(reduced_space_result(&space, m, vectors, 0, result, err));
    *mass_coupling = result->orthogonality;
    modal_blocks_multiply(&space.system.pattern, space.system.stiffness, m, vectors, image, space.n_threads);
    MODAL_TRY(reduced_gram(&space, m, vectors, m, image, products, err));
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = 0; i < j; i++)
            if (result->eigenvalues[i] > 0 && result->eigenvalues[j] > 0)
                *stiffness_coupling = fmax(*stiffness_coupling,
                                           fabs(products[j * m + i]) /
                                               sqrt(products[i * m + i] * products[j * m + j]));
    /* fixed nodes, too, as they came */
    memcpy(result->modes, columns, (size_t)(m * 3 * mesh->n_nodes) * sizeof *columns);
done:
    modal_free(&vectors);
    modal_free(&image);
    modal_free(&products);
    reduced_space_free(&space);
    if (status != MODAL_OK) modal_modes_result_free(result);
    return status;
}
