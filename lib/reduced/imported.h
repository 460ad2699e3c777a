/* SPDX-License-Identifier: Apache-2.0 */
/* Columns that another program made, seen with this solid's stiffness and mass. */
#ifndef MODAL_REDUCED_IMPORTED_H
#define MODAL_REDUCED_IMPORTED_H

#include "lib/modes/modes.h"

/* The solid's mass and what holds it, as of modal_fem_assemble. */
typedef struct modal_imported_options {
    int64_t n_fixed;
    const int32_t *fixed_nodes;      /* [n_fixed] */
    const uint8_t *fixed_components; /* [n_fixed] or NULL */
    modal_mass_rule mass_rule;
    int n_threads;
} modal_imported_options;

/* Fills result from the columns [n_columns, n_nodes, 3] in their
 * order, unchanged: modes are their copy, eigenvalues their Rayleigh quotients (0 where K u is but rounding), modal
 * masses u^T M u, residuals and
 * participation as of natural modes. *mass_coupling and *stiffness_coupling are the largest
 * |a_ij| / sqrt(a_ii a_jj), i != j, of U^T M U and of U^T K U: 0 for natural modes of this solid.
 * MODAL_ERROR_INPUT: what modal_fem_assemble refuses; a column that is 0; a fixed node that a column
 * moves by more than 1e-6 of its largest value. After an error *result is zeroed; otherwise
 * modal_modes_result_free. */
modal_status modal_imported_solve(const modal_volume_mesh *mesh, const modal_imported_options *options, int32_t n_columns,
                                  const double *columns, modal_modes_result *result,
                                  double *mass_coupling, double *stiffness_coupling, modal_error *err);

#endif
