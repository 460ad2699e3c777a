/* SPDX-License-Identifier: Apache-2.0 */
/* Of `render`: PNG of its picture beside libpng's level 1 (png_times.h). */
#include <math.h>
#include <stdio.h>

#include "tests/bench/bench.h"
#include "tests/bench/opponents/libpng.h"
#include "tests/bench/png_times.h"

modal_status bench_png(modal_bench *b, const uint8_t *picture, int width, int height, modal_error *err)
{
    png_times times[PNG_WAYS] = {0};
    char title[80];
    if (!opponents_png_version()) {
        bench_absent(b, "PNG by libpng", "built without it");
        return MODAL_OK;
    }
    snprintf(title, sizeof title, "PNG of %d x %d, 8 bits", width, height);
    bench_table(b, "render, PNG", title);
    modal_status status = png_times_measure(picture, width, height, b->runs < PNG_RUNS ? b->runs : PNG_RUNS, times, err);
    for (int way = 0; status == MODAL_OK && way < PNG_WAYS; way++) {
        const png_times *t = &times[way];
        const bench_row row = {.name = t->name, .ours = way == 0, .hidden = 1, .side = &b->cpu, .n_columns = 1, .n_objects = 1,
                               .held_bytes = (double)t->length, .time = {t->median, t->least, t->most, b->runs, 1, t->median},
                               .error = t->right ? 0.0 : INFINITY, .tolerance = "libpng reads the picture"};
        status = bench_row_add(b, &row, err);
        if (way == 0) b->ours = t->median;
        bench_print(b, "cpu  %s%-44s %9.3f ms, %.2f MB", way == 0 ? "* " : "  ", row.name, 1e3 * t->median, 1e-6 * (double)t->length);
        bench_print(b, way == 0 ? "\n" : " %6.2f x ours\n", t->median / b->ours);
    }
    return status;
}
