/* SPDX-License-Identifier: Apache-2.0 */
/* Reduced St. Venant-Kirchhoff forces from the unique coefficients of their energy,
 *
 *     E(q) = sum_{k<=l} a_kl q_k q_l + sum_{i<=k<=l} b_ikl q_i q_k q_l + sum_{i<=j<=k<=l} c_ijkl q_i q_j q_k q_l
 *
 * and f = dE/dq: r (r + 1) (r + 2) (r + 3) / 24 coefficients of the fourth degree, each read once and used in
 * two multiply-adds, where f's own polynomials have about four times as many (J. Barbic, D. L. James, Real-Time
 * Subspace Integration for St. Venant-Kirchhoff Deformable Models, 2005, count r of r (r + 1) (r + 2) / 6).
 *
 * Table: a [pairs]; then for j = 0 .. r - 1 rows of the pairs (k, l) with j <= k <= l, which are the tail of the
 * packed pairs from (j, j) on, padded to whole groups of 8 with zeros: b_jkl, then c_ijkl for i = 0 .. j. With
 * the products Q_kl = q_k q_l, row i of block j gives s_ij = sum c_ijkl Q_kl, and all rows together
 * g_kl = a_kl + sum b_jkl q_j + sum c_ijkl q_i q_j; then E4's gradient is that of sum (s + g)_kl Q_kl with s and g
 * held. */
#ifndef MODAL_KERNELS_REDUCED_FORCE_H
#define MODAL_KERNELS_REDUCED_FORCE_H

#include "kernels/reduced_step/reduced_step.h"

/* Doubles of a row of block j, and of the whole table; vectors read up to 8 doubles behind it. */
MODAL_STEP_BOTH static inline int64_t modal_step_energy_row(int64_t r, int64_t j)
{
    return modal_step_padded((r - j) * (r - j + 1) / 2);
}
static inline int64_t modal_step_energy_size(int64_t r)
{
    int64_t size = modal_step_pairs(r);
    for (int64_t j = 0; j < r; j++) size += (j + 2) * modal_step_energy_row(r, j);
    return size + 8;
}

/* force [r] = f(q) and, where it is not NULL, tangent [pairs] = K(q) = df/dq, packed, as a step takes them; memory:
 * [modal_reduced_force_memory], aligned to 64 bytes like the table. K's coefficients (`stiffness`, modal_step_shape) are
 * needed up to MODAL_STEP_TABLE_MODES. With the processor's instructions (MODAL_SIMD); large
 * shapes by all threads, unless it is called by one of several, with the same bytes. Thread-safe. */
typedef void modal_reduced_force_function(int32_t r, const double *stiffness, const double *table, const double *q,
                                          double *memory, double *force, double *tangent);
modal_reduced_force_function modal_reduced_force_cpu;
int64_t modal_reduced_force_memory(int64_t r);

#endif
