/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/oscillators/oscillator.h"

#include <assert.h>
#include <complex.h>
#include <math.h>

#ifndef CMPLX /* glibc has it for GCC only */
#define CMPLX(real, imaginary) __builtin_complex((double)(real), (double)(imaginary))
#endif

enum { SERIES_TERMS = 40 }; /* the last one is below 2^40 / 40! = 1e-36 */

/* sigma^2 - k as high + low: near critical damping and for long times the last bits of the root
 * matter, because the phase is the root times the time. */
static double discriminant(double sigma, double k, double *low)
{
    double square = sigma * sigma;
    double square_low = fma(sigma, sigma, -square);
    double high = square - k;
    double back = high - square;
    *low = (square - (high - back)) - (k + back) + square_low;
    double sum = high + *low;
    *low -= sum - high;
    return sum;
}

void modal_oscillator_set(modal_oscillator *o, double stiffness, double damping)
{
    assert(stiffness >= 0 && isfinite(stiffness) && damping >= 0 && isfinite(damping));
    double low, high;
    o->stiffness = stiffness;
    o->damping = damping;
    o->half_damping = 0.5 * damping;
    o->frequency = sqrt(stiffness);
    /* Past 1e150 squares overflow; there the root is sigma to the last bit unless k is as huge,
     * and hypot-like scaling serves both. */
    if (o->half_damping > 1e150) {
        high = (o->half_damping - o->frequency) * (o->half_damping + o->frequency);
        low = 0;
        if (!isfinite(high)) {
            double ratio = o->frequency / o->half_damping;
            o->overdamped = ratio <= 1;
            o->root = o->half_damping * sqrt(fabs((1 - ratio) * (1 + ratio)));
            o->root_low = 0;
            o->slow = -o->frequency * (o->frequency / (o->half_damping + o->root));
            return;
        }
    } else {
        high = discriminant(o->half_damping, stiffness, &low);
    }
    o->overdamped = high > 0;
    if (high < 0) {
        high = -high;
        low = -low;
    }
    o->root = sqrt(high);
    o->root_low = o->root > 0 ? (fma(-o->root, o->root, high) + low) / (2 * o->root) : 0;
    if (!isfinite(o->root_low)) o->root_low = 0;
    o->slow = o->overdamped ? -stiffness / (o->half_damping + o->root) : 0;
}

/* sin(x) / x */
static double sinc(double x, double sine) { return x == 0 ? 1 : sine / x; }

/* (e^z - 1) / z */
static double phi1(double z) { return z == 0 ? 1 : expm1(z) / z; }

/* (e^z - 1 - z) / z^2, for z <= 0 */
static double phi2(double z)
{
    if (z <= -1) return (phi1(z) - 1) / z;
    double term = 0.5, sum = 0.5;
    for (int n = 3; n < SERIES_TERMS && fabs(term) > 1e-18; n++) {
        term *= z / n;
        sum += term;
    }
    return sum;
}

/* The impulse response in powers of t / h: y'' + a y' + b y = 0, y(0) = 0, y'(0) = 1 with a <= 2,
 * b <= 1, so that the terms fall like 2^n / n! from the start. */
static void by_series(const modal_oscillator *o, double h, modal_transition *t)
{
    double a = o->damping * h, b = (o->frequency * h) * (o->frequency * h);
    double before = 0, term = 1; /* coefficients of t^(n-1) and t^n */
    double impulse = 1, rate = 1, step = 0.5, ramp = 1.0 / 6;
    for (int n = 1; n < SERIES_TERMS; n++) {
        double next = -(a * n * term + b * before) / ((n + 1.0) * n);
        impulse += next;
        rate += (n + 1) * next;
        step += next / (n + 2);
        ramp += next / ((n + 2.0) * (n + 3.0));
        before = term;
        term = next;
        if (fabs(term) * (n + 1) < 1e-18 && fabs(before) * n < 1e-18) break;
    }
    t->qv = h * impulse;
    t->vv = rate;
    t->step = h * h * step;
    t->ramp = h * h * h * ramp;
    /* 1 - k step is g' + d g without the cancellation of the two for a particle in a thick fluid */
    t->qq = 1 - b * step;
    t->vq = -o->stiffness * t->qv;
}

