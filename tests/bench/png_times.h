/* SPDX-License-Identifier: Apache-2.0 */
/* PNG of one picture beside libpng's level 1 without a filter, with the filter "up" and with those it chooses itself: one thread, in turns. */
#ifndef MODAL_TESTS_PNG_TIMES_H
#define MODAL_TESTS_PNG_TIMES_H

#include <stdint.h>

#include "lib/base/status.h"

enum { PNG_WAYS = 4, PNG_RUNS = 15 };

typedef struct png_times {
    char name[48];                /* of the library, and the filter */
    double median, least, most;   /* processor seconds */
    int64_t length;               /* bytes of the file */
    int right;                    /* libpng reads the picture's numbers from it */
} png_times;

/* The first way is ours. picture: [height, width, 4], of 8 bits. runs: up to PNG_RUNS, after one that is not counted. MODAL_ERROR_SYSTEM where libpng is
 * not built in, MODAL_ERROR_MEMORY. */
modal_status png_times_measure(const uint8_t *picture, int width, int height, int runs, png_times times[PNG_WAYS], modal_error *err);

#endif
