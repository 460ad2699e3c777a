/* SPDX-License-Identifier: Apache-2.0 */
/* Forces, energies and stiffness bounds of a solid's elements in float64, on all cores: for what is asked for now and then,
 * not in every step. Sums run by node in the order of elements: same bytes for any number of threads. */
#ifndef MODAL_TLED_FORCES_H
#define MODAL_TLED_FORCES_H

#include "kernels/tled_layout/tled_reference.h"
#include "lib/tled/solid.h"

enum { MODAL_TLED_ALONE = 2000 }; /* elements: so few are faster with one thread */

typedef struct modal_tled_forces {
    const modal_tled_model *model;   /* borrowed */
    modal_tled_layout *reference;    /* shapes of the elements */
    int64_t *offsets;                /* [n_nodes + 1] of places */
    int64_t *places;                 /* places in `corners` that node i adds up */
    double *corners;                 /* [4 n_tetrahedra + 8 n_hexahedra, 3] forces of elements on their corners */
} modal_tled_forces;

/* After an error it is zeroed. */
modal_status modal_tled_forces_new(const modal_tled_model *model, modal_tled_forces *forces, modal_error *err);
void modal_tled_forces_free(modal_tled_forces *forces);

/* f [n_nodes, 3] of displacements u [n_nodes, 3], the solid's order. */
void modal_tled_forces_at(modal_tled_forces *forces, const double *u, double *f);

/* Elastic and hourglass energy, J. */
void modal_tled_energy_at(const modal_tled_forces *forces, const double *u, double *elastic, double *hourglass);

#endif
