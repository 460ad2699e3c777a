/* SPDX-License-Identifier: Apache-2.0 */
/* Modal derivatives, and the basis made of natural modes and them: what a solid of St.
 * Venant-Kirchhoff material does when its modes grow large.
 *
 * The internal force of x = X + u is f(u) = K u + H(u, u) / 2 + ...; pushed statically along mode i
 * (K phi_i = lambda_i M phi_i) and mode j at once, the solid answers with the curvature
 *
 *     K phi_ij = -H(phi_i, phi_j),        phi_ij = phi_ji,
 *
 * for k modes k (k + 1) / 2 right-hand sides and one factor. A solid that can move rigidly is held by
 * inertia relief: the load minus M R R^T load (R: M-orthonormal rigid motions) drives no rigid
 * motion, and phi_ij is taken M-orthogonal to R.
 *
 * The basis: mode i scaled by lambda_0 / lambda_i, derivative (i, j) by lambda_0^2 / (lambda_i lambda_j);
 * of these columns W the principal components in the mass matrix M of the modes themselves: singular
 * vectors of M^1/2 W, computed from an M-orthogonal W = Q T and the singular values of T, so that
 * small ones are as good as T's rounding. The n_modes largest components are turned within their span
 * into Ritz vectors of K and M, so that linear dynamics hold in this basis, too.
 *
 * Source: J. Barbic, D. L. James, "Real-Time Subspace Integration for St. Venant-Kirchhoff Deformable
 * Models", 2005 (derivatives, weights, mass-PCA). */
#ifndef MODAL_REDUCED_DERIVATIVES_H
#define MODAL_REDUCED_DERIVATIVES_H

#include "lib/modes/modes.h"

static inline int64_t modal_derivative_count(int64_t k) { return k * (k + 1) / 2; }

typedef struct modal_derivatives_options {
    int32_t n_linear; /* k: so many of the natural modes, and all derivatives of them */
    int32_t n_modes;  /* r: columns of the basis, at most k + k (k + 1) / 2 */
    modal_mass_rule mass_rule;
    const uint8_t *fixed_components; /* [n_fixed] of each fixed node: 1 x, 2 y, 4 z, or sums; NULL: all */
    int n_threads;
    int factor_float32; /* 1: a factor in floats, whose solves are corrected until they are as exact */
} modal_derivatives_options;

/* A solid, what holds it, and its modes: [any, n_nodes, 3] with these eigenvalues, as modal_modes_solve makes them. */
typedef struct reduced_solid {
    const modal_volume_mesh *mesh;
    const int32_t *fixed_nodes;
    int64_t n_fixed;
    const modal_derivatives_options *options;
    const double *eigenvalues, *modes;
} reduced_solid;

typedef struct modal_derivatives_report {
    int64_t n_derivatives;
    int32_t rank;           /* of modes and derivatives */
    double load_residual;   /* worst ||K phi_ij - load|| / ||load|| */
    double *singular_values; /* [n_linear + n_derivatives] of M^1/2 W, descending */
    double energy;          /* share of the sum of their squares that is in the basis */
    double seconds_loads, seconds_factor, seconds_solve, seconds_basis;
} modal_derivatives_report;

/* Derivatives alone, [k (k + 1) / 2, n_nodes, 3] in the order (0 0), (0 1), ..., (1 1), ..., of the first k modes. The
 * caller owns *derivatives. Errors as below; *derivatives is NULL after one. */
modal_status modal_derivatives_compute(const reduced_solid *solid, double **derivatives, modal_derivatives_report *report,
                                       const modal_progress *progress, modal_error *err);

/* The basis; result as of modal_modes_solve, eigenvalues being Ritz values.
 * MODAL_ERROR_USAGE: counts out of range. MODAL_ERROR_INPUT: what modal_fem_assemble and
 * modal_stvk_reduced_forces refuse; fewer independent columns than n_modes. MODAL_ERROR_NOT_CONVERGED:
 * K is singular, a static solution misses its load by more than 1e-6. MODAL_ERROR_INTERRUPTED,
 * MODAL_ERROR_MEMORY. After an error result and report are zeroed; otherwise
 * modal_modes_result_free, modal_derivatives_report_free. */
modal_status modal_derivatives_solve(const reduced_solid *solid, modal_modes_result *result, modal_derivatives_report *report,
                                     const modal_progress *progress, modal_error *err);

void modal_derivatives_report_free(modal_derivatives_report *report);

#endif
