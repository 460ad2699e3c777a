/* SPDX-License-Identifier: Apache-2.0 */
/* Static answers of a solid, from which bases are made. Private to the room; derivatives.c has it. */
#ifndef MODAL_REDUCED_DERIVE_H
#define MODAL_REDUCED_DERIVE_H

#include "lib/reduced/derivatives.h"
#include "lib/reduced/space.h"

/* Builds `space`, and *vectors [n_in_front + pairs + n_inertial, n]: zeros for the caller; the derivatives of the first
 * options->n_linear modes; K^-1 lambda_k M phi_k of the first n_inertial. The caller frees both, also after an error. */
modal_status reduced_derive(const reduced_solid *solid, int64_t n_in_front, int64_t n_inertial, reduced_space *space,
                            double **vectors, modal_derivatives_report *report, const modal_progress *progress,
                            modal_error *err);

#endif
