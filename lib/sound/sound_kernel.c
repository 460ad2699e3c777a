/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sound/sound_kernel.h"

#include "lib/base/memory.h"

static const double PI = 3.14159265358979323846;
static const double DECIBELS = 80;

/* The modified Bessel function of the first kind, order 0, by its power series. */
static double bessel(double x)
{
    double sum = 1, term = 1;
    for (int k = 1; term > 1e-17 * sum; k++) {
        term *= x * x / (4.0 * k * k);
        sum += term;
    }
    return sum;
}

/* (x / sin x)^2, x = pi f, less what the window adds to it: a product with a window is a convolution of the spectrum,
 * whose first term is half the window's variance (in frequency) times the second derivative. */
static double undo(double f, double variance)
{
    const double h = 1e-3;
    double c[3];
    for (int i = 0; i < 3; i++) {
        const double x = PI * (f + (i - 1) * h);
        c[i] = x == 0 ? 1 : x / sin(x) * (x / sin(x));
    }
    return c[1] - variance / 2 * (c[0] - 2 * c[1] + c[2]) / (h * h);
}

/* Integral of 1 or of undo(f) times cos(2 pi f u) over |f| < cut, the second by Simpson's rule. */
static double ideal(double cut, double u, int differences, double variance)
{
    if (!differences) return u == 0 ? 2 * cut : sin(2 * PI * cut * u) / (PI * u);
    const int n = 2 * (16 + (int)(8 * cut * fabs(u))); /* 16 points a period */
    double sum = 0;
    for (int i = 0; i <= n; i++) {
        const double f = cut * i / n;
        sum += (i == 0 || i == n ? 1 : i % 2 ? 4 : 2) * undo(f, variance) * cos(2 * PI * f * u);
    }
    return 2 * sum * cut / (3.0 * n);
}

modal_status modal_sound_kernel_init(modal_sound_kernel *k, double pass, double stop, int differences, modal_error *err)
{
    enum { ENTRIES = 400 }; /* a period of the highest frequency: linear interpolation is then right to 3e-5 */
    const double cut = (pass + stop) / 2, beta = 0.1102 * (DECIBELS - 8.7);
    modal_status status = MODAL_OK;
    *k = (modal_sound_kernel){.half = (DECIBELS - 7.95) / (14.36 * (stop - pass)) / 2, .per_step = ENTRIES * cut};
    k->n = (int64_t)ceil(k->half * k->per_step);
    /* -w''(0) / (4 pi^2) of the window w = I0(beta sqrt(1 - (u / half)^2)) / I0(beta); I1 / I0 is 1 - 1 / (2 beta) */
    const double variance = (beta - 0.5) / (k->half * k->half) / (4 * PI * PI);
    MODAL_TRY(modal_alloc(&k->values, k->n + 2, sizeof *k->values, "interpolation", err));
    for (int64_t i = 0; i < k->n + 2; i++) {
        const double u = (double)i / k->per_step, w = u / k->half;
        k->values[i] = w < 1 ? ideal(cut, u, differences, variance) * bessel(beta * sqrt(1 - w * w)) / bessel(beta) : 0;
    }
done:
    return status;
}

void modal_sound_kernel_free(modal_sound_kernel *kernel)
{
    modal_free(&kernel->values);
}
