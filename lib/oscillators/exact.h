/* SPDX-License-Identifier: Apache-2.0 */
/* The exact motion of the linear objects of a scene whose frames do not turn: every mode is an oscillator,
 * stepped by kernels/linear_step with the coefficients of lib/oscillators/oscillator.h. Loads that do not
 * change, straight lines and sines are integrated exactly, whatever the step; an impulse is a jump of
 * velocity at its time. Steps are divided, for the object concerned only, where a load has a kink or a
 * jump. A sweep is taken for a straight line within each step.
 *
 * A frame that is moved without turning loads its object with -p'', which is a straight line between the
 * keys of a spline. */
#ifndef MODAL_OSCILLATORS_EXACT_H
#define MODAL_OSCILLATORS_EXACT_H

#include "kernels/operations.h"
#include "kernels/reduced_step/reduced_step.h"
#include "lib/model/basis.h"
#include "lib/model/scene.h"
#include "lib/scene/body.h"
#include "lib/scene/motion.h"

/* A load over time on one object: curve times `load` ([n_modes], per modal mass), or, where `spline` is
 * given, one component of its acceleration times `load`. A pulse is an impulse: `load` is the jump of q'. */
typedef struct modal_exact_input {
    int32_t object; /* of the basis */
    const modal_curve *curve;
    const modal_spline *spline;
    int axis;
    double *load; /* the caller's, copied */
} modal_exact_input;

typedef struct modal_exact_setup {
    const modal_body *bodies; /* [basis objects] those with `exact` are moved, in their frames */
    const modal_spline *splines; /* [basis objects] of the frames; n = 0: it stands still */
    double gravity[3], step;  /* step: s, of all whole steps */
    int64_t n_inputs;
    modal_exact_input *inputs; /* sorted here by object and address of the load */
    int anew; /* nonzero: every 16 steps the state is made anew from that at the last event, so that rounding errors do not add
                 up from step to step. For motions that nobody goes on from: a state between does not say where that was. No sweeps. */
} modal_exact_setup;

typedef struct modal_exact modal_exact;

/* q and v, in the device's memory and order of the basis, are borrowed: modal_forest_state. Objects: their
 * modes, participation and damping are copied; scene and splines are borrowed. */
modal_status modal_exact_new(modal_exact **exact, const modal_basis *basis, const modal_exact_setup *setup,
                             const modal_device *device, modal_stream *stream, double *q, double *v,
                             modal_error *err);
modal_exact *modal_exact_delete(modal_exact *exact);

/* Adds the equilibrium under the loads at t = 0 to q (main memory, all coordinates). MODAL_ERROR_INPUT
 * for a load on a mode without stiffness. */
modal_status modal_exact_static(const modal_exact *exact, double *q, modal_error *err);

/* A whole step, from `time` to `end`, which is the next one's time to the last bit. Events at the very end
 * are the next step's. Queued on the stream, but for the objects that have events. */
modal_status modal_exact_step(modal_exact *exact, double time, double end, modal_error *err);

/* At `time`, with q and v there (main memory): sets frames and measures of the exact objects, and leaves the
 * others'. Work from outside is what energy they gained or lost since the last call, which is exact.
 * MODAL_ERROR_NOT_CONVERGED where a motion is not finite. */
modal_status modal_exact_measure(modal_exact *exact, double time, const double *q, const double *v,
                                 modal_step_pose *poses, modal_step_measure *measures, modal_error *err);

/* Goes on from such a state; to be called once before the first step, with measures of 0. */
modal_status modal_exact_restore(modal_exact *exact, double time, const double *q, const double *v,
                                 const modal_step_measure *measures, modal_error *err);

#endif
