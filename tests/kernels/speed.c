/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "kernels/device.h"
#include "kernels/speed/speed.h"
#include "tests/kernels/harness.h"

enum { STORED, GATHERED, SCATTERED };

/* Columns go to frames of n + 5 points, from point 3 on; the points around stay untouched. odd: a value that makes the
 * last point of the first column infinite, or 0. */
static void check(harness *h, int64_t n, int64_t columns, int order, int shift, int with_b, float odd)
{
    modal_error err = {0};
    const int64_t frame = n + 5, n_floats = 3 * columns * n;
    harness_case(h, "n %lld, %lld columns, order %d, shift %d, %s, %g", (long long)n, (long long)columns, order, shift,
                 with_b ? "two parts" : "one part", (double)odd);
    float *a = harness_alloc(n_floats, sizeof *a), *b = harness_alloc(n_floats, sizeof *b);
    int32_t *places = harness_alloc(n, sizeof *places), *flag = NULL;
    int64_t *base = harness_alloc(columns, sizeof *base);
    for (int64_t i = 0; i < n_floats; i++) {
        a[i] = (float)(100 * harness_random(h));
        b[i] = with_b ? (float)harness_random(h) : 0.0f;
    }
    if (odd != 0 && n > 0 && columns > 0) a[3 * n - 1] = odd;
    for (int64_t i = 0; i < n; i++) places[i] = (int32_t)((i * 7 + 3) % n); /* n is no multiple of 7 */
    for (int64_t c = 0; c < columns; c++) base[c] = (columns - 1 - c) * frame + 3;
    harness_ok(h, modal_device_alloc_host(h->device, &flag, 1, sizeof *flag, "flag", &err), &err);
    *flag = 0;
    harness_output *out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = harness_new_output(h, columns * frame, shift, NULL);
        const modal_speed_task task = {
            .n_vertices = n, .n_columns = columns,
            .a = harness_input(h, a, n_floats * 4, shift * 4),
            .b = with_b ? harness_input(h, b, n_floats * 4, shift * 4) : NULL,
            .source = order == GATHERED ? harness_input(h, places, n * 4, shift * 4) : NULL,
            .target = order == SCATTERED ? harness_input(h, places, n * 4, shift * 4) : NULL,
            .base = harness_input(h, base, columns * 8, shift * 8),
            .speed = out[i]->device, .nonfinite = i == 0 ? flag : NULL};
        harness_ok(h, h->kernels->speed(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "second run", out[0], out[1]);
    if (n > 0 && columns > 0 && *flag != (odd != 0)) harness_fail(h, "the flag is %d", (int)*flag);
    for (int64_t c = 0; c < columns; c++) {
        for (int64_t i = 0; i < n; i++) {
            const int64_t from = 3 * (c * n + (order == GATHERED ? places[i] : i));
            const int64_t to = base[c] + (order == SCATTERED ? places[i] : i);
            const float x = a[from] + b[from], y = a[from + 1] + b[from + 1], z = a[from + 2] + b[from + 2];
            const double exact = sqrt((double)x * x + (double)y * y + (double)z * z);
            if (isfinite((float)exact) && odd == 0)
                harness_compare(h, "speed", to, out[0]->host[to], exact, harness_gamma(3) * exact);
        }
        for (int64_t i = -3; i < n + 2; i++)
            if ((i < 0 || i >= n) && !isnan(out[0]->host[base[c] + i])) harness_fail(h, "a point of another object was written");
    }
    modal_device_free_host(h->device, &flag);
    free(a), free(b), free(places), free(base);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 1024, 1025, 5003, 60001};
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++)
        for (int order = STORED; order <= SCATTERED; order++) {
            if (h->quick && sizes[i] > 6000) continue;
            check(h, sizes[i], 1, order, 0, 1, 0);
            check(h, sizes[i], 5, order, 1, i % 2, 0);
        }
    check(h, 1000, 3, GATHERED, 0, 1, 3e19f); /* its square does not fit */
    check(h, 1000, 3, STORED, 0, 0, INFINITY);
    check(h, 1000, 3, SCATTERED, 0, 1, -INFINITY);
    check(h, 1000, 0, STORED, 0, 1, 0);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "speed", run); }
