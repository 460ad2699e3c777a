/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "tests/kernels/scene.h"

static void check(harness *h, int64_t n, int64_t columns, int shift, int64_t n_objects)
{
    scene s;
    modal_error err = {0};
    harness_case(h, "n %lld, %lld columns, shift %d, %lld objects", (long long)n, (long long)columns, shift,
                 (long long)n_objects);
    scene_new(&s, h, n, 0, columns * n_objects);
    int32_t *objects = harness_alloc(n, sizeof *objects);
    for (int64_t v = 0; v < n; v++) objects[v] = (int32_t)((v / 40 + v / 7) % n_objects);
    float *rest = harness_alloc(4 * n, sizeof *rest);
    for (int64_t v = 0; v < n; v++) { /* every tenth zero */
        for (int i = 0; i < 3; i++) rest[4 * v + i] = v % 10 == 9 ? 0.0f : (float)harness_random(h);
        rest[4 * v + 3] = v % 10 == 9 ? 0.0f : v % 3 ? 1.0f : -1.0f;
    }
    harness_output *out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = harness_new_output(h, columns * n * 4, shift, NULL);
        const modal_tangents_rigid_task task = {
            .n_vertices = n,
            .n_columns = columns,
            .rest_tangents = harness_input(h, rest, n * 16, shift * 4),
            .objects = n_objects > 1 ? harness_input(h, objects, n * 4, shift * 4) : NULL,
            .n_objects = n_objects,
            .frames = harness_input(h, s.frames, columns * n_objects * 48, shift * 4),
            .tangents = out[i]->device};
        harness_ok(h, h->device.kernels->tangents_rigid(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "second run", out[0], out[1]);
    for (int64_t c = 0; c < columns; c++)
        for (int64_t v = 0; v < n; v++) {
            const float *got = out[0]->host + 4 * (c * n + v);
            for (int i = 0; i < 3; i++) {
                double want = 0.0, size = 0.0;
                for (int j = 0; j < 3; j++) {
                    const double term =
                        (double)s.frames[12 * (c * n_objects + objects[v]) + 4 * i + j] * (double)rest[4 * v + j];
                    want += term;
                    size += fabs(term);
                }
                harness_compare(h, "tangent", 4 * (c * n + v) + i, got[i], want,
                                h->is_reference ? harness_rounding(want) + size * 1e-12
                                                : harness_gamma(4) * size);
            }
            harness_compare(h, "handedness", v, got[3], rest[4 * v + 3], 0.0);
        }
    free(rest);
    scene_free(&s);
    free(objects);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 997, 100003};
    static const int64_t columns[] = {0, 1, 2, 7, 9, 64};
    const int64_t limit = h->quick ? 20000 : 1000000;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            if (sizes[i] * columns[k] <= limit) check(h, sizes[i], columns[k], (int)(i + k) % 2, (i + k) % 3 ? 1 : 5);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "tangents_rigid", run); }
