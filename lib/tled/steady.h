/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic relaxation: to the state in which a solid comes to rest, in the fewest steps (G. R. Joldes, A. Wittek, K. Miller, An
 * adaptive dynamic relaxation method for solving nonlinear finite element problems. Application to brain shift estimation,
 * 2011). The way there is not the physical one: masses are chosen so that every node has the same bound of its frequency,
 * the step is 1 and 0.9 of the critical one, and the damping is the critical one of the lowest frequency, which is estimated
 * by Rayleigh's quotient of the way w from look to look: lambda = w.(M (a_before - a_now)) / w.(M w), a = M^-1 (R - F).
 *
 * If an element is inverted (J <= 0), the relaxation returns to the state of the last look, and continues from rest there with half the
 * step: masses are four times as large and loads rise half as fast in each step. It does so MODAL_TLED_STEADY_HALVINGS times at most. */
#ifndef MODAL_TLED_STEADY_H
#define MODAL_TLED_STEADY_H

#include "lib/tled/critical.h"
#include "lib/tled/motion.h"

enum { MODAL_TLED_STEADY_HALVINGS = 8, MODAL_TLED_STEADY_LONGER = 4 };

typedef struct modal_tled_steady {
    int64_t steps;
    double error;   /* m, the estimate rho / (1 - rho) of the largest way since the look before (the thesis' rule, (3.2), over as
                       many steps, so that rounding of single steps does not count); at least that way, where ways do not fall so */
    double radius;  /* rho: what errors fall by from look to look, that of the lowest frequency */
    double lowest;  /* of the frequencies' squares, in steps */
    int64_t converged, remassed; /* 1 where it is; how often masses had to grow as elements became stiffer */
    int64_t shrunk;              /* how often the step was halved because an element was inverted */
} modal_tled_steady;

/* Gives the model masses for steps of 1 about displacements u (the solid's order); its own become `weights`. Prony terms are as
 * after a long time. Before modal_tled_motion_new, whose kernel_step is to be 1. */
modal_status modal_tled_steady_masses(modal_tled_model *model, modal_tled_forces *forces, const double *u, modal_error *err);

/* How far, and what a relaxation goes on from, beside the motion's state. keep, where it is not NULL, is told after every look. `from`,
 * where it is not NULL, is what it was told once, and the motion's state is that of then: the relaxation goes on to the same bytes. */
typedef struct modal_tled_steady_plan {
    int64_t most; /* steps, if the step is not halved; MODAL_TLED_STEADY_LONGER times as many in any case */
    void *context;
    modal_status (*keep)(void *context, const void *state, modal_error *err);
    const void *from;
} modal_tled_steady_plan;

/* Of what is kept. */
int64_t modal_tled_steady_bytes(const modal_tled_model *model);

/* Until the estimated error is scene->accuracy of the largest displacement, twice in a row, or scene->duration or plan->most is over. Loads are those
 * of the motion's time; the error is looked at once they have the values that they keep until scene->duration. The motion `follows`. As
 * modal_tled_motion_advance; MODAL_ERROR_NOT_CONVERGED where an element is still inverted after all halvings. result: always set. */
modal_status modal_tled_steady_run(modal_tled_motion *motion, modal_tled_model *model, modal_tled_forces *forces,
                                   const modal_tled_steady_plan *plan, const modal_progress *progress, int64_t *element,
                                   modal_tled_steady *result, modal_error *err);

#endif
