/* SPDX-License-Identifier: Apache-2.0 */
/* Solids for the tests of tled_layout and tled_step: boxes of cells, each six tetrahedra or one hexahedron, with nodes moved
 * at random, every law, loads, pressure and prescribed components. */
#ifndef MODAL_TESTS_TLED_SOLIDS_H
#define MODAL_TESTS_TLED_SOLIDS_H

#include "kernels/tled_layout/tled_layout.h"
#include "tests/kernels/harness.h"

enum { TLED_SIGNALS = 2, TLED_ALL_SIGNALS = 14 }; /* of loads; with the places of a plane, a sphere and a capsule */

typedef enum tled_elements { TLED_TETRAHEDRA, TLED_HEXAHEDRA, TLED_BOTH } tled_elements;

enum { TLED_PLAIN = 3, TLED_RICH = 7 };

/* A box of x * y * z cells of about 1 cm; n_materials 1: neo-Hookean, TLED_PLAIN: every law, element by element, TLED_RICH: also
 * with nodal pressures, fibres and Prony terms. Without `loads` nothing acts or is held, with them the solid touches bodies, too.
 * An even x: gradients of hexahedra at the centre. Everything belongs to the solid: tled_solid_free. */
modal_tled_solid *tled_solid_new(harness *h, int x, int y, int z, tled_elements elements, int n_materials, int loads);
/* Makes the solid's tetrahedra macro-elements of 1 to 12, of one material each, none of which averages any more. cells: those of the solid along x. */
void tled_solid_make_macros(harness *h, modal_tled_solid *solid, int cells);
/* Signals [TLED_ALL_SIGNALS] of one time. */
void tled_solid_signals(harness *h, const modal_tled_solid *solid, double *signals);
void tled_solid_free(modal_tled_solid *solid);

#endif
