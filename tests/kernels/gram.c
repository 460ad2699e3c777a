/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gram/gram.h"
#include "tests/kernels/harness.h"

static void check(harness *h, int64_t rows, int64_t columns)
{
    modal_error err = {0};
    harness_case(h, "%lld rows, %lld columns", (long long)rows, (long long)columns);
    double *x = harness_alloc(rows * columns, sizeof *x);
    double *before = harness_alloc(columns * columns, sizeof *before);
    for (int64_t i = 0; i < rows * columns; i++) x[i] = harness_random(h);
    for (int64_t i = 0; i < columns * columns; i++) before[i] = 10 * harness_random(h);
    harness_output *out[2];
    for (int run = 0; run < 2; run++) {
        /* the harness counts in floats; a double takes two */
        out[run] = harness_new_output(h, 2 * columns * columns, 0, (const float *)before);
        const modal_gram_task task = {rows, columns, harness_input(h, x, rows * columns * 8, 0),
                                      (double *)out[run]->device};
        harness_ok(h, h->kernels->gram(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = j; i < columns; i++) {
            long double want = before[j * columns + i], size = fabsl(want);
            for (int64_t k = 0; k < rows; k++) {
                const long double term = (long double)x[i * rows + k] * x[j * rows + k];
                want += term;
                size += fabsl(term);
            }
            const double got = ((const double *)out[0]->host)[j * columns + i],
                         again = ((const double *)out[1]->host)[j * columns + i];
            const double error = fabs((double)(got - want)),
                         tolerance = (double)(rows + 2) * DBL_EPSILON / 2 * (double)size;
            h->n_values++;
            if (tolerance > 0 && error / tolerance > h->worst) h->worst = error / tolerance;
            if (!(error <= tolerance)) harness_fail(h, "(%d, %d) is off by %g", (int)i, (int)j, error);
            if (!(got == again)) harness_fail(h, "(%d, %d) differs in a second run", (int)i, (int)j);
        }
    free(x);
    free(before);
}

static void run(harness *h)
{
    static const int64_t rows[] = {0, 1, 15, 16, 17, 97, 1536};
    static const int64_t columns[] = {0, 1, 63, 64, 65, 131, 400};
    if (!h->kernels->gram) {
        if (strcmp(h->back_end, "cpu") != 0) harness_fail(h, "no such operation");
        return;
    }
    const int64_t limit = h->quick || h->is_reference ? 2000000 : 200000000;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            if (rows[i] * columns[k] * columns[k] <= limit) check(h, rows[i], columns[k]);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "gram", run); }
