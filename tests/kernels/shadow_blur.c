/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/shadow_blur/shadow_blur.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/harness.h"

static int clamp(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }

static void check(harness *h, int n, int radius)
{
    modal_error err = {0};
    harness_case(h, "%d x %d, radius %d", n, n, radius);
    const int64_t texels = (int64_t)n * n;
    float *depths = harness_alloc(texels, sizeof *depths);
    float *want = harness_alloc(2 * texels, sizeof *want), *between = harness_alloc(2 * texels, sizeof *between);
    double sum = 0.0;
    for (int64_t i = 0; i < texels; i++) depths[i] = harness_random(h) < 0.0 ? 0.0f : (float)(0.5 + 0.5 * harness_random(h));
    harness_output *moments = harness_new_output(h, 2 * texels, 0, NULL), *scratch = harness_new_output(h, 2 * texels, 0, NULL);
    modal_shadow_blur_task task = {.size = n, .radius = radius, .depths = harness_input(h, depths, texels * 4, 0), .moments = moments->device,
                                   .scratch = scratch->device};
    for (int i = 0; i <= 2 * radius; i++) sum += exp(-0.1 * (i - radius) * (i - radius));
    for (int i = 0; i <= 2 * radius; i++) task.weights[i] = (float)(exp(-0.1 * (i - radius) * (i - radius)) / sum);
    harness_ok(h, h->kernels->shadow_blur(&task, h->stream, &err), &err);
    harness_fetch(h);
    modal_shadow_blur_task here = task;
    here.depths = depths, here.moments = want, here.scratch = between;
    harness_ok(h, modal_shadow_blur_ref(&here, NULL, &err), &err);
    if (memcmp(want, moments->host, (size_t)texels * 8) != 0) harness_fail(h, "not the reference's bytes");
    const double tolerance = harness_gamma(4.0 * radius + 6.0);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            if (n > 100 && (x + y) % 7) continue;
            double right[2] = {0.0, 0.0};
            for (int j = -radius; j <= radius; j++)
                for (int i = -radius; i <= radius; i++) {
                    const double d = (double)depths[clamp(y + j, n) * n + clamp(x + i, n)];
                    const double w = (double)task.weights[i + radius] * (double)task.weights[j + radius];
                    right[0] += w * d, right[1] += w * d * d;
                }
            for (int k = 0; k < 2; k++)
                harness_compare(h, "moment", 2 * (y * n + x) + k, moments->host[2 * (y * n + x) + k], right[k], tolerance * right[k]);
        }
    free(depths), free(want), free(between);
}

static void run(harness *h)
{
    static const int sizes[] = {1, 7, 31, 32, 33, 65, 200};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int radius = 0; radius <= MODAL_SHADOW_RADIUS; radius += h->quick ? 8 : 4) check(h, sizes[i], radius);
    check(h, 40, 3);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "shadow_blur", run); }
