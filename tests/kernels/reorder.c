/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/reorder/reorder.h"
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
        harness_ok(h, h->kernels->reorder(&task, h->stream, &err), &err);
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

/* The check: one value that is not finite at every place in turn, and none where values do not count. */
enum { AROUND = 16 };

typedef struct flagged {
    harness *h;
    modal_reorder_task task;
    float *host, *device; /* [AROUND + columns n width + AROUND], NaN around */
    int64_t n_floats;
    int32_t *flag; /* in pinned main memory, as the deformer has it */
} flagged;

static int run_flagged(flagged *t, int32_t before)
{
    modal_error err = {0};
    const modal_device *device = t->h->device;
    *t->flag = before;
    harness_ok(t->h, device->kernels->reorder(&t->task, t->h->stream, &err), &err);
    harness_ok(t->h, modal_device_stream_wait(device, t->h->stream, &err), &err);
    t->h->n_values++;
    return *t->flag;
}

static int with_value(flagged *t, int64_t place, float value)
{
    modal_error err = {0};
    const modal_device *device = t->h->device;
    const float kept = t->host[AROUND + place];
    t->host[AROUND + place] = value;
    harness_ok(t->h, modal_device_copy_in(device, t->device + AROUND + place, t->host + AROUND + place, 4,
                                          t->h->stream, &err), &err);
    const int flag = run_flagged(t, 0);
    t->host[AROUND + place] = kept;
    harness_ok(t->h, modal_device_copy_in(device, t->device + AROUND + place, t->host + AROUND + place, 4,
                                          t->h->stream, &err), &err);
    harness_ok(t->h, modal_device_stream_wait(device, t->h->stream, &err), &err);
    return flag;
}

static void check_flag(harness *h, int64_t n, int64_t columns, int order, int width, int64_t step)
{
    static const uint32_t odd[] = {0x7f800000, 0xff800000, 0x7fc00000, 0xffffffff, 0x7f800001, 0xffa00000};
    static const uint32_t even[] = {0x7f7fffff, 0xff7fffff, 0x00000001, 0x80000000, 0x7f000000, 0x807fffff};
    modal_error err = {0};
    harness_case(h, "flag, n %lld, %lld columns, order %d, width %d", (long long)n, (long long)columns, order,
                 width);
    flagged t = {.h = h, .n_floats = columns * n * width};
    t.host = harness_alloc(t.n_floats + 2 * AROUND, sizeof *t.host);
    int32_t *places = harness_alloc(n, sizeof *places);
    int64_t *base = harness_alloc(columns, sizeof *base);
    for (int64_t i = 0; i < t.n_floats + 2 * AROUND; i++)
        t.host[i] = i < AROUND || i >= AROUND + t.n_floats ? NAN : (float)harness_random(h);
    for (int64_t i = 0; i < n; i++) places[i] = (int32_t)(n - 1 - i);
    for (int64_t c = 0; c < columns; c++) base[c] = c * n;
    t.device = (float *)(uintptr_t)harness_input(h, t.host, (t.n_floats + 2 * AROUND) * 4, 0);
    t.task = (modal_reorder_task){
        .n_vertices = n, .n_columns = columns, .width = width, .in = t.device + AROUND,
        .source = order == GATHERED ? harness_input(h, places, n * 4, 0) : NULL,
        .target = order == SCATTERED ? harness_input(h, places, n * 4, 0) : NULL,
        .base = harness_input(h, base, columns * 8, 0),
        .out = harness_new_output(h, t.n_floats, 0, NULL)->device};
    harness_ok(h, modal_device_alloc_host(h->device, &t.flag, 1, sizeof *t.flag, "flag", &err), &err);
    t.task.nonfinite = t.flag;
    if (run_flagged(&t, 0) != 0) harness_fail(h, "the flag is set without a reason");
    if (run_flagged(&t, 7) != 7) harness_fail(h, "the flag of an earlier call is lost");
    for (int64_t i = 0; i < t.n_floats; i++) {
        float value;
        if (i % step != 0 && i != t.n_floats - 1) continue;
        memcpy(&value, odd + i % 6, 4);
        if (with_value(&t, i, value) != 1) harness_fail(h, "value %lld, %g, was not found", (long long)i, (double)value);
        memcpy(&value, even + i % 6, 4);
        if (with_value(&t, i, value) != 0) harness_fail(h, "value %lld, %g, is finite", (long long)i, (double)value);
    }
    modal_device_free_host(h->device, &t.flag);
    free(t.host);
    free(places);
    free(base);
}

static void check_flags(harness *h)
{
    for (int order = STORED; order <= SCATTERED; order++)
        for (int width = 3; width <= 4; width++) {
            check_flag(h, 1, 1, order, width, 1);
            check_flag(h, 33, 1, order, width, 1);
            check_flag(h, 35, 6, order, width, h->quick ? 37 : 1);
            check_flag(h, 2051, 2, order, width, h->quick ? 2003 : 251);
            check_flag(h, 30011, 5, order, width, 100003);
        }
}

static void run(harness *h)
{
    check_flags(h);
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
