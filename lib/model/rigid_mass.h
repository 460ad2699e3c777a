/* SPDX-License-Identifier: Apache-2.0 */
/* Mass of what a closed surface encloses, evenly filled. */
#ifndef MODAL_MODEL_RIGID_MASS_H
#define MODAL_MODEL_RIGID_MASS_H

#include "lib/model/basis.h"

typedef struct modal_rigid_mass {
    double mass, first[3], second[9]; /* int rho (1, xbar, xbar xbar^T): kg, kg m, kg m^2 */
} modal_rigid_mass;

/* Exact integrals over tetrahedra from the surface's own middle to its triangles. The surface needs rest positions, triangles and boundary.
 * MODAL_ERROR_INPUT: it is not closed, or its triangles face inwards, or it encloses nothing. */
modal_status modal_rigid_mass_of(const modal_surface *surface, double density, modal_rigid_mass *mass, modal_error *err);

#endif
