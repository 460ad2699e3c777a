/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps of random images beside a definition by prefix sums, byte by byte; mip levels of charts of one colour each over a
 * saturated background. */
#include "kernels/push_pull/push_pull.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/harness.h"

typedef struct image {
    int32_t width, height;
    int64_t n, words;
    uint32_t *texels, *covered;
} image;

static image make(int32_t width, int32_t height)
{
    image m = {.width = width, .height = height, .n = (int64_t)width * height, .words = (int64_t)height * ((width + 31) / 32)};
    m.texels = harness_alloc(m.n + 1, sizeof *m.texels);
    m.covered = harness_alloc(m.words + 1, sizeof *m.covered);
    memset(m.covered, 0, (size_t)m.words * sizeof *m.covered);
    return m;
}

static void drop(image *m) { free(m->texels), free(m->covered); }

static int is_covered(const image *m, int64_t x, int64_t y) { return (int)(m->covered[y * ((m->width + 31) / 32) + x / 32] >> x % 32 & 1); }
static void cover(image *m, int64_t x, int64_t y) { m->covered[y * ((m->width + 31) / 32) + x / 32] |= (uint32_t)1 << x % 32; }

static const harness_output *fill(harness *h, const image *m, int shift)
{
    modal_error err = {0};
    harness_output *out[2];
    const uint32_t *covered = harness_input(h, m->covered, 4 * m->words, shift * 4);
    float *start = harness_alloc(m->n + 1, sizeof *start);
    memcpy(start, m->texels, (size_t)m->n * sizeof *start);
    for (int twice = 0; twice < 2; twice++) {
        out[twice] = harness_new_output(h, m->n, shift, start);
        harness_output *scratch = harness_new_output(h, 10 * modal_push_pull_blocks(m->width, m->height), 0, NULL);
        const modal_push_pull_task task = {.width = m->width, .height = m->height, .texels = (uint32_t *)out[twice]->device, .covered = covered,
                                           .scratch = (modal_push_pull_sum *)scratch->device};
        harness_ok(h, h->kernels->push_pull(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "second run", out[0], out[1]);
    free(start);
    return out[0];
}

/* Prefix sums of the covered texels' numbers (channel 4: how many): [height + 1, width + 1]. */
static double *prefix(const image *m, int channel)
{
    const int64_t row = m->width + 1;
    double *p = harness_alloc(row * (m->height + 1), sizeof *p);
    memset(p, 0, (size_t)(row * (m->height + 1)) * sizeof *p);
    for (int64_t y = 0; y < m->height; y++)
        for (int64_t x = 0; x < m->width; x++) {
            const double own = !is_covered(m, x, y) ? 0 : channel == 4 ? 1 : m->texels[y * m->width + x] >> 8 * channel & 255;
            p[(y + 1) * row + x + 1] = own + p[y * row + x + 1] + p[(y + 1) * row + x] - p[y * row + x];
        }
    return p;
}

static double block_sum(const image *m, const double *p, int level, int64_t x, int64_t y)
{
    const int64_t row = m->width + 1, x0 = x >> level << level, y0 = y >> level << level;
    const int64_t x1 = x0 + (1 << level) < m->width ? x0 + (1 << level) : m->width, y1 = y0 + (1 << level) < m->height ? y0 + (1 << level) : m->height;
    return p[y1 * row + x1] - p[y0 * row + x1] - p[y1 * row + x0] + p[y0 * row + x0];
}

static void compare(harness *h, const image *m, const harness_output *out)
{
    double *p[5];
    for (int c = 0; c < 5; c++) p[c] = prefix(m, c);
    for (int64_t i = 0; i < m->n; i++) {
        uint32_t got, want = m->texels[i];
        memcpy(&got, &out->host[i], sizeof got);
        int level = 0;
        if (!is_covered(m, i % m->width, i / m->width) && p[4][(m->width + 1) * (m->height + 1) - 1] > 0) {
            while (block_sum(m, p[4], level, i % m->width, i / m->width) == 0) level++;
            want = 0;
            for (int c = 0; c < 4; c++) {
                const double mean = block_sum(m, p[c], level, i % m->width, i / m->width) / block_sum(m, p[4], level, i % m->width, i / m->width);
                want |= (uint32_t)floor(mean + 0.5 + 1e-12) << 8 * c;
            }
        }
        h->n_values++;
        if (got != want) {
            harness_fail(h, "texel %lld, level %d: %08x, not %08x", (long long)i, level, got, want);
            break;
        }
    }
    for (int c = 0; c < 5; c++) free(p[c]);
}

/* Discs apart, or single texels, or nothing, or all. */
static void check(harness *h, int32_t width, int32_t height, double share, int shift)
{
    harness_case(h, "%d x %d, %g covered", width, height, share);
    image m = make(width, height);
    for (int64_t i = 0; i < m.n; i++) {
        m.texels[i] = (uint32_t)((harness_random(h) * 0.5 + 0.5) * 0xffffffffu);
        const double x = (double)(i % width) / 97.3, y = (double)(i / width) / 97.3, fx = x - floor(x) - 0.5, fy = y - floor(y) - 0.5;
        if (share < 0 ? fx * fx + fy * fy < share * share : harness_random(h) * 0.5 + 0.5 < share) cover(&m, i % width, i / width);
    }
    compare(h, &m, fill(h, &m, shift));
    drop(&m);
}

/* Charts of one colour each over magenta: no mip texel whose covered texels are of one chart differs from it. */
static void check_bleeding(harness *h, int32_t side)
{
    harness_case(h, "bleeding, %d a side", side);
    image m = make(side, side);
    int32_t *chart = harness_alloc(m.n, sizeof *chart);
    const double cell = 61.7;
    for (int64_t i = 0; i < m.n; i++) {
        const double x = (double)(i % side) / cell, y = (double)(i / side) / cell, fx = x - floor(x) - 0.5, fy = y - floor(y) - 0.5;
        chart[i] = fx * fx + fy * fy < 0.2304 ? (int32_t)floor(x) + 1000 * (int32_t)floor(y) : -1;
        m.texels[i] = chart[i] < 0 ? 0xffff00ffu : 0xff000000u | ((uint32_t)chart[i] * 2654435761u & 0xffffff);
        if (chart[i] >= 0) cover(&m, i % side, i / side);
    }
    const harness_output *out = fill(h, &m, 0);
    int64_t n_checked = 0;
    for (int level = 0; level <= 6; level++)
        for (int64_t b = 0; b < m.n >> 2 * level; b++) {
            const int64_t row = side >> level, x0 = b % row << level, y0 = b / row << level;
            double sum[4] = {0};
            int32_t own = -1, mixed = 0;
            for (int64_t k = 0; k < (int64_t)1 << 2 * level; k++) {
                const int64_t i = (y0 + (k >> level)) * side + x0 + (k & ((1 << level) - 1));
                uint32_t texel;
                memcpy(&texel, &out->host[i], sizeof texel);
                for (int c = 0; c < 4; c++) sum[c] += texel >> 8 * c & 255;
                mixed |= chart[i] >= 0 && own >= 0 && chart[i] != own;
                if (chart[i] >= 0) own = chart[i];
            }
            if (mixed || own < 0) continue;
            n_checked++;
            for (int c = 0; c < 3; c++)
                harness_compare(h, "mip texel", b, (float)ldexp(sum[c], -2 * level), (uint32_t)own * 2654435761u >> 8 * c & 255, 1e-9);
        }
    if (n_checked < m.n / 2) harness_fail(h, "only %lld mip texels looked at", (long long)n_checked);
    free(chart);
    drop(&m);
}

static void run(harness *h)
{
    static const int32_t sizes[][2] = {{0, 0}, {0, 7}, {1, 1}, {31, 33}, {64, 64}, {65, 63}, {128, 200}, {257, 100}, {333, 512}};
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
        if (h->quick && i > 6) continue;
        const int32_t w = sizes[i][0], height = sizes[i][1];
        check(h, w, height, -0.48, 0), check(h, w, height, 0.001, i % 3), check(h, w, height, 0.3, i % 2), check(h, w, height, 0, 0), check(h, w, height, 1, 1);
    }
    check_bleeding(h, h->quick ? 128 : 512);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "push_pull", run); }
