/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "kernels/modal_sum/modal_sum.h"
#include "tests/kernels/scene.h"

static void compare(harness *h, const scene *s, const float *positions, const float *displacement)
{
    const int splits =
        strncmp(h->device.name, "cuda", 4) == 0 && modal_sum_splits(s->r, s->columns, s->columns);
    const double terms = splits ? 3.0 * s->r + 32.0 : s->r + 1.0;
    double largest = 0.0, worst = 0.0;
    for (int64_t c = 0; c < s->columns; c++)
        for (int64_t v = 0; v < s->n; v++) {
            double u[3], magnitude[3];
            for (int j = 0; j < 3; j++) scene_sum(s, c, v, j, &u[j], &magnitude[j]);
            for (int i = 0; i < 3; i++) {
                const float *t = s->frames + 12 * c + 4 * i;
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
    /* float32-accurate as users mean it; few values have no representative largest one */
    if (s->n * s->columns >= 100 && !(worst <= 1e-6 * largest * sqrt((double)s->r)))
        harness_fail(h, "largest error %.3g, largest displacement %.3g", worst, largest);
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
        .frames = harness_input(h, s.frames, columns * 48, shift * 4)};
    const modal_deform_task all = task;
    task.positions = x[0]->device;
    task.displacement = d[0]->device;
    harness_ok(h, h->device.kernels->deform(&task, h->stream, &err), &err);
    task.positions = x[1]->device; /* again, without the second output */
    task.displacement = NULL;
    harness_ok(h, h->device.kernels->deform(&task, h->stream, &err), &err);
    if (n < 1000 && columns > 1) { /* one column at a time gives the same bytes */
        x[2] = harness_new_output(h, count, 0, NULL);
        d[1] = harness_new_output(h, count, 0, NULL);
        task.n_columns = 1;
        task.n_columns_total = columns;
        for (int64_t c = 0; c < columns; c++) {
            task.q = all.q + c * r;
            task.frames = all.frames + 12 * c;
            task.positions = x[2]->device + c * n * 3;
            task.displacement = d[1]->device + c * n * 3;
            harness_ok(h, h->device.kernels->deform(&task, h->stream, &err), &err);
        }
    }
    harness_fetch(h);
    harness_same(h, "positions without displacement", x[0], x[1]);
    if (x[2]) harness_same(h, "positions, columns alone", x[0], x[2]);
    if (d[1]) harness_same(h, "displacement, columns alone", d[0], d[1]);
    compare(h, &s, x[0]->host, d[0]->host);
    scene_free(&s);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 127, 257, 997, 100003};
    static const int32_t ranks[] = {0,  1,  2,  3,  4,  5,   8,   17,   24,
                                    31, 32, 33, 64, 65, 100, 256, 1000, 1030};
    static const int64_t columns[] = {0, 1, 2, 3, 5, 7, 8, 16, 17, 64, 130};
    const int64_t limit = h->quick ? 200000 : 3500000;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof ranks / sizeof *ranks; j++)
            for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
                if (sizes[i] * (ranks[j] + 1) * columns[k] <= limit &&
                    (!h->quick || (i + j + k) % 7 == 0)) /* quick: for the sanitizers */
                    check(h, sizes[i], ranks[j], columns[k], (int)((i + k) % 2));
    /* CUDA divides many columns of many vertices in other ways: columns that begin on a line or not */
    static const int64_t large[][3] = {{16448, 9, 65},   {16449, 3, 33},   {16452, 8, 130},
                                       {16448, 33, 130}, {16449, 33, 130}, {16448, 330, 65},
                                       {16448, 16, 20},  {16450, 64, 40},  {16448, 1030, 9}};
    const int all = !h->quick && strncmp(h->device.name, "cuda", 4) == 0;
    for (size_t i = 0; i < (all ? sizeof large / sizeof *large : 3); i++)
        check(h, large[i][0], (int32_t)large[i][1], large[i][2], 0);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "deform", run); }
