/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/png_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/images/png_write.h"
#include "lib/base/memory.h"
#include "tests/bench/opponents/libpng.h"

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

modal_status png_times_measure(const uint8_t *picture, int width, int height, int runs, png_times times[PNG_WAYS], modal_error *err)
{
    static const char *const filters[PNG_WAYS] = {"", "no filter", "filter up", "its own choice"};
    modal_status status = MODAL_OK;
    modal_png_room held = {0};
    const uint8_t *ours = NULL;
    uint8_t *theirs = NULL;
    double seconds[PNG_WAYS][PNG_RUNS];
    const size_t room = 5 * (size_t)width * (size_t)height + 4096;
    if (!opponents_png_version()) return modal_error_set(err, MODAL_ERROR_SYSTEM, "built without libpng");
    MODAL_TRY(modal_alloc(&theirs, (int64_t)room, 1, "PNG", err));
    memset(theirs, 0, room); /* so that pages are there */
    for (int i = -1; i < runs; i++)
        for (int way = 0; way < PNG_WAYS; way++) {
            png_times *to = &times[way];
            const double start = processor();
            if (way == 0) MODAL_TRY(modal_png_encode(&held, &(modal_png_picture){picture, 8, 3, width, height}, &ours, &to->length, err));
            else to->length = (int64_t)opponents_png_encode(picture, width, height, OPPONENTS_PNG_NONE + way - 1, theirs, room);
            if (i >= 0) seconds[way][i] = processor() - start;
            if (i >= 0) continue;
            to->right = opponents_png_shows(way == 0 ? ours : theirs, (size_t)to->length, picture, width, height);
            snprintf(to->name, sizeof to->name, way ? "%s, %s" : "%s%s", way ? opponents_png_version() : modal_png_library(), filters[way]);
        }
    for (int way = 0; way < PNG_WAYS; way++) {
        double *s = seconds[way];
        qsort(s, (size_t)runs, sizeof *s, ascending);
        times[way].median = s[runs / 2], times[way].least = s[0], times[way].most = s[runs - 1];
    }
done:
    modal_png_free(&held), modal_free(&theirs);
    return status;
}
