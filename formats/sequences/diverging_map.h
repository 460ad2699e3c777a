/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_FORMATS_DIVERGING_MAP_H
#define MODAL_FORMATS_DIVERGING_MAP_H

#include <stdint.h>

/* 256 colours, sRGB, from a dark blue over near white to a dark red, of the same lightness at the same distance from the
 * middle: steps are even in the OKLab space (B. Ottosson, A perceptual color space for image processing, 2020). The map
 * of modalview's page (colour.js). */
void modal_diverging_map(uint8_t map[256][3]);

/* The entry for a value: the middle is (0) and the ends -range and range, beyond which it stays. range > 0; finite. */
static inline int modal_diverging_entry(double value, double range)
{
    const double t = 127.5 * (1.0 + value / range);
    return t >= 255.0 ? 255 : t > 0.0 ? (int)(t + 0.5) : 0;
}

#endif
