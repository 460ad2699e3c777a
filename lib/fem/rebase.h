/* SPDX-License-Identifier: Apache-2.0 */
/* From the reduced coordinates of one basis of a solid to those of another one of the same solid: of all motions
 * u' = U' q' the one that is nearest to u = U q in the norm of the mass matrix M,
 *
 *     q' = (U'^T M U')^-1 U'^T M U q,
 *
 * where the inverse is that of one but for rounding, and but for imported columns. */
#ifndef MODAL_FEM_REBASE_H
#define MODAL_FEM_REBASE_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/basis.h"

typedef struct modal_rebase {
    int32_t r_from, r_to;
    double *transfer; /* [r_to, r_from] q' = transfer q */
    double *square;   /* [r_from, r_from] |u|^2 = q^T square q */
    double *rest;     /* [r_from, r_from] |u - u'|^2 = q^T rest q */
} modal_rebase;

/* Both shapes have the solid and phi at its nodes (formats: VOLUME, VOLUME_MODES). M is that of `to`: its materials
 * and mass rule. MODAL_ERROR_INPUT: no phi at the nodes; other nodes (by more than 1e-9 of the size), elements or
 * types; columns of `to` that depend on each other; what modal_fem_assemble refuses. After an error *rebase is zeroed. */
modal_status modal_rebase_build(const modal_shape *from, const modal_shape *to, int n_threads, modal_rebase *rebase,
                                modal_error *err);
void modal_rebase_free(modal_rebase *rebase);

/* q_to [r_to] of q [r_from]; returns |u - u'| / |u|, 0 where u is 0. */
double modal_rebase_apply(const modal_rebase *rebase, const double *q, double *q_to);

#endif
