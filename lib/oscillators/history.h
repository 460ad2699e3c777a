/* SPDX-License-Identifier: Apache-2.0 */
/* How far a row of oscillators goes under loads over time: the largest sums of squares, and no frames.
 *
 *     q_k'' + d_k q_k' + k_k q_k = constant_k + sum over inputs of load_k curve(t)
 *
 * Exact, as lib/oscillators/exact.h is, for loads that are straight lines between the keys of curves, sines and impulses; a sweep is taken for
 * straight lines, 20 in a period of its highest frequency. Looked at where curves have keys, and as often between them as is asked for: the
 * motion of one object's modes and of what they leave out, by which a verdict is found before the first step. */
#ifndef MODAL_OSCILLATORS_HISTORY_H
#define MODAL_OSCILLATORS_HISTORY_H

#include "lib/base/status.h"
#include "lib/model/scene.h"

typedef struct modal_history_input {
    const modal_curve *curve; /* borrowed; MODAL_CURVE_PULSE: load is the jump of q' */
    const double *load;       /* [n] per modal mass */
} modal_history_input;

typedef struct modal_history {
    int64_t n, n_kept;                         /* oscillators, and of those the first that are one part of two */
    const double *stiffness, *damping, *masses; /* [n] k, d, and the weights of squares */
    const double *constant;                    /* [n] */
    const double *q, *v;                       /* [n] at t = 0; NULL: 0 */
    int at_rest;                               /* nonzero: q is at first in equilibrium under the loads at t = 0, beside that */
    int64_t n_inputs;
    const modal_history_input *inputs;
    double duration; /* s, >= 0 */
    int64_t n_looks; /* within it, at least */
} modal_history;

/* The largest sums of masses q^2 over time. */
typedef struct modal_history_squares {
    double kept, left, all; /* of [0, n_kept), of the others, of all */
    int known;              /* 0: a sweep has so many periods that it was not followed; the rest is 0 then */
} modal_history_squares;

/* MODAL_ERROR_MEMORY. */
modal_status modal_history_measure(const modal_history *history, modal_history_squares *squares, modal_error *err);

#endif