void modal_oscillator_transition(const modal_oscillator *o, double h, modal_transition *t)
{
    assert(h >= 0 && isfinite(h));
    const double k = o->stiffness;
    const double decay = o->half_damping * h;
    if (decay <= 1 && o->frequency * h <= 1) {
        by_series(o, h, t);
        return;
    }
    if (!o->overdamped) {
        /* E e^(i root h); the rounding errors of root and of the product go into a correction of
         * the phase, which is small enough for one term of its series. */
        double phase = o->root * h;
        double low = fma(o->root, h, -phase) + o->root_low * h;
        double envelope = exp(-decay), s0 = sin(phase), c0 = cos(phase);
        double s_low = low, c_low = 1;
        if (!(fabs(low) < 1e-8)) {
            s_low = sin(low);
            c_low = cos(low);
        }
        double s = s0 * c_low + c0 * s_low, c = c0 * c_low - s0 * s_low;
        t->qv = envelope * h * sinc(phase, s);
        double drag = o->half_damping * t->qv;
        t->qq = envelope * c + drag;
        t->vv = envelope * c - drag;
    } else {
        /* roots slow and slow - 2 root, both <= 0: only decaying exponentials, and the difference
         * of the two through expm1. */
        double distance = 2 * o->root * h;
        double e_slow = exp(o->slow * h);
        double e_fast = exp(-(decay + o->root * h));
        t->qv = e_slow * h * phi1(-distance);
        t->qq = e_slow - o->slow * t->qv;
        t->vv = e_fast + o->slow * t->qv;
        if (o->slow * h > -0.5) {
            /* k step = 1 - qq would cancel; the fast root is below -1.5 here, well apart */
            double z = o->slow * h, z_fast = -(decay + o->root * h);
            t->step = h * (h / distance) * (phi1(z) - phi1(z_fast));
            t->ramp = h * (h * (h / distance) * (phi2(z) - phi2(z_fast)));
            t->vq = -k * t->qv;
            return;
        }
    }
    t->vq = -k * t->qv;
    t->step = (1 - t->qq) / k;
    t->ramp = (h - o->damping * t->step - t->qv) / k;
}

/* (e^a - e^b) / (a - b), real parts <= 0 */
static double complex difference(double complex a, double complex b)
{
    const double complex half = 0.5 * (a - b);
    if (cabs(half) > 0.5) return (cexp(a) - cexp(b)) / (a - b);
    double complex term = 1, sum = 1; /* sinh(x) / x */
    for (int n = 2; n < SERIES_TERMS && cabs(term) > 1e-18; n += 2) {
        term *= half * half / (n * (n + 1.0));
        sum += term;
    }
    return cexp(0.5 * (a + b)) * sum;
}

/* The second divided difference of exp at z[0], z[1], z[2]. */
static double complex second_difference(const double complex z[3])
{
    int low = 0, high = 1; /* the two furthest apart */
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 3; j++)
            if (cabs(z[i] - z[j]) > cabs(z[low] - z[high])) {
                low = i;
                high = j;
            }
    const int other = 3 - low - high;
    if (cabs(z[low] - z[high]) > 1)
        return (difference(z[low], z[other]) - difference(z[other], z[high])) / (z[low] - z[high]);
    /* e^mean sum of h_n / (n + 2)!, h_n the complete symmetric polynomials of the distances to the mean */
    const double complex mean = (z[0] + z[1] + z[2]) / 3;
    double complex one = 1, two = 1, three = 1, sum = 0.5; /* h_n of one, two, three of them */
    double factor = 0.5;
    for (int n = 1; n < SERIES_TERMS && factor > 1e-18; n++) {
        factor /= n + 2;
        one *= z[0] - mean;
        two = one + (z[1] - mean) * two;
        three = two + (z[2] - mean) * three;
        sum += factor * three;
    }
    return cexp(mean) * sum;
}

void modal_oscillator_harmonic(const modal_oscillator *o, double h, double w, double q[2], double v[2])
{
    assert(h >= 0 && isfinite(h) && w >= 0 && isfinite(w));
    const double fast = -(o->half_damping + o->root);
    const double complex roots[2] = {
        o->overdamped ? o->slow : CMPLX(-o->half_damping, o->root),
        o->overdamped ? fast : CMPLX(-o->half_damping, -o->root)};
    const double complex z[3] = {CMPLX(0, w * h), h * roots[0], h * roots[1]};
    const double complex way = h * h * second_difference(z);
    modal_transition t;
    modal_oscillator_transition(o, h, &t);
    const double complex rate = t.qv + CMPLX(0, w) * way; /* d/dh of the convolution, by parts */
    q[0] = creal(way);
    q[1] = cimag(way);
    v[0] = creal(rate);
    v[1] = cimag(rate);
}
