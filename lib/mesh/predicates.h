/* SPDX-License-Identifier: Apache-2.0 */
/* On which side points lie: signs of determinants of coordinates. Overflow and underflow are not looked after. */
#ifndef MODAL_MESH_PREDICATES_H
#define MODAL_MESH_PREDICATES_H

/* The sign of the volume of the tetrahedron a b c d where it is certain in floating point, else 0. The bounds are
 * those of J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997,
 * in double, then with the mantissa of long double. */
int modal_orientation(const double a[3], const double b[3], const double c[3], const double d[3]);

/* The sign itself: 0 where the four points lie in one plane. By sums of doubles that do not overlap (the same
 * source), made only where modal_orientation is not certain. */
int modal_orientation_exact(const double a[3], const double b[3], const double c[3], const double d[3]);

/* The sign of the area of the triangle a b c as seen along the axis `drop`, exact. */
int modal_turn_exact(const double a[3], const double b[3], const double c[3], int drop);

#endif
