/* SPDX-License-Identifier: Apache-2.0 */
/* The largest step at which central differences stay bounded, 2 / sqrt(lambda), lambda the largest eigenvalue of
 * M^-1 K (damping alpha M changes nothing with centred velocities).
 *
 * - bound, rigorous: lambda <= max_i sum_e m_ei lambda_e / m_i, where lambda_e is the largest eigenvalue of element e with
 *   its own lumped mass m_ei. For u^T K u = sum_e u_e^T K_e u_e <= sum_e lambda_e u_e^T M_e u_e. What is held only makes
 *   lambda smaller. A hexahedron's lambda_e is at most the sum of those of its stress and of its hourglass control,
 *   and so is a macro-element's, which all its tetrahedra have.
 * - estimate, by Lanczos's iteration over the components that are free: from the unsafe side, most often within 0.1 %. */
#ifndef MODAL_TLED_CRITICAL_H
#define MODAL_TLED_CRITICAL_H

#include "lib/tled/forces.h"

typedef struct modal_tled_critical {
    double bound, estimate; /* s; bound <= true limit <= estimate. Infinite where nothing is stiff */
    int64_t element;        /* of the solid, that bounds: the largest lambda_e at the node that bounds */
    int products;           /* of K and a vector */
} modal_tled_critical;

/* At displacements u [n_nodes, 3], both. */
modal_status modal_tled_critical_at(modal_tled_forces *forces, const double *u, modal_tled_critical *critical,
                                    modal_error *err);

/* Both at rest; and gives the model's solid its `stiffness`, so that `stiffest` at rest is 4 / bound^2. Layouts that were made
 * before do not know. */
modal_status modal_tled_critical_rest(modal_tled_model *model, modal_tled_forces *forces, modal_tled_critical *critical,
                                      modal_error *err);

/* sums [n_nodes]: sum_e m_ei lambda_e, N/m, at displacements u: lambda_max <= max_i sums_i / m_i for any masses m. */
modal_status modal_tled_stiffness_sums(const modal_tled_forces *forces, const double *u, double *sums, modal_error *err);

/* Makes masses of the model larger where the bound of a step asks for it (masses before: `weights` of the solid, which gravity
 * acts on): *share of the solid's mass, on *n nodes. Layouts that were made before do not know. */
modal_status modal_tled_scale_masses(modal_tled_model *model, const modal_tled_forces *forces, const double *u, double step,
                                     double *share, int64_t *n, modal_error *err);

/* The estimate alone. */
modal_status modal_tled_critical_estimate(modal_tled_forces *forces, const double *u, modal_tled_critical *critical,
                                          modal_error *err);

#endif
