/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pair_sum/pair_sum.h"
#include "tests/kernels/harness.h"

/* sums [3] and sizes (of what is added) of body i, in long double, bodies in the other order than anyone else's. */
static void by_pairs(int64_t n, const float *bodies, double l, int64_t i, double *sum, double *size)
{
    long double s[3] = {0, 0, 0}, total = 0;
    for (int64_t j = n - 1; j >= 0; j--) {
        long double d[3], square = (long double)l * l;
        for (int c = 0; c < 3; c++) {
            d[c] = (long double)bodies[4 * j + c] - bodies[4 * i + c];
            square += d[c] * d[c];
        }
        const long double f = bodies[4 * j + 3] / (square * sqrtl(square));
        for (int c = 0; c < 3; c++) s[c] += f * d[c];
        total += fabsl(f) * sqrtl(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    for (int c = 0; c < 3; c++) sum[c] = (double)s[c];
    *size = (double)total;
}

/* shift: sums and work are that many floats off. All bodies of `crowd` stand in one place. */
static void check(harness *h, int64_t n, double length, float softening, int shift, int crowd)
{
    modal_error err = {0};
    harness_case(h, "n %lld, length %g, softening %g, shift %d, crowd %d", (long long)n, length, (double)softening, shift, crowd);
    float *bodies = harness_alloc(4 * n, sizeof *bodies);
    for (int64_t i = 0; i < 4 * n; i++)
        bodies[i] = (float)(i % 4 == 3 ? harness_random(h) : i >= 4 && i < 4 * crowd ? (double)bodies[i - 4] : length * harness_random(h));
    harness_output *out[2], *work = harness_new_output(h, modal_pair_sum_work(n), 0, NULL);
    for (int i = 0; i < 2; i++) {
        out[i] = harness_new_output(h, 3 * n, shift, NULL);
        const modal_pair_sum_task task = {n, harness_input(h, bodies, 16 * n, 0), softening, out[i]->device, work->device};
        harness_ok(h, h->device->kernels->pair_sum(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "second run", out[0], out[1]);
    for (int64_t i = 0; i < n; i += n > 4000 ? 97 : 1) {
        double sum[3], size;
        by_pairs(n, bodies, (double)softening, i, sum, &size);
        /* what rounding really does: as random walks do, not as the bound allows */
        const double tight = (16.0 + 4.0 * sqrt((double)n)) * (FLT_EPSILON / 2) * size + FLT_TRUE_MIN;
        const double bound = fmin(harness_gamma((double)n + 16.0) * size + FLT_TRUE_MIN, tight);
        for (int c = 0; c < 3; c++)
            harness_compare(h, "sum", 3 * i + c, out[0]->host[3 * i + c], sum[c],
                            h->is_reference ? harness_rounding(sum[c]) + 1e-12 * size : bound);
    }
    free(bodies);
}

/* float64: forces of a pair are opposite to the last bit, all of them add up to nothing, and bodies in one place do nothing. */
static void check_exact(harness *h, int64_t n, double softening)
{
    double total[3] = {0, 0, 0}, size = 0;
    double *bodies = harness_alloc(4 * n, sizeof *bodies), *forces = harness_alloc(3 * n, sizeof *forces);
    harness_case(h, "exact, n %lld, softening %g", (long long)n, softening);
    for (int64_t i = 0; i < 4 * n; i++) bodies[i] = i >= 4 && i < 7 ? bodies[i - 4] : harness_random(h);
    modal_pair_sum_exact(n, bodies, softening, forces);
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            total[c] += forces[3 * i + c];
            size += fabs(forces[3 * i + c]);
        }
    for (int c = 0; c < 3; c++) harness_compare(h, "total", c, (float)(total[c] / (size + DBL_MIN)), 0.0, 1e-13);
    if (n == 2) {
        for (int c = 0; c < 3; c++) harness_compare(h, "in one place", c, (float)forces[c], 0.0, 0.0);
        bodies[4] += 0.5;
        modal_pair_sum_exact(n, bodies, softening, forces);
        for (int c = 0; c < 3; c++)
            if (forces[c] != -forces[3 + c]) harness_fail(h, "a pair's forces are not opposite");
        const double r = bodies[4] - bodies[0], want = bodies[3] * bodies[7] * r / pow(r * r + softening * softening, 1.5);
        harness_compare(h, "a pair", 0, (float)(forces[0] / want), 1.0, 1e-7);
    }
    free(bodies), free(forces);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 127, 128, 129, 511, 512, 513, 2047, 2049, 5003, 20011};
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
        if (h->quick && sizes[i] > 600) continue;
        if (sizes[i] > 6000 && strncmp(h->device->name, "cuda", 4) != 0) continue; /* many parts: minutes on a CPU */
        check(h, sizes[i], 1.0, 1e-2f, i % 2, 0);
        check(h, sizes[i], 1e4, 1.0f, 0, 0);
        if (sizes[i] >= 128 && sizes[i] < 600) check(h, sizes[i], 1e-4, 1e-7f, 1, 100);
    }
    check_exact(h, 2, 0.0);
    check_exact(h, 2, 0.1);
    check_exact(h, 700, 1e-3);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "pair_sum", run); }
