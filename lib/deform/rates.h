/* SPDX-License-Identifier: Apache-2.0 */
/* Rates of change of a trajectory: those that it keeps, or differences of its frames, and whether these follow the motion. */
#ifndef MODAL_DEFORM_RATES_H
#define MODAL_DEFORM_RATES_H

#include "lib/model/basis.h"
#include "lib/model/trajectory.h"

/* MODAL_ERROR_INPUT if speeds would be off by more than a tenth of the largest, or cannot be computed. A trajectory that keeps its velocities passes.
 * Else rates are differences over the frames before and after, which shrink the velocity of a motion at frequency f by sin x / x, x = 2 pi f dt, and
 * which show nothing of one above half the frames' rate. A natural mode counts with omega times half the range of its q, at its own frequency; other
 * columns with the frequency that second differences show; an object that turns with its angle from frame to frame. The basis needs frequencies.
 * A mode that follows a slow load without vibrating is counted as if it vibrated. */
modal_status modal_deform_check_rates(const modal_basis *basis, const modal_trajectory *trajectory, modal_error *err);

/* Rates of change at a frame: of q, and of its poses [n_objects, 3, 4] if it has some; either may be NULL. After modal_deform_check_rates. */
void modal_deform_rates(const modal_trajectory *trajectory, int64_t frame, double *q_rates, double *pose_rates);

#endif
