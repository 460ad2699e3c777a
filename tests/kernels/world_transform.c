/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "kernels/world_transform/world_transform.h"
#include "tests/kernels/scene.h"

enum { SEPARATE, IN_PLACE, DISPLACEMENT_IN_PLACE, POSITIONS_ONLY, N_MODES };

static void check(harness *h, int64_t n, int64_t columns, int mode, int shift)
{
    scene s;
    modal_error err = {0};
    const int64_t count = columns * n * 3;
    harness_case(h, "n %lld, %lld columns, variant %d, shift %d", (long long)n, (long long)columns,
                 mode, shift);
    scene_new(&s, h, n, 0, columns);
    float *u = harness_alloc(count, sizeof *u);
    for (int64_t i = 0; i < count; i++) u[i] = (float)harness_random(h);
    harness_output *x[2], *d[2];
    for (int i = 0; i < 2; i++) {
        x[i] = harness_new_output(h, count, shift, mode == IN_PLACE ? u : NULL);
        d[i] = harness_new_output(h, count, shift, mode == DISPLACEMENT_IN_PLACE ? u : NULL);
        const modal_world_transform_task task = {
            .n_vertices = n,
            .n_columns = columns,
            .rest_tiles = harness_input(h, s.rest_tiles, s.n_tiles * 96 * 4, shift * 4),
            .u = mode == IN_PLACE                ? x[i]->device
                 : mode == DISPLACEMENT_IN_PLACE ? d[i]->device
                                                 : harness_input(h, u, count * 4, shift * 4),
            .poses = harness_input(h, s.poses, columns * 48, shift * 4),
            .positions = x[i]->device,
            .displacement = mode == POSITIONS_ONLY ? NULL : d[i]->device};
        harness_ok(h, h->kernels->world_transform(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "second run, positions", x[0], x[1]);
    harness_same(h, "second run, displacement", d[0], d[1]);
    for (int64_t c = 0; c < columns; c++)
        for (int64_t v = 0; v < n; v++)
            for (int i = 0; i < 3; i++) {
                const float *t = s.poses + 12 * c + 4 * i;
                const int64_t index = (c * n + v) * 3 + i;
                double want = t[3], want_d = 0.0, size = fabs((double)t[3]), size_d = 0.0;
                for (int j = 0; j < 3; j++) {
                    const double rest = s.rest[v * 3 + j], uj = u[(c * n + v) * 3 + j];
                    want += (double)t[j] * (rest + uj);
                    want_d += (double)t[j] * uj;
                    size += fabs((double)t[j]) * (fabs(rest) + fabs(uj));
                    size_d += fabs((double)t[j] * uj);
                }
                harness_compare(h, "position", index, x[0]->host[index], want,
                                h->is_reference ? harness_rounding(want) + size * 1e-12
                                                : harness_gamma(7) * size + 1e-40);
                if (mode == POSITIONS_ONLY) {
                    if (!isnan(d[0]->host[index]))
                        harness_fail(h, "displacement was written without being asked for");
                } else {
                    harness_compare(h, "displacement", index, d[0]->host[index], want_d,
                                    h->is_reference ? harness_rounding(want_d) + size_d * 1e-12
                                                    : harness_gamma(6) * size_d + 1e-40);
                }
            }
    free(u);
    scene_free(&s);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 997, 100003};
    static const int64_t columns[] = {0, 1, 2, 7, 64};
    const int64_t limit = h->quick ? 20000 : 1000000;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            for (int mode = 0; mode < N_MODES; mode++)
                if (sizes[i] * columns[k] <= limit)
                    check(h, sizes[i], columns[k], mode, (int)(i + k) % 2);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "world_transform", run); }
