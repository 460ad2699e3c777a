/* SPDX-License-Identifier: Apache-2.0 */
/* The exact motion of one damped oscillator under a load that is linear in time:
 *
 *     q'' + d q' + k q = f0 + slope t,      d = 2 zeta omega >= 0,  k = omega^2 >= 0.
 *
 * With g(t) the response to a unit impulse, the state after a time h is
 *
 *     q(h)  = qq q + qv q' + step f0 + ramp slope      step = int_0^h g,  ramp = int_0^h step
 *     q'(h) = vq q + vv q' + qv   f0 + step slope      qv = g,  qq = g' + d g,  vq = -k g,  vv = g'
 *
 * Sources: N. C. Nigam and P. C. Jennings, Calculation of response spectra from strong-motion
 * earthquake records, Bulletin of the Seismological Society of America 59(2), 1969 (the transition
 * for piecewise-linear loads); A. K. Chopra, Dynamics of Structures, section 5.2 (the same, and the
 * overdamped case).
 *
 * The textbook formulas divide differences of nearly equal numbers by omega^2, by the damped
 * frequency, or by h. Here each coefficient comes from a form that does not: a power series where
 * omega h and d h / 2 are at most 1, differences of phi functions for a slow overdamped root,
 * sinc-like forms around critical damping, the phase of an oscillation with its rounding errors
 * carried along. Coefficients are accurate to some 1e-15 of their natural size (1 for qq and vv,
 * the envelope for qv, 1/k or smaller for step) for every k, d, h >= 0, including k = 0 (a free
 * particle), d = 0, zeta next to 1 and phases of 1e6 rad and more. */
#ifndef MODAL_OSCILLATORS_OSCILLATOR_H
#define MODAL_OSCILLATORS_OSCILLATOR_H

/* What of an oscillator does not depend on the time: set by modal_oscillator_set, not by hand. */
typedef struct modal_oscillator {
    double stiffness;    /* k = omega^2, 1/s^2 */
    double damping;      /* d = 2 zeta omega, 1/s */
    double half_damping; /* sigma = zeta omega, 1/s */
    double frequency;    /* sqrt(k), rad/s */
    int overdamped;      /* nonzero: two real roots */
    double root;         /* sqrt|sigma^2 - k|: the damped frequency, or half the roots' distance */
    double root_low;     /* what rounding took from root */
    double slow;         /* overdamped: the root next to 0, -k / (sigma + root) */
} modal_oscillator;

typedef struct modal_transition {
    double qq, qv, vq, vv; /* free motion; qv is the impulse response, too */
    double step;           /* response to a constant unit load, s^2 */
    double ramp;           /* response to the load t, s^3 */
} modal_transition;

/* Both arguments finite and >= 0 (asserted). */
void modal_oscillator_set(modal_oscillator *oscillator, double stiffness, double damping);

/* The transition over h >= 0, finite (asserted). h = 0 gives the identity. Pure, thread-safe. */
void modal_oscillator_transition(const modal_oscillator *oscillator, double h,
                                 modal_transition *transition);

/* The response to the load sin(w s + phase), from rest at s = 0, after s = h:
 *
 *     q(h)  = q[0] sin phase + q[1] cos phase,      q'(h) = v[0] sin phase + v[1] cos phase.
 *
 * w, rad/s, finite and >= 0 (asserted), at, near or far from resonance. With the roots r1, r2 of the
 * oscillator, q is the imaginary part of e^(i phase) h^2 exp[i w h, r1 h, r2 h], where exp[...] is the
 * divided difference of the exponential; it is taken over the two arguments that are furthest apart, or
 * from its power series where all are near each other, so that none of its digits cancel. Accurate to
 * some 1e-15 of its natural size for each rad of w h and omega h beyond 1. Sources: L. M. Milne-Thomson,
 * The Calculus of Finite Differences, 1933 (divided differences); A. C. McCurdy, K. C. Ng, B. N. Parlett,
 * Accurate computation of divided differences of the exponential function, 1984. */
void modal_oscillator_harmonic(const modal_oscillator *oscillator, double h, double w, double q[2],
                               double v[2]);

#endif
