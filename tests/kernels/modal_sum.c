/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>

#include "kernels/modal_sum/modal_sum.h"
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
    harness_ok(h, h->kernels->modal_sum(&task, h->stream, &err), &err);
    task.u = second->device;
    harness_ok(h, h->kernels->modal_sum(&task, h->stream, &err), &err);
    harness_output *third = NULL; /* in parts: a column's bytes do not depend on the others */
    if (columns > 1) {
        third = harness_new_output(h, columns * n * 3, 0, NULL);
        const float *q = task.q;
        task.n_columns_total = columns;
        for (int64_t c = 0; c < columns; c += task.n_columns) {
            task.n_columns = scene_part(&s, c);
            task.q = q + c * r;
            task.u = third->device + c * n * 3;
            harness_ok(h, h->kernels->modal_sum(&task, h->stream, &err), &err);
        }
    }
    harness_fetch(h);
    harness_same(h, "second run", first, second);
    if (third) harness_same(h, "in parts", first, third);
    const double terms = scene_terms(h, &s);
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
    scene_accurate(h, &s, worst, largest);
    scene_free(&s);
}

static void run(harness *h) { scene_products(h, check); }

int main(int argc, char **argv) { return harness_main(argc, argv, "modal_sum", run); }
