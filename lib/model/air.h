/* SPDX-License-Identifier: Apache-2.0 */
/* Air that moves: a mean wind and waves of turbulence. SI units. */
#ifndef MODAL_MODEL_AIR_H
#define MODAL_MODEL_AIR_H

#include <stdint.h>

enum { MODAL_STEP_WAVES = 16 };
/* Velocity of the air: mean + sum of amplitude sin(wave . x - frequency t + phase). */
typedef struct modal_step_air {
    double mean[3];
    int32_t n_waves;
    double amplitude[MODAL_STEP_WAVES][3], wave[MODAL_STEP_WAVES][3];
    double frequency[MODAL_STEP_WAVES], phase[MODAL_STEP_WAVES];
} modal_step_air;

#endif
