/* SPDX-License-Identifier: Apache-2.0 */
/* How far two motions of one solid are apart: the norm of the difference of their places in the mass matrix,
 *
 *     |x - x'|^2 = integral rho |x - x'|^2 dV,   x = R (X + U q) + p,   x' = R' (X + U' q') + p'.
 *
 * Every component of the difference is a sum of the scalar fields 1, X_i, U_ki and U'_ki, whose products with the mass
 * matrix are found once; a pair of frames then costs 3 (4 + 3 r + 3 r')^2 products. Where both have one basis, the
 * coordinates are subtracted before, and a small difference keeps its digits; of two bases it is known to about 1e-8 of
 * the motions. */
#ifndef MODAL_FEM_MOTION_NORM_H
#define MODAL_FEM_MOTION_NORM_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/basis.h"

typedef struct modal_motion_norm {
    int32_t r, r_other; /* r_other 0: the same basis */
    int64_t n_fields;
    double *products; /* [n_fields, n_fields] 1, then X, U, U' by components */
    double *scratch;  /* [n_fields] */
} modal_motion_norm;

/* `other` NULL, or the same pointer: one basis. Both shapes have the solid and phi at its nodes; M is that of `shape`.
 * MODAL_ERROR_INPUT: no phi at the nodes, another solid, what modal_fem_assemble refuses. After an error *norm is zeroed. */
modal_status modal_motion_norm_build(const modal_shape *shape, const modal_shape *other, int n_threads,
                                     modal_motion_norm *norm, modal_error *err);
void modal_motion_norm_free(modal_motion_norm *norm);

/* |x - x'|^2 in kg m^2 of the poses [3, 4] and q [r], q' [r_other, or r]. Uses the scratch inside: one thread at a time. */
double modal_motion_norm_apply(const modal_motion_norm *norm, const double *pose, const double *q, const double *other_pose,
                               const double *other_q);

#endif
