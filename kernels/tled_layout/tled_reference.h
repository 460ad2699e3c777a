/* SPDX-License-Identifier: Apache-2.0 */
/* The reference's layout: shapes of all elements in float64, and one element's forces from them. Also for what else wants
 * forces in float64 (energies, critical steps). */
#ifndef MODAL_KERNELS_TLED_REFERENCE_H
#define MODAL_KERNELS_TLED_REFERENCE_H

#include "kernels/tled_layout/tled_layout.h"

typedef struct modal_tled_tetrahedron {
    double gradients[3][3], volume;
} modal_tled_tetrahedron;

typedef struct modal_tled_reference {
    modal_tled_layout head;
    modal_tled_tetrahedron *tetrahedra; /* [n_tetrahedra] */
    modal_tled_hexahedron *hexahedra;   /* [n_hexahedra] */
    double *displacements, *forces, *loads; /* [n_nodes, 3] scratch */
    double *pressure_factors; /* [n_nodes], or NULL where nothing averages */
    double *pressures;        /* [n_nodes] scratch, likewise */
    double *corner_moduli;    /* [n_tetrahedra] mean K_a of an element's corners, Pa, likewise */
} modal_tled_reference;

/* Corners of element e (4 or 8 of them). */
static inline const int32_t *modal_tled_corners(const modal_tled_solid *solid, int64_t e, int *n_corners)
{
    *n_corners = e < solid->n_tetrahedra ? 4 : 8;
    return e < solid->n_tetrahedra ? solid->tetrahedra + 4 * e : solid->hexahedra + 8 * (e - solid->n_tetrahedra);
}

/* H of element e of displacements u [n_nodes, 3]. */
void modal_tled_reference_gradient(const modal_tled_reference *reference, int64_t e, const double *u, double h[9]);

/* H that the law sees: the element's, or the mean of its macro-element. */
void modal_tled_reference_law_gradient(const modal_tled_reference *reference, int64_t e, const double *u, double h[9]);

/* Gradients of its corners' shape functions (of a hexahedron their means, or at its centre); returns how many. */
int modal_tled_reference_gradients(const modal_tled_reference *reference, int64_t e, double gradients[8][3]);

/* modal_tled_measure of the element, or of its macro-element, at the H that the law sees. */
double modal_tled_reference_measure(const modal_tled_reference *reference, int64_t e, const double h[9]);

/* Nodal pressures of displacements u into reference->pressures, Pa; nothing where no element averages. */
void modal_tled_reference_pressures(modal_tled_reference *reference, const double *u);

/* The law's stress without Prony terms, of the H that it sees and the nodal pressures; returns J - 1. */
double modal_tled_reference_stress(const modal_tled_reference *reference, int64_t e, const double h[9], double stress[9]);

/* forces[corner][i] of element e, N, of the law's stress (NULL: that of u, without Prony terms) and what controls hourglass modes; returns
 * J - 1. Nodal pressures are those of the last modal_tled_reference_pressures. */
double modal_tled_reference_forces(const modal_tled_reference *reference, int64_t e, const double *u, const double *stress,
                                   double forces[8][3]);

#endif
