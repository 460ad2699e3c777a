/* SPDX-License-Identifier: Apache-2.0 */
/* Linear elements that neither lock in bending nor near incompressibility (modal_stiffness_rule).
 *
 * Incompatible modes of HEX8: to the motion sum N_a u_a comes, in each element by itself,
 *
 *     sum_k (1 - r_k^2) alpha_k,    k = 1 .. 3, alpha_k a vector: nine parameters,
 *
 * whose gradient at a point is (det J_0 / det J) J_0^-T d(1 - r_k^2)/dr, J_0 the Jacobian at the centre: so the mean of it over the
 * element is 0, constant stress does no work on it, and the patch test is passed by distorted elements, too. The nine
 * are condensed out: K = K_uu - K_ua K_aa^-1 K_au. They have no mass, and do not move points: fields of motion are those of
 * the shape functions. Strain and stress have their part, alpha = -K_aa^-1 K_au u.
 *
 * Mean dilatation, with an isotropic material of nu >= MODAL_NEARLY_INCOMPRESSIBLE: in WEDGE6 the divergence of the motion is replaced by
 * its mean over the element, so that an element keeps its volume by one condition instead of one a point. In HEX8 it is
 * replaced by what is nearest to it (least squares) among the constant and the divergences of the incompatible modes, r_k / det J: those
 * parts which the modes can answer stay as they are, so that pure bending is exact with every nu, and the others, which nothing
 * could balance, go. The mean alone would not do: modes whose volume is free make HEX8 too soft, by 25 % in bending.
 *
 * Sources: R. L. Taylor, P. J. Beresford, E. L. Wilson, "A non-conforming element for stress analysis", International Journal
 * for Numerical Methods in Engineering 10, 1976; T. J. R. Hughes, "Generalization of selective integration procedures to anisotropic
 * and nonlinear media", the same journal 15, 1980 (B-bar); J. C. Simo, F. Armero, R. L. Taylor, "Improved versions of assumed enhanced
 * strain tri-linear elements for 3D finite deformation problems", Computer Methods in Applied Mechanics and Engineering 110, 1993. */
#ifndef MODAL_FEM_ENHANCED_H
#define MODAL_FEM_ENHANCED_H

#include "lib/fem/element_matrices.h"
#include "lib/model/material.h"

/* Bits: what an element has beside its shape functions. */
enum { MODAL_ENHANCED_MODES = 1, MODAL_ENHANCED_DILATATION = 2 };
enum { MODAL_ENHANCED_MOST_POINTS = 8 }; /* of the stiffness rules of the elements that have any */

/* Of element e by the mesh's rule; 0: nothing. */
int modal_element_enhancement(const modal_volume_mesh *mesh, int64_t e);

/* 1 where some element has something. */
int modal_volume_mesh_is_enhanced(const modal_volume_mesh *mesh);

/* Blocks (a, b), b >= a, of the stiffness of an element with nodes x, whose rule this is (for the stiffness) and whose enhancement
 * is not 0. */
void modal_enhanced_stiffness(int enhancement, const modal_element_rule *rule, const double *const *x,
                              const modal_elasticity *elasticity, modal_element_matrices *matrices);

/* Adds to the gradients of the motion, gradients[q][3 p + k] = d u_p / d x_k = sum of u [n_nodes, 3] times the shape functions'
 * gradients at the rule's points, what the enhancement makes of them. */
void modal_enhanced_gradients(int enhancement, const modal_element_rule *rule, const double *const *x,
                              const modal_elasticity *elasticity, const double *const *u, double (*gradients)[9]);

/* The same of several motions of one element: u [n_fields, n_nodes] pointers, gradients [n_fields, n_points][9]. */
void modal_enhanced_gradients_of(int enhancement, const modal_element_rule *rule, const double *const *x, const modal_elasticity *elasticity,
                                 int n_fields, const double *const *u, double (*gradients)[9]);

#endif
