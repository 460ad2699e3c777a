/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/slow_motion.h"

#include <math.h>
#include <string.h>

modal_status tool_slow_motion(const tool_arguments *a, double *factor, modal_error *err)
{
    const char *text = tool_value(a, "slow-motion");
    *factor = 1;
    if (!text) return MODAL_OK;
    if (strcmp(text, "auto") != 0) return tool_number(a, "slow-motion", 1e-3, 1e9, factor, err);
    *factor = 0;
    return MODAL_OK;
}

/* Swings a second; 0: nothing moves. */
static double frequency_of(const modal_trajectory *t, int64_t start, int64_t step, int64_t n)
{
    const double pi = 3.14159265358979323846;
    const int64_t width = t->mode_offsets[t->n_objects];
    double rates = 0, squares = 0;
    for (int64_t k = 0; k < width; k++) {
        double mean = 0;
        for (int64_t f = 0; f < n; f++) mean += t->q[(start + f * step) * width + k] / (double)n;
        for (int64_t f = 0; f < n; f++) {
            const int64_t frame = start + f * step;
            const double q = t->q[frame * width + k];
            squares += (q - mean) * (q - mean);
            if (f == 0) continue;
            const double rate = (q - t->q[(frame - step) * width + k]) / (t->times[frame] - t->times[frame - step]);
            rates += rate * rate;
        }
    }
    return squares > 0 ? sqrt(rates / squares) / (2 * pi) : 0;
}

/* The least of 1, 2, 5, 10, 20 ... that is not less than `wanted`. */
static double step_up(double wanted)
{
    const double most = 1e9;
    double factor = 1;
    for (int i = 0; factor < wanted && factor < most; i++) factor *= i % 3 == 1 ? 2.5 : 2;
    return factor;
}

double tool_slow_motion_auto(const modal_trajectory *t, int64_t start, int64_t step, int64_t n)
{
    return step_up(frequency_of(t, start, step, n) / 2);
}

double tool_slow_motion_seen(const modal_trajectory *t, int64_t start, int64_t step, int64_t n)
{
    const double fast = 4, slow = 0.1, frequency = frequency_of(t, start, step, n);
    return frequency > fast ? step_up(frequency / 2) : frequency > 0 && frequency < slow ? fmax(1 / step_up(0.2 / frequency), 1e-3) : 1;
}
