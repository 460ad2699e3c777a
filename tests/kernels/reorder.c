/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/harness.h"

/* Columns go to frames of n + 5 points, from point 3 on; the points around stay untouched. */
enum { STORED, GATHERED, SCATTERED };

static void check(harness *h, int64_t n, int64_t columns, int order, int shift,
                  int width)
{
    modal_error err = {0};
    const int64_t frame = n + 5;
    harness_case(h, "n %lld, %lld columns, order %d, shift %d, width %d", (long long)n,
                 (long long)columns, order, shift, width);
    float *in = harness_alloc(columns * n * width, sizeof *in);
    int32_t *source = harness_alloc(n, sizeof *source);
    int64_t *base = harness_alloc(columns, sizeof *base);
    for (int64_t i = 0; i < columns * n * width; i++) in[i] = (float)harness_random(h);
    for (int64_t i = 0; i < n; i++) source[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0; i--) { /* Fisher-Yates */
        const int64_t j = (int64_t)((harness_random(h) + 1.0) / 2.0 * (double)(i + 1));
        const int32_t kept = source[i];
        source[i] = source[j];
        source[j] = kept;
    }
    for (int64_t c = 0; c < columns; c++) base[c] = (columns - 1 - c) * frame + 3; /* last first */
    harness_output *out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = harness_new_output(h, columns * frame * width, shift, NULL);
        const modal_reorder_task task = {
            .n_vertices = n,
            .n_columns = columns,
            .width = width,
            .in = harness_input(h, in, columns * n * width * 4, shift * 4),
            .source = order == GATHERED ? harness_input(h, source, n * 4, shift * 4) : NULL,
            .target = order == SCATTERED ? harness_input(h, source, n * 4, shift * 4) : NULL,
            .base = harness_input(h, base, columns * 8, shift * 8),
            .out = out[i]->device};
        harness_ok(h, h->device.kernels->reorder(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "second run", out[0], out[1]);
    for (int64_t c = 0; c < columns; c++)
        for (int64_t i = -3; i < n + 2; i++)
            for (int j = 0; j < width; j++) {
                const int64_t to = order == SCATTERED && i >= 0 && i < n ? source[i] : i;
                const int64_t index = (base[c] + to) * width + j;
                const float got = out[0]->host[index];
                if (i < 0 || i >= n) {
                    if (!isnan(got)) harness_fail(h, "a point of another object was written");
                    continue;
                }
                const int64_t from = order == GATHERED ? source[i] : i;
                harness_compare(h, "out", index, got, in[(c * n + from) * width + j], 0.0);
            }
    free(in);
    free(source);
    free(base);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 997, 100003};
    static const int64_t columns[] = {0, 1, 2, 7, 64};
    const int64_t limit = h->quick ? 20000 : 1000000;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            for (int order = STORED; order <= SCATTERED; order++)
                if (sizes[i] * columns[k] <= limit)
                    check(h, sizes[i], columns[k], order, (int)(i + k) % 2, 3 + (int)i % 2);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "reorder", run); }
