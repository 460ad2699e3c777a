/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/kernels/scene.h"

static void check(harness *h, int64_t n, int32_t r, int64_t columns, int shift)
{
    scene s;
    modal_error err = {0};
    harness_case(h, "n %lld, r %d, %lld columns, shift %d", (long long)n, r, (long long)columns,
                 shift);
    scene_new(&s, h, n, r, columns);
    harness_output *first = harness_new_output(h, columns * n * 3, shift, NULL);
    harness_output *second = harness_new_output(h, columns * n * 3, 0, NULL);
    modal_sum_task task = {
        .n_vertices = n,
        .n_columns = columns,
        .n_modes = r,
        .modal_matrix = harness_input(h, s.tiles, s.n_tiles * 96 * r * 4, shift ? 16 : 0),
        .q = harness_input(h, s.q, columns * r * 4, shift * 4),
        .u = first->device};
    harness_ok(h, h->device.kernels->modal_sum(&task, h->stream, &err), &err);
    task.u = second->device;
    harness_ok(h, h->device.kernels->modal_sum(&task, h->stream, &err), &err);
    /* one column at a time: a column's bytes do not depend on the others */
    harness_output *third = NULL;
    if (n < 1000 && columns > 1) {
        third = harness_new_output(h, columns * n * 3, 0, NULL);
        const float *q = task.q;
        task.n_columns = 1;
        task.n_columns_total = columns;
        for (int64_t c = 0; c < columns; c++) {
            task.q = q + c * r;
            task.u = third->device + c * n * 3;
            harness_ok(h, h->device.kernels->modal_sum(&task, h->stream, &err), &err);
        }
    }
    harness_fetch(h);
    harness_same(h, "second run", first, second);
    if (third) harness_same(h, "columns alone", first, third);
    const int splits =
        strncmp(h->device.name, "cuda", 4) == 0 && modal_sum_splits(r, columns, columns);
    const double terms = splits ? 3.0 * r + 32.0 : r + 1.0;
    double largest = 0.0, worst = 0.0;
    for (int64_t c = 0; c < columns; c++)
        for (int64_t v = 0; v < n; v++)
            for (int i = 0; i < 3; i++) {
                double u, magnitude;
                scene_sum(&s, c, v, i, &u, &magnitude);
                const double bound = h->is_reference ? harness_rounding(u) + magnitude * 1e-12
                                                     : harness_gamma(terms) * magnitude +
                                                           (r + 1) * (double)FLT_TRUE_MIN;
                const int64_t index = (c * n + v) * 3 + i;
                harness_compare(h, "u", index, first->host[index], u, bound);
                largest = fmax(largest, fabs(u));
                worst = fmax(worst, fabs((double)first->host[index] - u));
            }
    /* float32-accurate as users mean it; few values have no representative largest one */
    if (n * columns >= 100 && !(worst <= 1e-6 * largest * sqrt((double)r)))
        harness_fail(h, "largest error %.3g, largest displacement %.3g", worst, largest);
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

int main(int argc, char **argv) { return harness_main(argc, argv, "modal_sum", run); }
