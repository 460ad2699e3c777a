/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of total Lagrangian explicit dynamics of a whole solid (K. Miller, G. Joldes, D. Lance, A. Wittek, Total Lagrangian
 * explicit dynamics finite element algorithm for computing soft tissue deformation, 2007; Z. A. Taylor, M. Cheng,
 * S. Ourselin, High-speed nonlinear finite element analysis for surgical simulation using graphics processing units,
 * 2008): central differences in increments, lumped masses, damping alpha M. For every step n from `first` on, with
 * h = (before + step) / 2,
 *
 *   F   = sum of the elements' forces at u_n (tled_solid.h), R = loads and pressures at t_n, plus m gravity(t_n)
 *   d  <- [(1 - alpha h / 2) (step / before) d + step h (R - F) / m] / (1 + alpha h / 2)     (before = 0: d is not read)
 *   u  <- u + d;   prescribed components: u <- their value at t_(n+1), d <- the difference, rounded once;
 *   nodes that would be in a rigid body: u <- its surface, d <- the difference (tled_solid.h)
 *
 * `before` holds for every step of a task: the caller gives one step a task where it changes. before = 0 starts from
 * rest with the acceleration of t_0, to second order.
 *
 * Arithmetic: float32 (u and d are the floats nearest to u + low and d + its low, which Kahan's sums keep, so that small
 * increments, and small changes of increments, are not lost: in free fall u is within 4 eps after any number of steps up to
 * 2^24, where without the second one it is off by up to eps / 2 a step)
 * or float64 (low is NULL). The reference computes in float64 always and rounds what it stores.
 * F is of u alone, without low. Error of a step, eps that of the arithmetic: 64 eps (|d_old| step / before + gain / m s),
 * where s sums over the elements at the node V |grad N_a|_1 (mu + modulus) w (1 + w)^2, w = sum_a |u_a - u_0|_1 |grad N_a|_1,
 * the sizes of the products of hourglass control, of loads and of gravity.
 * Determinism: same bytes for any number of threads or blocks; no atomic sums; n steps at once are n tasks of one step.
 *
 * A turned element: where J <= 0 or J is not finite at u_n the task notes the first such step and in it the lowest element;
 * results from that step on mean nothing, and the task may return early. */
#ifndef MODAL_KERNELS_TLED_STEP_H
#define MODAL_KERNELS_TLED_STEP_H

#include "kernels/operations.h"
#include "kernels/tled_layout/tled_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct modal_tled_watch {
    int64_t step;    /* n, or -1: nothing happened; -1 before the first task */
    int64_t element; /* of the solid */
    double jacobian; /* J of it; NaN where it is not finite */
} modal_tled_watch;

/* Sums over steps, J. Each step adds, over all nodes, force times h / (2 step) (d_new + (step / before) d_old): with
 * kinetic energies at half steps this balances exactly for equal and unequal steps. */
typedef struct modal_tled_work {
    double loads;  /* of R */
    double held;   /* of the forces that hold prescribed components, m a + F - R + damping, and of those of bodies */
    double damped; /* of alpha m v, v = (d_new / step + d_old / before) / 2 */
    double inner;  /* of F: what elements store, and what their Prony terms lose */
} modal_tled_work;

/* With bodies and Prony terms: where a node is put is off by 4 eps of |X| + |u| in float64, of |u| alone in float32, and a
 * term adds 64 eps of its share to the error of the stress. */
/* Arrays are in the back end's memory; u and d are [n_nodes, 4], float or double, x y z and a fourth which is 0 at the
 * start and the back end's own affair; low is [n_nodes, 8], of u, then of d; aligned to 64 bytes. At rest all of
 * them are 0. What a run goes on from is these three arrays, byte by byte. */
struct modal_tled_step_task {
    const modal_tled_layout *layout; /* made by this back end's tled_layout; its scratch belongs to one task at a time */
    void *u, *low, *d;
    void *viscous;       /* [layout->viscous_bytes] the Prony terms' own affair, 0 at rest; part of what a run goes on from */
    double step, before; /* s */
    double alpha;        /* 1/s */
    int64_t first;       /* n of the first step */
    int64_t n_steps;     /* 0: none, for `stiffest` of the state at hand */
    const double *gravity; /* [n_steps, 3] m/s^2 at t_n, or NULL */
    const double *signals; /* [n_steps + 1, n_signals] at t_first .. t_(first + n_steps), or NULL where there are none */
    modal_tled_watch *watch; /* changed only where its step is -1 */
    modal_tled_work *work;   /* added to, or NULL */
    double *reactions;       /* [n_held, 3] N, of the last step, of prescribed components (0 of others), or NULL */
    double *stiffest;        /* 1/s^2 of the state after the last step, or NULL: max over nodes i of the sum of
                                stiffness_e modal_tled_measure over the elements at it / m_i, a bound of the square of the highest
                                frequency as far as the measure is one; infinite where it is not finite. Relative error 2^-13 in
                                float32, 2^-30 in float64. The solid has `stiffness` then; where an element is turned it may
                                be left as it was */
    double *touches;         /* [n_contacts, n_touching, 3] N, of the last step: what each body does to each node, or NULL */
};

/* Factors of a task: d <- keep d + gain (R - F) / m; displacement of the work is half (d_new + ratio d_old). lose: 1 - keep. */
typedef struct modal_tled_factors {
    double keep, gain, ratio, half, lose;
} modal_tled_factors;

static inline modal_tled_factors modal_tled_step_factors(double step, double before, double alpha)
{
    const double h = (step + before) / 2, ratio = before > 0 ? step / before : 0, below = 1 + alpha * h / 2;
    const modal_tled_factors factors = {(1 - alpha * h / 2) * ratio / below, step * h / below, ratio, h / (2 * step),
                                        1 - (1 - alpha * h / 2) * ratio / below};
    return factors;
}

#ifdef __cplusplus
}
#endif
#endif
