/* SPDX-License-Identifier: Apache-2.0 */
/* Isoparametric elements: shape functions and quadrature. The same functions N_a(r, s, t) map the
 * reference element into space, x = sum N_a x_a, and interpolate the motion.
 *
 * TET4, TET10: linear and quadratic polynomials. HEX8: trilinear; HEX20: serendipity. WEDGE6: linear
 * in (r, s), linear in t. PYRAMID5: N_a = (1 + a_a a)(1 + b_a b)(1 - t) / 4 with a = r / (1 - t),
 * b = s / (1 - t), and N_4 = t, rational in (r, s, t): bilinear on the base and linear on the sides,
 * so that it meets hexahedra and tetrahedra alike.
 * Source: O. C. Zienkiewicz, R. L. Taylor, J. Z. Zhu, "The Finite Element Method: Its Basis and
 * Fundamentals", 6th edition, 2005, chapters 4 and 5; for the pyramid G. Bedrosian, "Shape functions
 * and integration formulas for three-dimensional finite element analysis", International Journal for
 * Numerical Methods in Engineering 35, 1992. */
#ifndef MODAL_MESH_ELEMENT_SHAPE_H
#define MODAL_MESH_ELEMENT_SHAPE_H

#include "lib/model/element.h"

/* Reference coordinates of the corners, and of the centre of mass. */
extern const double modal_element_corners[MODAL_ELEMENT_TYPES][MODAL_ELEMENT_MOST_CORNERS][3];
extern const double modal_element_centres[MODAL_ELEMENT_TYPES][3];

/* Values [n_nodes] and derivatives [n_nodes, 3] by r, s, t at a reference point. At the pyramid's apex,
 * where the derivatives have no limit, those of the axis. */
void modal_element_shape(modal_element_type type, const double point[3],
                         double values[MODAL_ELEMENT_MOST_NODES],
                         double derivatives[MODAL_ELEMENT_MOST_NODES][3]);

typedef enum modal_element_integral {
    MODAL_INTEGRAL_STIFFNESS = 0, /* products of derivatives */
    MODAL_INTEGRAL_MASS = 1       /* products of shape functions */
} modal_element_integral;

enum { MODAL_RULE_MOST_POINTS = 27 };

/* A quadrature rule with the shape functions at its points.
 *
 * | type     | stiffness                      | mass                                            |
 * | -------- | ------------------------------ | ----------------------------------------------- |
 * | TET4     | 1 point                        | 4 points, degree 2: exact                       |
 * | TET10    | 4 points, degree 2             | 15 points, degree 5 (Stroud T3:5-1): exact       |
 * | HEX8     | 2 x 2 x 2 Gauss                | 3 x 3 x 3: exact                                |
 * | HEX20    | 3 x 3 x 3 Gauss                | 3 x 3 x 3                                       |
 * | WEDGE6   | 3 points x 2 Gauss             | 7 points, degree 5, x 3 Gauss: exact            |
 * | PYRAMID5 | 2 x 2 Gauss in a, b, 1 in t     | 3 x 3 Gauss in a, b, 2 Gauss-Jacobi in t: exact |
 * Stiffness is exact where the Jacobian is constant; mass is exact as said whatever the shape of
 * HEX8, WEDGE6 and PYRAMID5, and for TET10 with straight edges and mid-side nodes in their middle,
 * for HEX20 likewise if it is a parallelepiped. The pyramid's integrands of stiffness do not depend on
 * t, so that one point suffices.
 * Source: A. H. Stroud, "Approximate Calculation of Multiple Integrals", 1971. */
typedef struct modal_element_rule {
    int n_nodes, n_points;
    double points[MODAL_RULE_MOST_POINTS][3];
    double weights[MODAL_RULE_MOST_POINTS]; /* their sum is the volume of the reference element */
    double values[MODAL_RULE_MOST_POINTS][MODAL_ELEMENT_MOST_NODES];
    double derivatives[MODAL_RULE_MOST_POINTS][MODAL_ELEMENT_MOST_NODES][3];
} modal_element_rule;

void modal_element_rule_init(modal_element_type type, modal_element_integral integral,
                             modal_element_rule *rule);

/* jacobian[p][k] = d x_k / d r_p at a point whose shape functions have these derivatives; returns its
 * determinant, positive in an element that is not turned inside out. */
double modal_element_jacobian(int n_nodes, const double (*derivatives)[3], const double *const *x,
                              double jacobian[3][3]);

/* The determinant again; gradients [n_nodes, 3] get it times d N_a / d x_k: what needs no division. */
double modal_element_gradients(int n_nodes, const double (*derivatives)[3], const double *const *x,
                               double *gradients);

#endif
