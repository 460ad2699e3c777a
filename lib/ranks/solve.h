/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_RANKS_SOLVE_H
#define MODAL_RANKS_SOLVE_H

#include "lib/ranks/private.h"

/* All ranks: the whole computation. `problem` has the communicator and on rank 0 solid, options, progress; `result` is NULL on
 * the others. The problem keeps its modes and which nodes they are at; after an error nothing but its report. */
modal_status ranks_solve(ranks_problem *problem, modal_modes_result *result, modal_error *err);

void ranks_problem_free(ranks_problem *problem); /* again is fine */

/* Of modal_ranks_program. */
modal_status ranks_plan(const modal_solid *solid, const modal_ranks_options *options, double most_resident, int n, const int32_t *n_ranks,
                        modal_ranks_estimate *estimates, modal_error *err);

#endif
