/* SPDX-License-Identifier: Apache-2.0 */
/* Times PNG of pictures that modalrender drew beside libpng's level 1 (png_times.h); prints JSON, of each picture a list of what was measured.
 *
 *   modalrender TRAJ - --format rgb --size WxH | png_bench W H
 *
 * Exit 1: a PNG does not show the picture. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/png_times.h"

int main(int argc, char **argv)
{
    const int width = argc == 3 ? atoi(argv[1]) : 0, height = argc == 3 ? atoi(argv[2]) : 0;
    const size_t pixels = width > 0 && height > 0 ? (size_t)width * (size_t)height : 0;
    uint8_t *picture = malloc(4 * pixels + 1), *rgb = malloc(3 * pixels + 1);
    int wrong = 0;
    if (pixels == 0 || !picture || !rgb) return fprintf(stderr, "usage: png_bench WIDTH HEIGHT < pictures as r g b\n"), 2;
    printf("[");
    for (int n = 0; fread(rgb, 3, pixels, stdin) == pixels; n++) {
        png_times times[PNG_WAYS] = {0};
        modal_error err = {0};
        for (size_t i = 0; i < 4 * pixels; i++) picture[i] = i % 4 == 3 ? 255 : rgb[i / 4 * 3 + i % 4];
        if (png_times_measure(picture, width, height, PNG_RUNS, times, &err) != MODAL_OK) return fprintf(stderr, "png_bench: %s\n", err.message), 4;
        printf("%s[", n ? ",\n" : "");
        for (int way = 0; way < PNG_WAYS; way++) {
            wrong |= !times[way].right;
            printf("%s{\"name\": \"%s\", \"ms\": %.4f, \"bytes\": %lld}", way ? ", " : "", times[way].name, 1e3 * times[way].median,
                   (long long)times[way].length);
        }
        printf("]");
    }
    printf("]\n");
    free(picture), free(rgb);
    return wrong;
}
