/* SPDX-License-Identifier: Apache-2.0 */
/* St. Venant-Kirchhoff's law (law.h) at many points at once, for what is summed over all points of a solid: one
 * lane a point, component-wise arrays, so that the loops are vector loops. Strains are six numbers, xx yy zz
 * 2yz 2xz 2xy; gradients and stresses nine. The law enters by the root of the elasticity tensor times the point's
 * volume w, root = sqrt(w) R with R^T R = C, upper triangle by rows (elasticity.h): the energy is half
 * the square of root * strain, the stress times the volume root^T root strain. */
#ifndef MODAL_LAWS_LANES_H
#define MODAL_LAWS_LANES_H

#include "lib/laws/elasticity.h"

enum { MODAL_LAW_LANES = 256 };

/* strain [6, lanes] of sym(G), and of (A^T B + B^T A) / 2 times scale: the two parts of Green's strain. */
void modal_lanes_linear_strain(double g[restrict][MODAL_LAW_LANES], double strain[restrict][MODAL_LAW_LANES]);
void modal_lanes_product_strain(double a[restrict][MODAL_LAW_LANES], double b[restrict][MODAL_LAW_LANES],
                                double scale, double strain[restrict][MODAL_LAW_LANES]);

/* out [6, lanes] = root [MODAL_ELASTICITY_ROOT, lanes] * strain. out may not be strain. */
void modal_lanes_root_times(const double root[restrict][MODAL_LAW_LANES],
                            double strain[restrict][MODAL_LAW_LANES], double out[restrict][MODAL_LAW_LANES]);

/* Stress times volume, [9, lanes], symmetric: w C strain. */
void modal_lanes_stress(const double root[restrict][MODAL_LAW_LANES], double strain[restrict][MODAL_LAW_LANES],
                        double stress[restrict][MODAL_LAW_LANES]);

/* The second derivative of the first stress at rest along two fields, times volume, [9, lanes]:
 * A S_b + B S_a + w C : (A^T B + B^T A) / 2, where A and B are their gradients and S_a and S_b the stresses
 * (times volume) of sym(A) and sym(B). */
void modal_lanes_second_derivative(const double root[restrict][MODAL_LAW_LANES],
                                   double a[restrict][MODAL_LAW_LANES], double stress_a[restrict][MODAL_LAW_LANES],
                                   double b[restrict][MODAL_LAW_LANES], double stress_b[restrict][MODAL_LAW_LANES],
                                   double out[restrict][MODAL_LAW_LANES]);

#endif
