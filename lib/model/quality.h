/* SPDX-License-Identifier: Apache-2.0 */
/* How far a frame of a motion may be trusted, in numbers. Plain data: lib/forest measures it, files hold it. */
#ifndef MODAL_MODEL_QUALITY_H
#define MODAL_MODEL_QUALITY_H

#include <math.h>
#include <string.h>

/* One frame. Every member is a double, so that an array [n_frames] of these is one of float64 [n_frames,
 * MODAL_QUALITY_NUMBERS]. NaN: not measured, or there is nothing of that kind in the scene. Numbers of objects and
 * elements count from 0. Of several objects (trees of objects for the balance and the step's error) the worst. What
 * concerns steps is of those since the frame before, and at t = 0 NaN or 0. */
typedef struct modal_quality {
    double energy_balance;  /* size of kinetic + elastic + dissipated - external energy, less what it was at t = 0, over
                               the work done so far (lib/forest/judge.h) */
    double step_error;      /* the largest local error of a step over the way moved so far (lib/forest/judge.h) */
    double halvings;        /* judgements and failures of Newton's method that made steps shorter */
    double newton_residual; /* the largest of the last step's residuals, relative */
    double least_jacobian;  /* the least det F */
    double least_jacobian_object, least_jacobian_element;
    double residual;        /* what of the full model's residual M u'' + f(u) - g the basis cannot balance, over the size of
                               the forces */
    double residual_object;
    double rotation;        /* of objects whose model is linear: the largest rotation, degrees */
    double rotation_object;
    double strain;          /* and the largest principal strain by size, dimensionless */
    double strain_object;
} modal_quality;

enum { MODAL_QUALITY_NUMBERS = (int)(sizeof(modal_quality) / sizeof(double)) };

/* Their names, in the order of the members. */
#define MODAL_QUALITY_NAMES                                                                                           \
    {"energy_balance", "step_error", "halvings", "newton_residual", "least_jacobian", "least_jacobian_object",        \
     "least_jacobian_element", "residual", "residual_object", "rotation", "rotation_object", "strain", "strain_object"}

/* Nothing is measured. */
static inline modal_quality modal_quality_none(void)
{
    double values[MODAL_QUALITY_NUMBERS];
    modal_quality q;
    for (int i = 0; i < MODAL_QUALITY_NUMBERS; i++) values[i] = NAN;
    memcpy(&q, values, sizeof q);
    return q;
}

#endif
