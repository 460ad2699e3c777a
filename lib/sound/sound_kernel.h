/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of band-limited interpolation, as tables. */
#ifndef MODAL_SOUND_KERNEL_H
#define MODAL_SOUND_KERNEL_H

#include <math.h>
#include <stdint.h>

#include "lib/base/status.h"

/* An even function of u, |u| < half, in steps of the input; 0 outside. */
typedef struct modal_sound_kernel {
    double half, per_step; /* table entries a step */
    int64_t n;
    double *values; /* [n + 2] at i / per_step */
} modal_sound_kernel;

/* A low pass: frequencies below `pass` (in periods a step of the input) go through, those above `stop` are 80 dB
 * down, by a Kaiser window (J. F. Kaiser, Nonrecursive digital filter design using the I0-sinh window function,
 * 1974). differences: frequencies f are multiplied with (pi f / sin pi f)^2, which makes second differences second
 * derivatives. 0 < pass < stop <= 0.6. The caller frees it. */
modal_status modal_sound_kernel_init(modal_sound_kernel *kernel, double pass, double stop, int differences,
                                     modal_error *err);
void modal_sound_kernel_free(modal_sound_kernel *kernel);

static inline double modal_sound_kernel_at(const modal_sound_kernel *kernel, double u)
{
    const double x = fabs(u) * kernel->per_step;
    if (!(x < (double)kernel->n)) return 0;
    const int64_t i = (int64_t)x;
    return kernel->values[i] + (x - (double)i) * (kernel->values[i + 1] - kernel->values[i]);
}

#endif
