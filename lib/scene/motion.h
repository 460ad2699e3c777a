/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that are prescribed, with their velocities and accelerations. */
#ifndef MODAL_SCENE_MOTION_H
#define MODAL_SCENE_MOTION_H

#include "lib/model/rigid_motion.h"
#include "lib/model/scene.h"

/* Turns about a fixed axis: `rest` [3, 4] at t = 0. */
void modal_motion_spin(const modal_scene_object *object, const double *rest, double time,
                       modal_step_pose *pose);

/* Cubic splines through the positions and through the quaternions of the keys, whose sum of squares is made 1
 * afterwards. The frame is still before the first key and after the last, and its velocity is continuous
 * there, too (clamped splines), so that all inertial forces are finite, and continuous but at the two ends;
 * at their times they are those of the motion. Quaternions follow the shorter way from key to key: keys
 * are to be less than half a turn apart. */
typedef struct modal_spline {
    int64_t n;
    double *times;  /* [n] */
    double *values; /* [n, 7] */
    double *bends;  /* [n, 7] second derivatives */
} modal_spline;

modal_status modal_spline_build(modal_spline *spline, int64_t n_keys, const double *keys,
                                modal_error *err);
void modal_spline_free(modal_spline *spline);
/* The frame at `time`, with the derivatives of the piece that the time `near` lies in. */
void modal_spline_pose(const modal_spline *spline, double time, double near, modal_step_pose *pose);

/* The line that component `axis` of p'' is over [a, b] between two keys, or before the first or after the
 * last: its values at both ends, limits from inside. */
void modal_spline_acceleration(const modal_spline *spline, double a, double b, int axis, double ends[2]);
/* Whether the frame moves without turning. */
int modal_spline_only_shifts(const modal_spline *spline);

/* R of a rotation vector, row-major. */
void modal_rotation_of(const double *vector, double *rotation);

#endif
