/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kernels/deform/deform.h"
#include "kernels/modal_sum/modal_sum.h"
#include "tests/kernels/scene.h"

static void compare(harness *h, const scene *s, const float *positions, const float *displacement)
{
    const double terms = scene_terms(h, s);
    double largest = 0.0, worst = 0.0;
    for (int64_t c = 0; c < s->columns; c++)
        for (int64_t v = 0; v < s->n; v++) {
            double u[3], magnitude[3];
            for (int j = 0; j < 3; j++) scene_sum(s, c, v, j, &u[j], &magnitude[j]);
            for (int i = 0; i < 3; i++) {
                const float *t = s->poses + 12 * c + 4 * i;
                const int64_t index = (c * s->n + v) * 3 + i;
                double x = t[3], d = 0.0, size_x = fabs((double)t[3]), size_d = 0.0;
                for (int j = 0; j < 3; j++) {
                    const double rest = s->rest[v * 3 + j], a = fabs((double)t[j]);
                    x += (double)t[j] * (rest + u[j]);
                    d += (double)t[j] * u[j];
                    size_x += a * (fabs(rest) + magnitude[j]);
                    size_d += a * magnitude[j];
                }
                const double extra = (s->r + 8) * 1e-40;
                harness_compare(h, "position", index, positions[index], x,
                                h->is_reference ? harness_rounding(x) + size_x * 1e-12
                                                : harness_gamma(terms + 7) * size_x + extra);
                if (!displacement) continue;
                harness_compare(h, "displacement", index, displacement[index], d,
                                h->is_reference ? harness_rounding(d) + size_d * 1e-12
                                                : harness_gamma(terms + 6) * size_d + extra);
                largest = fmax(largest, fabs(d));
                worst = fmax(worst, fabs((double)displacement[index] - d));
            }
        }
    if (displacement) scene_accurate(h, s, worst, largest);
}

static void check(harness *h, int64_t n, int32_t r, int64_t columns, int shift)
{
    scene s;
    modal_error err = {0};
    const int64_t count = columns * n * 3;
    harness_case(h, "n %lld, r %d, %lld columns, shift %d", (long long)n, r, (long long)columns,
                 shift);
    scene_new(&s, h, n, r, columns);
    harness_output *x[3] = {harness_new_output(h, count, shift, NULL),
                            harness_new_output(h, count, 0, NULL), NULL};
    harness_output *d[2] = {harness_new_output(h, count, shift, NULL), NULL};
    modal_deform_task task = {
        .n_vertices = n,
        .n_columns = columns,
        .n_modes = r,
        .modal_matrix = harness_input(h, s.tiles, s.n_tiles * 96 * r * 4, shift ? 16 : 0),
        .rest_tiles = harness_input(h, s.rest_tiles, s.n_tiles * 96 * 4, shift * 4),
        .q = harness_input(h, s.q, columns * r * 4, shift * 4),
        .poses = harness_input(h, s.poses, columns * 48, shift * 4)};
    const modal_deform_task all = task;
    task.positions = x[0]->device;
    task.displacement = d[0]->device;
    harness_ok(h, h->kernels->deform(&task, h->stream, &err), &err);
    task.positions = x[1]->device; /* again, without the second output */
    task.displacement = NULL;
    harness_ok(h, h->kernels->deform(&task, h->stream, &err), &err);
    if (columns > 1) { /* in parts: the same bytes */
        x[2] = harness_new_output(h, count, 0, NULL);
        d[1] = harness_new_output(h, count, 0, NULL);
        task.n_columns_total = columns;
        for (int64_t c = 0; c < columns; c += task.n_columns) {
            task.n_columns = scene_part(&s, c);
            task.q = all.q + c * r;
            task.poses = all.poses + 12 * c;
            task.positions = x[2]->device + c * n * 3;
            task.displacement = d[1]->device + c * n * 3;
            harness_ok(h, h->kernels->deform(&task, h->stream, &err), &err);
        }
    }
    harness_fetch(h);
    harness_same(h, "positions without displacement", x[0], x[1]);
    if (x[2]) harness_same(h, "positions, in parts", x[0], x[2]);
    if (d[1]) harness_same(h, "displacement, in parts", d[0], d[1]);
    compare(h, &s, x[0]->host, d[0]->host);
    scene_free(&s);
}

static void run(harness *h) { scene_products(h, check); }

int main(int argc, char **argv) { return harness_main(argc, argv, "deform", run); }
