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
    int64_t *places;                 /* of node i: 4 times a tetrahedron plus a corner, after them 8 times a hexahedron likewise */
    modal_tled_solid bare;           /* the model's without loads, held components and Prony terms, of masses of 1 */
    modal_tled_material *materials;  /* bare's */
    double *ones;                    /* bare's masses */
    modal_tled_layout *fast;         /* of bare, the CPU back end's */
    double *u, *d;                   /* [n_nodes, 4] of its step */
} modal_tled_forces;

/* After an error it is zeroed. */
modal_status modal_tled_forces_new(const modal_tled_model *model, modal_tled_forces *forces, modal_error *err);
void modal_tled_forces_free(modal_tled_forces *forces);

/* f [n_nodes, 3] of displacements u [n_nodes, 3], the solid's order, without Prony terms: a step of the CPU back end from rest. NaN
 * where an element is turned. */
modal_status modal_tled_forces_at(modal_tled_forces *forces, const double *u, double *f, modal_error *err);

/* Of all elements. A ratio is det F that the law sees: of an element its volume over that at rest; in a macro-element that of its mean. */
typedef struct modal_tled_sums {
    double elastic, hourglass;        /* J */
    double locking;                   /* J of the elastic energy: tetrahedra that have nothing against it, of nu >= MODAL_NEARLY_INCOMPRESSIBLE */
    double min_ratio, max_ratio;
    int64_t min_element, max_element; /* of the solid, the first of equal ones */
    double stvk_ratio;                /* the least of elements of St. Venant-Kirchhoff's law, NaN: there are none */
    int64_t stvk_element;             /* likewise, -1 */
    int64_t n_bad;                    /* elements whose ratio is outside of MODAL_QUALITY_BAD_BELOW .. MODAL_QUALITY_BAD_ABOVE */
} modal_tled_sums;

/* At displacements u [n_nodes, 3], the solid's order. The second leaves energies 0, takes a tenth of the time, and may run beside anything. */
void modal_tled_sums_at(const modal_tled_forces *forces, const double *u, modal_tled_sums *sums);
void modal_tled_ratios_at(const modal_tled_forces *forces, const double *u, modal_tled_sums *sums);

#endif
