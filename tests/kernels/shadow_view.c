/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/shadow_view/shadow_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"
#include "tests/kernels/harness.h"

static double row(const float r[4], const float origin[3], const float *p)
{
    double sum = (double)r[3];
    for (int k = 0; k < 3; k++) sum += (double)r[k] * ((double)p[k] - (double)origin[k]);
    return sum;
}

static void check(harness *h, int64_t n, double spread, double offset, int odd)
{
    modal_error err = {0};
    harness_case(h, "%lld points, spread %g at %g%s", (long long)n, spread, offset, odd ? ", one not finite" : "");
    float *points = harness_alloc(3 * n, sizeof *points);
    for (int64_t i = 0; i < 3 * n; i++) points[i] = (float)(offset + spread * harness_random(h) * (double)(1 + i % 3));
    if (odd) points[3 * (n / 2) + 1] = n % 2 ? NAN : INFINITY;
    modal_raster_view *view = NULL, got, want;
    harness_output *scratch = harness_new_output(h, MODAL_SHADOW_VIEW_SCRATCH, 0, NULL);
    harness_ok(h, modal_device_alloc(h->device, &view, 1, sizeof *view, "view", &err), &err);
    const float a = 0.48f, b = 0.6f, c = 0.64f; /* a^2 + b^2 + c^2 = 1 */
    modal_shadow_view_task task = {.n_points = n, .points = harness_input(h, points, 12 * n, 0), .along = {a, b, c}, .size = 256, .margin = 5,
                                   .view = view, .scratch = scratch->device};
    const double side = sqrt((double)a * (double)a + (double)b * (double)b);
    task.right[0] = (float)((double)b / side), task.right[1] = (float)(-(double)a / side);
    task.up[0] = (float)((double)a * (double)c / side), task.up[1] = (float)((double)b * (double)c / side), task.up[2] = (float)-side;
    harness_ok(h, h->kernels->shadow_view(&task, h->stream, &err), &err);
    harness_ok(h, modal_device_copy_out(h->device, &got, view, sizeof got, h->stream, &err), &err);
    harness_fetch(h);
    modal_device_free(h->device, &view);
    modal_shadow_view_task here = task;
    here.points = points, here.view = &want;
    harness_ok(h, modal_shadow_view_ref(&here, NULL, &err), &err);
    if (memcmp(&got, &want, sizeof got) != 0) harness_fail(h, "not the reference's bytes");
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < n; i++) {
        const float *p = points + 3 * i, *rows[3] = {got.x, got.y, got.depth};
        if (!isfinite(p[1])) continue;
        for (int k = 0; k < 3; k++) {
            const double at = row(rows[k], got.origin, p);
            low[k] = fmin(low[k], at), high[k] = fmax(high[k], at);
        }
    }
    if (n < 2) {
        h->n_values++;
        free(points);
        return;
    }
    /* the larger side fills the map, the other has its middle in the middle, depths fill [1/2, 1]; rounding is that of float32 positions */
    const double rounding = 1e-6 * (1.0 + fabs(offset) / spread), fills = fmax(high[0] - low[0], high[1] - low[1]);
    harness_compare(h, "side", 0, (float)fills, 246.0, 246.0 * rounding);
    for (int k = 0; k < 2; k++) harness_compare(h, "middle", k, (float)(0.5 * (low[k] + high[k])), 128.0, 256.0 * rounding);
    harness_compare(h, "depth", 0, (float)low[2], 0.5, rounding);
    harness_compare(h, "depth", 1, (float)high[2], 1.0, rounding);
    free(points);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 255, 1000, 100003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int k = 0; k < 3; k++) check(h, sizes[i], k == 1 ? 1e-3 : 2.0, k == 2 ? 50.0 : 0.0, k == 1 && sizes[i] > 4);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "shadow_view", run); }
