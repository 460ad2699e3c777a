/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/scene/wind.h"

#include <math.h>
#include <string.h>

#include "lib/base/mix.h"

static double uniform(uint64_t seed, uint64_t index)
{
    return (double)(modal_mix(seed + (index + 1) * 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53;
}

void modal_wind_air(const modal_wind *wind, modal_step_air *air)
{
    const double turn = 2 * 3.14159265358979323846;
    double total = 0;
    memcpy(air->mean, wind->velocity, sizeof air->mean);
    if (!(wind->turbulence > 0)) return;
    air->n_waves = MODAL_STEP_WAVES;
    for (int32_t m = 0; m < MODAL_STEP_WAVES; m++) {
        double direction[2][3];
        for (int d = 0; d < 2; d++) {
            const double z = 2 * uniform(wind->seed, 8 * (uint64_t)m + 2 * (uint64_t)d) - 1;
            const double angle = turn * uniform(wind->seed, 8 * (uint64_t)m + 2 * (uint64_t)d + 1);
            direction[d][0] = sqrt(1 - z * z) * cos(angle);
            direction[d][1] = sqrt(1 - z * z) * sin(angle);
            direction[d][2] = z;
        }
        const double part = (double)m / (MODAL_STEP_WAVES - 1), length = wind->scale * pow(8, -part);
        const double size = pow(8, -part / 3); /* energy of an octave ~ k^(-2/3) */
        double *wave = air->wave[m], *amplitude = air->amplitude[m], speed = 0;
        const double *k = direction[0], *e = direction[1];
        for (int i = 0; i < 3; i++) {
            wave[i] = turn / length * k[i];
            amplitude[i] = size * (k[(i + 1) % 3] * e[(i + 2) % 3] - k[(i + 2) % 3] * e[(i + 1) % 3]);
            total += 0.5 * amplitude[i] * amplitude[i];
            speed += wave[i] * wind->velocity[i];
        }
        air->frequency[m] = speed + turn / length * wind->turbulence;
        air->phase[m] = turn * uniform(wind->seed, 8 * (uint64_t)m + 5);
    }
    const double scale = wind->turbulence * sqrt(3 / total);
    for (int32_t m = 0; m < MODAL_STEP_WAVES; m++)
        for (int i = 0; i < 3; i++) air->amplitude[m][i] *= scale;
}
