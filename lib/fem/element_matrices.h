/* SPDX-License-Identifier: Apache-2.0 */
/* Stiffness and mass of one isoparametric element, by quadrature (lib/mesh/element_shape.h has the
 * rules; docs/elements.md the formulation and its properties).
 * Source: O. C. Zienkiewicz, R. L. Taylor, J. Z. Zhu, "The Finite Element Method: Its Basis and
 * Fundamentals", 6th edition, 2005, chapters 5, 6 and 16; for the lumped mass E. Hinton, T. Rock,
 * O. C. Zienkiewicz, "A note on mass lumping and related processes in the finite element method",
 * Earthquake Engineering and Structural Dynamics 4, 1976. */
#ifndef MODAL_FEM_ELEMENT_MATRICES_H
#define MODAL_FEM_ELEMENT_MATRICES_H

#include "lib/laws/elasticity.h"
#include "lib/mesh/measure.h"
#include "lib/model/basis.h"

typedef struct modal_element_matrices {
    int n_nodes;
    /* Block (a, b), row-major 3 x 3, N/m. Only b >= a is computed; block (b, a) is its transpose. */
    double stiffness[MODAL_ELEMENT_MOST_NODES][MODAL_ELEMENT_MOST_NODES][9];
    double mass[MODAL_ELEMENT_MOST_NODES][MODAL_ELEMENT_MOST_NODES]; /* kg, times the identity */
    double nodal_mass[MODAL_ELEMENT_MOST_NODES]; /* kg, row sums of the mass */
} modal_element_matrices;

/* Computes the matrices of an element whose shape is sound (modal_element_measure, or for TET4 a
 * volume that is not 0: there the orientation does not matter). `elasticity` and `density` (kg/m^3) are its
 * material's. The consistent mass is integrated by the mass rule; MODAL_MASS_LUMPED scales its
 * diagonal to the element's mass (Hinton, Rock, Zienkiewicz), which for TET4 is a quarter a node. */
void modal_element_matrices_compute(const modal_volume_mesh *mesh, int64_t element,
                                    const modal_rule_table *table, const modal_elasticity *elasticity,
                                    double density, modal_mass_rule rule,
                                    modal_element_matrices *matrices);

#endif
