/* SPDX-License-Identifier: Apache-2.0 */
/* What a shape's mass does when its frame turns: integrals of rest position and modes that, once
 * known, give every inertial force as a polynomial in q (kernels/reduced_step/reduced_step.h).
 * Source: A. A. Shabana, Dynamics of Multibody Systems (inertia shape integrals). */
#ifndef MODAL_FOREST_INERTIA_H
#define MODAL_FOREST_INERTIA_H

#include "lib/model/basis.h"

typedef struct modal_inertia {
    double mass, first[3], second[9]; /* int rho (1, xbar, xbar xbar^T): kg, kg m, kg m^2 */
    double *moments; /* [1 + r, modal_step_moments(r)] as modal_step_shape.inertia has them */
} modal_inertia;

/* Computes them with the mass matrix of the shape's solid, by its own mass rule, fixed nodes included.
 * MODAL_ERROR_INPUT where the shape has no solid or no modes at its nodes. The caller frees with
 * modal_inertia_free; after an error *inertia is zeroed. The same bytes for every n_threads. */
modal_status modal_inertia_compute(const modal_shape *shape, int n_threads, modal_inertia *inertia,
                                   modal_error *err);
void modal_inertia_free(modal_inertia *inertia);

#endif
