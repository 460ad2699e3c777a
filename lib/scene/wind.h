/* SPDX-License-Identifier: Apache-2.0 */
/* The air of a scene: a mean wind and turbulence. */
#ifndef MODAL_SCENE_WIND_H
#define MODAL_SCENE_WIND_H

#include "lib/model/air.h"
#include "lib/model/scene.h"

/* Turbulence as a sum of plane waves of random directions that the mean wind carries along: each
 * amplitude is across its wave (no divergence), lengths go from the scale down to an eighth of it, and
 * energies fall with the power 5/3 of the wave number, in octaves. R. H. Kraichnan, Diffusion by a Random
 * Velocity Field, 1970. */
void modal_wind_air(const modal_wind *wind, modal_step_air *air);

#endif
