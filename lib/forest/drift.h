/* SPDX-License-Identifier: Apache-2.0 */
/* What the errors of steps add up to, mode by mode.
 *
 * The rules of second order turn an oscillator of frequency w in a step of length h by 2 atan(h w / 2) instead of h w, and keep its
 * amplitude A = |(q''/w^2, q'/w)|, in which a load that is followed slowly has no part (T. J. R.
 * Hughes, The Finite Element Method, 1987, chapter 9). So a mode's place is off by A (h w - 2 atan(h w / 2)) more after a step, until
 * damping has taken that, and never by more than twice the largest amplitude: what errors of stiff modes add up to has this
 * bound, and loads that modes only follow have none. Frequencies are those of small motions, of a small tree as a whole
 * (small_motion.h), else of each object by itself; against motions with a thirty-second of the step it is 0.4 to 3 times the error of fixed
 * objects, up to 10 of larger trees (docs/results/trust.md). The frame of a free root adds h^2 / 12 times the changes of its accelerations. */
#ifndef MODAL_FOREST_DRIFT_H
#define MODAL_FOREST_DRIFT_H

#include "lib/forest/forest.h"

typedef struct modal_drift modal_drift;

/* Numbers that are kept from frame to frame, for checkpoints: of each coordinate how far it is off, and its largest amplitude, kg^1/2 m;
 * of each object six accelerations of its frame, and how far that is off. */
static inline int64_t modal_drift_numbers(int64_t n_coordinates, int64_t n_objects) { return 2 * n_coordinates + 7 * n_objects; }

/* Steps of length h. forest, basis and bodies [objects] are borrowed. */
modal_status modal_drift_new(modal_drift **drift, const modal_forest *forest, const modal_basis *basis, const modal_body *bodies,
                             double h, modal_error *err);
modal_drift *modal_drift_delete(modal_drift *drift); /* returns NULL; NULL is fine */

/* A tree has made n_steps, each of them divided by 2^level. */
void modal_drift_steps(modal_drift *drift, int32_t tree, int32_t level, int64_t n_steps);

/* A frame is at `state`, of which v, a, poses and measures are read: goes on with `kept` [modal_drift_numbers], zeros at first, and
 * makes squares [trees] kg m^2 of how far trees are off, in the norm of the mass. */
void modal_drift_frame(modal_drift *drift, const modal_forest_state *state, double *kept, double *squares);

#endif
