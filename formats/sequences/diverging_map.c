/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/sequences/diverging_map.h"

#include <math.h>

/* Linear sRGB of OKLab, out of 0..1 where a screen cannot show it. */
static void linear_of(double lightness, double a, double b, double rgb[3])
{
    const double l = pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3.0);
    const double m = pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3.0);
    const double s = pow(lightness - 0.0894841775 * a - 1.291485548 * b, 3.0);
    rgb[0] = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
    rgb[1] = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
    rgb[2] = -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s;
}

static uint8_t encode(double x)
{
    const double in = x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
    return (uint8_t)lround(255.0 * (in <= 0.0031308 ? 12.92 * in : 1.055 * pow(in, 1.0 / 2.4) - 0.055));
}

void modal_diverging_map(uint8_t map[256][3])
{
    for (int i = 0; i < 256; i++) {
        const double t = fabs(2.0 * i / 255.0 - 1.0), hue = (i < 128 ? 255.0 : 30.0) * M_PI / 180.0;
        double rgb[3];
        int shown = 0;
        /* the most colourful one that a screen can show */
        for (int step = 0; !shown; step++) {
            const double chroma = 0.17 * t - 0.001 * step;
            linear_of(0.95 - 0.5 * t, chroma * cos(hue), chroma * sin(hue), rgb);
            shown = 1;
            for (int k = 0; k < 3; k++) shown &= rgb[k] >= -1e-4 && rgb[k] <= 1.0001;
        }
        for (int k = 0; k < 3; k++) map[i][k] = encode(rgb[k]);
    }
}
