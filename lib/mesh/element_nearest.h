/* SPDX-License-Identifier: Apache-2.0 */
/* The isoparametric map of one element turned round: from a point in space to the element's nearest
 * point, and to the weights of its nodes there. */
#ifndef MODAL_MESH_ELEMENT_NEAREST_H
#define MODAL_MESH_ELEMENT_NEAREST_H

#include "lib/model/element.h"

/* x [n_nodes] are the positions of an element's nodes everywhere here, m. */

/* A box that contains the whole element, not its nodes alone: curved sides bulge past them. */
void modal_element_box(modal_element_type type, const double *const *x, double low[3], double high[3]);

/* 0 where the element's map is so near to a linear one that modal_element_nearest finds a point inside
 * from the centre. Let A and J be the derivatives of the map at the centre and anywhere else, and E = A^-1
 * J - 1 the change between them. Where |E| < 2^-1/2 the element is nowhere folded; and in space drawn by
 * A^-1, J d is less than 45 degrees from d for every direction d, so that from everywhere in the element
 * the straight way to the point in (r, s, t) brings the map nearer to it: no side has a nearest point of
 * its own. Asked for is |E| <= 0.5 at the corners, in the Frobenius norm; E is largest there in all types
 * but HEX20. */
int modal_element_is_bent(modal_element_type type, const double *const *x);

/* The squared distance, m^2, between a point and the element, and the reference coordinates (r, s, t) of
 * the element's nearest point; 0 within rounding (4e-15 of the element's size) inside. Gauss-Newton steps
 * within the reference element, which inside are Newton's: each goes to the nearest point of the linear
 * map that touches there, and is halved until the distance shrinks. First in space drawn by A^-1, where
 * flat and sheared elements are like others; then, where that does not end at the point, by the distance
 * itself. `bent`: from several starts, of which the best counts. The pyramid is mapped in (a, b, u), where
 * its apex is a side like others (element_shape.h). Infinity where squares overflow. For TET4 the distance
 * is exact and `at` undefined. */
double modal_element_nearest(modal_element_type type, const double *const *x, const double point[3],
                             int bent, double at[3]);

/* The weights of the nodes [n_nodes] that carry a point, where `at` is from modal_element_nearest: inside,
 * the shape functions there. Outside, their linear extrapolation from the nearest point: N_a + dN_a/dx .
 * (point - nearest point), so that constant and linear fields and rigid motions are still exact. The sum
 * is 1. Where the Jacobian at the nearest point is not above a tenth of that at the centre, the
 * derivatives of the centre are taken: an element that is almost collapsed there would carry nearly
 * anything. TET4: the barycentric coordinates, the same thing. */
void modal_element_weights(modal_element_type type, const double *const *x, const double point[3],
                           const double at[3], double weights[MODAL_ELEMENT_MOST_NODES]);

/* Distance between a point and one tetrahedron x [4, 3] of positive volume; 0 inside. */
double modal_tetrahedron_distance(const double *const x[4], const double point[3]);

/* Barycentric coordinates of a point, anywhere, in one tetrahedron x [4, 3]; sum 1. */
void modal_tetrahedron_weights(const double *const x[4], const double point[3], double weights[4]);

#endif
