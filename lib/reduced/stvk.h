/* SPDX-License-Identifier: Apache-2.0 */
/* Reduced internal forces of a solid of St. Venant-Kirchhoff material, isotropic or orthotropic, of elements
 * of every type, integrated at the points of the stiffness (lib/mesh/element_shape.h).
 *
 * At a point the displacement U q has the gradient sum_i q_i G_i with constant G_i, so Green's strain is
 * E(q) = sum_i q_i sym(G_i) + 1/2 sum_ij q_i q_j G_i^T G_j: a sum over the monomials of first and second
 * degree. With C = R^T R (Cholesky) the energy w/2 E : C : E of a point of volume w is half the square of
 * the vector sqrt(w) R E(q). So all coefficients of the energy are in one Gram matrix X^T X, where X has six
 * rows a point and a column a monomial: a symmetric matrix product, done in tiles by BLAS.
 * The forces are the derivatives of that polynomial of fourth degree. Of more than MODAL_CUBIC_MOST_MODES columns its own
 * terms of fourth degree are given instead of their derivatives (modal_reduced_forces).
 *
 * Source: J. Barbic, D. L. James, "Real-Time Subspace Integration for St. Venant-Kirchhoff Deformable
 * Models", 2005, which sums the forces' coefficients element by element instead. */
#ifndef MODAL_REDUCED_STVK_H
#define MODAL_REDUCED_STVK_H

#include <stdint.h>

#include "kernels/operations.h"
#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/model/basis.h"

enum { MODAL_STVK_MOST_MODES = 200 }; /* the Gram matrix then takes 3.3 GB */

/* Writes the coefficients of f(q) = U^T f_int(U q) for the columns modes [n_modes, n_nodes, 3] of U,
 * in float64. Fixed nodes are those where the columns are 0. The mesh must have passed
 * modal_volume_mesh_check and have materials.
 * MODAL_ERROR_USAGE: fewer than 1 or more than MODAL_STVK_MOST_MODES modes. MODAL_ERROR_INPUT: an
 * element without material, flat, or (but for T4, whose orientation does not matter) with a Jacobian that is
 * not positive; a material out of range; coefficients that are not finite. MODAL_ERROR_INTERRUPTED by
 * progress, which may be NULL. MODAL_ERROR_MEMORY. After an error *forces is zeroed; otherwise
 * modal_reduced_forces_free.
 * device: where the Gram matrix is summed, if it has that operation (kernels/gram/gram.h); NULL or one
 * without: BLAS. The strains are the processor's in any case, while the device multiplies.
 * The same bytes for every n_threads. Takes 8 (n + r)^2 bytes, n = r (r + 1) / 2, and 6 n^2
 * multiplications a point. */
modal_status modal_stvk_reduced_forces(const modal_volume_mesh *mesh, int32_t n_modes,
                                       const double *modes, int n_threads,
                                       const modal_device *device,
                                       modal_reduced_forces *forces, const modal_progress *progress,
                                       modal_error *err);

/* Bytes that it takes at most, beside mesh and modes. */
double modal_stvk_bytes(int64_t n_modes);
/* About how many seconds it takes on that many processor threads: from the time of one tile of the product, measured in some
 * milliseconds. 0 where the mesh is one that modal_stvk_reduced_forces refuses. */
double modal_stvk_seconds(const modal_volume_mesh *mesh, int64_t n_modes, int n_threads);

#endif
