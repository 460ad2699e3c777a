/* SPDX-License-Identifier: Apache-2.0 */
/* How strongly solids are deformed by their reduced coordinates: the least det F, and how far linear models turn and
 * stretch.
 *
 * F = I + sum_k q_k G_k at the points where an element's stiffness is integrated, with constant gradients G_k of the modes, which have
 * the part of incompatible modes, as stiffness and stress have (lib/fem/enhanced.h).
 * The points of a shape are parted into clusters, neighbours together, and the G of one point of each, its centre, are kept. Every
 * other point of a cluster has |H - H_c| <= radius t, where t^2 = sum_k w_k q_k^2 with any weights w (here the
 * eigenvalues: t is the root of twice the linear elastic energy) and radius^2 the largest sum_k |G_k - G_ck|^2 / w_k in the cluster;
 * and, which is less where few modes move, |H - H_c| <= sum_k |q_k| max |G_k - G_ck|. So
 *   det F >= det F_c - |cof F_c| e - |F_c| e^2 / sqrt(3) - e^3 / (3 sqrt(3)),  e the lesser of both,
 * in Frobenius' norm. Where that does not prove that a cluster's det F is above a limit, all its points are looked at: a value
 * below the limit is the least of all points; one above it is the least of the centres, and all other points are
 * above the limit, too. */
#ifndef MODAL_FOREST_DEFORMATION_H
#define MODAL_FOREST_DEFORMATION_H

#include "lib/model/basis.h"

typedef struct modal_deformation modal_deformation;

typedef struct modal_deformed {
    double jacobian;         /* the least det F */
    int64_t element;         /* where: the index of an element */
    double rotation, strain; /* of the centres the largest angle of the linear motion, degrees, and the largest principal strain
                                of sym grad u by size */
} modal_deformed;

/* Below this a St. Venant-Kirchhoff material softens under pressure: pressed along one axis to lambda, its force is
 * largest at lambda = 1 / sqrt(3) = 0.577. */
#define MODAL_JACOBIAN_SOFT 0.6

/* Bytes that a shape's modes take at its nodes, and points times modes, which is what the clusters cost to make. Of a
 * shape whose counts alone are known. */
int64_t modal_deformation_bytes(const modal_shape *shape);
int64_t modal_deformation_work(const modal_shape *shape);

/* Of the shapes that have a solid with modes at the nodes; the others are passed over. The basis is borrowed. */
modal_status modal_deformation_new(modal_deformation **deformation, const modal_basis *basis, int n_threads,
                                   modal_error *err);
modal_deformation *modal_deformation_delete(modal_deformation *deformation); /* returns NULL; NULL is fine */

/* Whether a shape is known. */
int modal_deformation_knows(const modal_deformation *deformation, int32_t shape);

/* Of a known shape reach and weights [r]: at every point |F - I| <= reach sqrt(sum weights_k q_k^2), in Frobenius' norm. */
double modal_deformation_reach(const modal_deformation *deformation, int32_t shape, double *weights);
/* Products that measuring a shape of r columns takes, but for clusters that are looked at more closely. */
static inline int64_t modal_deformation_products(int32_t n_modes) { return 64 * 9 * (int64_t)n_modes; }

/* Of a known shape at q [r]. range: rotation and strain are wanted, which else are NaN. What is not finite is in
 * jacobian, too. Several threads, thread < n_threads, at once. */
void modal_deformation_measure(const modal_deformation *deformation, int32_t shape, const double *q, int range, int thread,
                               modal_deformed *deformed);

#endif
