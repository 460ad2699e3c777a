/* SPDX-License-Identifier: Apache-2.0 */
/* Of `render`: PNG of its picture beside libpng's level 1, one thread, in turns; processor time. Both are read back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/images/png_write.h"
#include "lib/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/opponents/libpng.h"

enum { WAYS = 2 };

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

modal_status bench_png(modal_bench *b, const uint8_t *picture, int width, int height, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *ours = NULL, *theirs = NULL;
    int64_t length[WAYS] = {0};
    double seconds[WAYS][BENCH_RUNS], start;
    char title[80];
    const size_t room = 5 * (size_t)width * (size_t)height + 4096;
    if (!opponents_png_version()) {
        bench_absent(b, "PNG by libpng", "built without it");
        return MODAL_OK;
    }
    snprintf(title, sizeof title, "PNG of %d x %d, 8 bits", width, height);
    bench_table(b, "render, PNG", title);
    MODAL_TRY(modal_alloc(&theirs, (int64_t)room, 1, "PNG", err));
    memset(theirs, 0, room); /* so that pages are there */
    for (int i = -1; i < b->runs; i++) {
        modal_free(&ours);
        start = processor();
        MODAL_TRY(modal_png_encode(picture, 8, width, height, &ours, &length[0], err));
        if (i >= 0) seconds[0][i] = processor() - start;
        start = processor();
        length[1] = (int64_t)opponents_png_encode(picture, width, height, theirs, room);
        if (i >= 0) seconds[1][i] = processor() - start;
    }
    for (int way = 0; way < WAYS; way++) {
        double *s = seconds[way];
        qsort(s, (size_t)b->runs, sizeof *s, ascending);
        const int right = opponents_png_shows(way == 0 ? ours : theirs, (size_t)length[way], picture, width, height);
        const bench_row row = {.name = way == 0 ? modal_png_library() : opponents_png_version(), .ours = way == 0, .hidden = 1, .side = &b->cpu,
                               .n_columns = 1, .n_objects = 1, .held_bytes = (double)length[way],
                               .time = {s[b->runs / 2], s[0], s[b->runs - 1], b->runs, 1, s[b->runs / 2]},
                               .error = right ? 0.0 : INFINITY, .tolerance = "libpng reads the picture"};
        MODAL_TRY(bench_row_add(b, &row, err));
        if (way == 0) b->ours = s[b->runs / 2];
        bench_print(b, "cpu  %s%-44s %9.3f ms, %.2f MB", way == 0 ? "* " : "  ", row.name, 1e3 * s[b->runs / 2], 1e-6 * (double)length[way]);
        bench_print(b, way == 0 ? "\n" : " %6.2f x ours\n", s[b->runs / 2] / b->ours);
    }
done:
    modal_free(&ours), modal_free(&theirs);
    return status;
}
