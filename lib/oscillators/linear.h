/* SPDX-License-Identifier: Apache-2.0 */
/* Linear modal dynamics: every reduced coordinate is a damped oscillator of its own,
 *
 *     q'' + 2 zeta omega q' + omega^2 q = f(t),
 *
 * driven by loads that are linear in time between events. The state goes from event to event by the
 * exact transition (lib/oscillators/oscillator.h), and a frame is the exact motion from the event
 * before it: a frame never feeds back into the motion, so there is no time-step error, nothing
 * accumulates from frame to frame, and the frame rate does not change the motion.
 *
 * Loads, in world axes; g and a are turned into an object's own axes by its rest pose (R^T g):
 *   gravity            uniform acceleration g, m/s^2, always there:     f = participation . g
 *   base acceleration  a(t), m/s^2, of the support: q is relative to the support, so
 *                      f = -participation . a(t). Linear between samples; 0 before the first and
 *                      after the last (the record is all the motion that the support makes), so
 *                      a record whose ends are not 0 jumps there. Samples before t = 0 only define
 *                      the line that is in progress at t = 0.
 *   impulse            J in N s at a vertex: a jump of the modal velocity by U_v^T J. At t = 0 it
 *                      acts right after frame 0.
 * where f and the jumps are divided by the modal mass. Motion starts at t = 0, at rest unless
 * `initial` or `start_static` says otherwise. */
#ifndef MODAL_OSCILLATORS_LINEAR_H
#define MODAL_OSCILLATORS_LINEAR_H

#include <stdint.h>

#include "lib/base/progress.h"
#include "lib/base/status.h"

typedef struct modal_linear_shape {
    int32_t n_modes;
    const double *stiffness;     /* [n_modes] omega^2 >= 0; 0: a free particle */
    const double *damping;       /* [n_modes] 2 zeta omega >= 0, 1/s */
    const double *modal_masses;  /* [n_modes] > 0, or NULL: all 1 */
    const double *participation; /* [n_modes, 3] phi^T M e */
} modal_linear_shape;

typedef struct modal_linear_object {
    int32_t shape;
    const double *rest_pose; /* [3, 4] row-major [R p], or NULL: the world's axes */
} modal_linear_object;

typedef struct modal_linear_impulse {
    double time; /* s, in [0, times[n_frames - 1]) */
    int32_t object;
    const double *jump; /* [n_modes of the object] added to the modal velocity */
} modal_linear_impulse;

typedef struct modal_linear_problem {
    int32_t n_shapes;
    const modal_linear_shape *shapes;
    int32_t n_objects;
    const modal_linear_object *objects; /* object i owns the coordinates after those of i - 1 */
    double gravity[3];
    int64_t n_samples;          /* 0, or at least 2 */
    const double *sample_times; /* [n_samples] s, strictly increasing */
    const double *samples;      /* [n_samples, 3] a, m/s^2 */
    int64_t n_impulses;
    const modal_linear_impulse *impulses; /* in any order */
    const double *initial;                /* [total modes] q(0), or NULL: 0 */
    int start_static; /* nonzero: q(0) is the equilibrium under gravity and a(0), plus `initial` */
} modal_linear_problem;

/* Evaluates the motion at times [n_frames] (>= 0, strictly increasing, n_frames >= 1).
 * q: [n_frames, total modes]. velocity: the same size, or NULL; at the time of an impulse it is the
 * velocity before it. No argument may alias another. Everything is borrowed.
 * Errors: MODAL_ERROR_USAGE for values outside the ranges above, an impulse at or after the last
 * frame (it would be lost without a trace), no static equilibrium (stiffness 0 under a load);
 * MODAL_ERROR_INPUT when the motion leaves the range of float64; memory; interruption through
 * progress, which may be NULL. After an error q and velocity are undefined. Thread-safe. */
modal_status modal_linear_simulate(const modal_linear_problem *problem, int64_t n_frames,
                                   const double *times, double *q, double *velocity,
                                   const modal_progress *progress, modal_error *err);

/* The same at times i / fps, in memory that does not grow with their number: `row` gets every frame, and its
 * status ends the run. */
typedef modal_status modal_linear_row(void *context, int64_t frame, double time, const double *q,
                                      modal_error *err);
modal_status modal_linear_stream(const modal_linear_problem *problem, int64_t n_frames, double fps,
                                 modal_linear_row *row, void *context, const modal_progress *progress,
                                 modal_error *err);

/* The number of frames at t = i / fps, i = 0 .. floor(duration fps + 1e-9), for duration >= 0 and
 * fps > 0, both finite; -1 where there are more than 2^31. */
int64_t modal_linear_frame_count(double duration, double fps);

#endif
