/* SPDX-License-Identifier: Apache-2.0 */
/* What an oscillator must do, in long double and by formulas that the library does not use. Include
 * cmocka.h before. */
#ifndef TESTS_UNIT_OSCILLATOR_REFERENCE_H
#define TESTS_UNIT_OSCILLATOR_REFERENCE_H

#include <math.h>
#include <string.h>

/* Written so that NaN fails. */
static inline void check_close(double got, long double wanted, long double tolerance, const char *what)
{
    if (fabsl((long double)got - wanted) <= tolerance) return;
    print_error("%s: %.17g, wanted %.17Lg, error %.3Lg > %.3Lg\n", what, got, wanted,
                fabsl((long double)got - wanted), tolerance);
    fail();
}

/* exp of the system (q, q', f0, slope) over a unit time: a = d h, b = k h^2; Taylor, scaled and
 * squared. */
static inline void exponential(long double a, long double b, long double e[4][4])
{
    const long double system[4][4] = {{0, 1, 0, 0}, {-b, -a, 1, 0}, {0, 0, 0, 1}, {0, 0, 0, 0}};
    int squarings = 4;
    for (long double norm = 1 + a + b; norm > 1; norm /= 2) squarings++;
    long double term[4][4] = {{0}}, next[4][4];
    /* e holds exp - 1 while it is squared, (1 + x)^2 - 1 = 2 x + x^2: no digits are lost to the 1 */
    memset(e, 0, 16 * sizeof(long double));
    for (int i = 0; i < 4; i++) term[i][i] = 1;
    for (int n = 1; n < 24; n++) {
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                next[i][j] = 0;
                for (int k = 0; k < 4; k++)
                    next[i][j] += ldexpl(system[i][k], -squarings) * term[k][j] / n;
            }
        memcpy(term, next, sizeof term);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) e[i][j] += term[i][j];
    }
    for (int s = 0; s < squarings; s++) {
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                next[i][j] = 2 * e[i][j];
                for (int k = 0; k < 4; k++) next[i][j] += e[i][k] * e[k][j];
            }
        memcpy(e, next, sizeof next);
    }
    for (int i = 0; i < 4; i++) e[i][i] += 1;
}

/* Textbook closed forms, fit where omega t is not small and zeta not next to 1. */
typedef struct closed {
    long double impulse, rate, step, ramp;
} closed;

static inline closed closed_form(long double k, long double d, long double t)
{
    long double sigma = d / 2, w2 = k - sigma * sigma;
    closed r;
    if (w2 > 0) {
        long double wd = sqrtl(w2), e = expl(-sigma * t);
        r.impulse = e * sinl(wd * t) / wd;
        r.rate = e * (cosl(wd * t) - sigma / wd * sinl(wd * t));
    } else if (w2 == 0) {
        r.impulse = t * expl(-sigma * t);
        r.rate = (1 - sigma * t) * expl(-sigma * t);
    } else {
        long double root = sqrtl(-w2), r1 = -k / (sigma + root), r2 = -(sigma + root);
        r.impulse = (expl(r1 * t) - expl(r2 * t)) / (r1 - r2);
        r.rate = (r1 * expl(r1 * t) - r2 * expl(r2 * t)) / (r1 - r2);
    }
    r.step = (1 - r.rate - d * r.impulse) / k;
    r.ramp = (t - d * r.step - r.impulse) / k;
    return r;
}

#endif
