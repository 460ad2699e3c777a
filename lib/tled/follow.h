/* SPDX-License-Identifier: Apache-2.0 */
/* A motion whose step is watched. The critical step falls where elements are squeezed. Every few steps `stiffest` of
 * kernels/tled_step, which costs less than a step, says how far it can have fallen: it is sqrt(k / stiffest), where k was
 * found by Lanczos's iteration at the last look. Where that comes near to the step, the iteration is done again. A step that
 * is automatic then becomes shorter, and the motion goes on from the last state that was found good: nothing that was
 * computed with a step above the limit stays. A step that was given ends the motion. */
#ifndef MODAL_TLED_FOLLOW_H
#define MODAL_TLED_FOLLOW_H

#include "lib/tled/critical.h"
#include "lib/tled/motion.h"

/* Told about: limit, the critical step that was found, s (0: an element was turned); step, that of now on; time, s, and steps
 * done where it went on from. */
typedef struct modal_tled_change {
    double time, limit, step;
    int64_t steps;
} modal_tled_change;

/* What of it a checkpoint keeps; numbers of 8 bytes alone. */
typedef struct modal_tled_followed {
    double level;       /* 1/s^2: at a stiffest above it the limit is looked at */
    double last;        /* the stiffest of the last check */
    double least_limit; /* s, the least critical step that was found */
    int64_t interval;   /* steps to the next check */
    int64_t looked;     /* steps that were done at the last look */
    int64_t n_shrunk;   /* times that the step has fallen */
    int64_t turned;     /* times in a row that elements were turned */
} modal_tled_followed;

typedef struct modal_tled_follow {
    modal_tled_motion *motion; /* borrowed, like the forces; with `follows` */
    modal_tled_forces *forces;
    int automatic, unsafe; /* the step may shrink; a step above the limit is only told about */
    void (*tell)(void *context, const modal_tled_change *change);
    void *context;
    double first_step; /* s; a step of less than a thousandth of it ends the motion */
    modal_tled_followed at;
} modal_tled_follow;

/* Begins, at rest, whose critical step the caller has; motion and forces are set by the caller, and may be where a checkpoint
 * has left them: then `at` is to be set after it. */
modal_status modal_tled_follow_begin(modal_tled_follow *follow, const modal_tled_critical *rest, modal_error *err);

/* Steps until n are done, or fewer: after the step has shrunk, so that the caller can count anew. Elements are turned and steps
 * are too long as modal_tled_motion_advance says; `element` then is of the mesh. With an automatic step, a motion in which an element
 * is turned is done again with half the step, three times in a row at most. */
modal_status modal_tled_follow_advance(modal_tled_follow *follow, int64_t n, const modal_progress *progress, int64_t *element,
                                       modal_error *err);

#endif
