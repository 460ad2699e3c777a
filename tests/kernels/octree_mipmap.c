/* SPDX-License-Identifier: Apache-2.0 */
/* Means of random nodes, of samples and of nodes below, beside sums in double and the curve of sRGB. */
#include "kernels/octree_mipmap/octree_mipmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/harness.h"

static double linear_of(double s) { return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4); }
static double srgb_of(double x) { return x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055; }

typedef struct level {
    int64_t n_nodes, n_children;
    int32_t *first, *counts;
    uint8_t *bytes;
    float *numbers; /* [n_children, 4] */
} level;

static level make(harness *h, modal_octree_channels channels, int64_t n, int most)
{
    level l = {.n_nodes = n, .first = harness_alloc(n + 1, sizeof *l.first)};
    for (int64_t i = 0; i < n; i++) {
        l.first[i] = (int32_t)l.n_children;
        l.n_children += 1 + (int64_t)((harness_random(h) * 0.5 + 0.5) * most);
    }
    l.first[n] = (int32_t)l.n_children;
    l.counts = harness_alloc(l.n_children + 1, sizeof *l.counts);
    l.bytes = harness_alloc(4 * l.n_children + 4, 1);
    l.numbers = harness_alloc(4 * l.n_children + 4, sizeof *l.numbers);
    int64_t node = 0;
    for (int64_t i = 0; i < l.n_children; i++) {
        while (i >= l.first[node + 1]) node++;
        l.counts[i] = 1 + (int32_t)((harness_random(h) * 0.5 + 0.5) * 1000);
        for (int c = 0; c < 4; c++) {
            l.bytes[4 * i + c] = (uint8_t)((harness_random(h) * 0.5 + 0.5) * 256);
            l.numbers[4 * i + c] = (float)(channels == MODAL_OCTREE_RGBA8 ? harness_random(h) * 0.5 + 0.5 : harness_random(h));
        }
        l.bytes[4 * i + 3] = node % 4 == 0 ? 0 : node % 4 == 1 ? 255 : l.bytes[4 * i + 3];
        if (channels == MODAL_OCTREE_RGBA8) { /* w c and w */
            l.numbers[4 * i + 3] = (float)l.counts[i] * (node % 3 == 0 ? MODAL_OCTREE_CLEAR : l.numbers[4 * i + 3] + MODAL_OCTREE_CLEAR);
            for (int c = 0; c < 3; c++) l.numbers[4 * i + c] *= l.numbers[4 * i + 3];
        }
    }
    return l;
}

static void compare(harness *h, const level *l, modal_octree_channels channels, int samples, const harness_output *sums, const harness_output *counts,
                    const harness_output *means)
{
    const int rgba = channels == MODAL_OCTREE_RGBA8, width = modal_octree_sum_width(channels), n = channels == MODAL_OCTREE_FLOAT ? 1 : rgba ? 4 : 3;
    for (int64_t node = 0; node < l->n_nodes; node++) {
        double sum[4] = {0}, most[4] = {0};
        int64_t count = 0, m = l->first[node + 1] - l->first[node];
        for (int64_t i = l->first[node]; i < l->first[node + 1]; i++) {
            double add[4];
            for (int c = 0; c < n; c++) add[c] = (double)l->numbers[(samples ? n : width) * i + c];
            if (samples && rgba) {
                add[3] = l->bytes[4 * i + 3] / 255.0 + 0x1p-16;
                for (int c = 0; c < 3; c++) add[c] = add[3] * linear_of(l->bytes[4 * i + c] / 255.0);
            }
            for (int c = 0; c < n; c++) sum[c] += add[c], most[c] += fabs(add[c]);
            count += samples ? 1 : l->counts[i];
        }
        int32_t got;
        memcpy(&got, &counts->host[node], sizeof got);
        if (got != count) harness_fail(h, "node %lld has %d samples, not %lld", (long long)node, got, (long long)count);
        for (int c = 0; c < n; c++) harness_compare(h, "sum", node, sums->host[width * node + c], sum[c], harness_gamma((double)m + 4) * most[c]);
        for (int c = 0; c < n && !rgba; c++)
            harness_compare(h, "mean", node, means->host[n * node + c], sum[c] / (double)count, harness_gamma((double)m + 4) * most[c] / (double)count);
        uint8_t bytes[4];
        memcpy(bytes, &means->host[rgba ? node : 0], sizeof bytes);
        for (int c = 0; c < 4 && rgba; c++) {
            const double exact = c == 3 ? 255 * (sum[3] / (double)count - 0x1p-16) : 255 * srgb_of(sum[c] / sum[3]);
            harness_compare(h, "byte", 4 * node + c, bytes[c], exact, 0.5 + 255 * harness_gamma((double)m + 8));
        }
    }
}

static void check(harness *h, modal_octree_channels channels, int samples, int64_t n, int most, int shift)
{
    modal_error err = {0};
    modal_srgb_limits srgb = {{0}, {0}};
    harness_case(h, "%s, means of %s, %lld nodes of up to %d", modal_octree_channels_name(channels), samples ? "samples" : "nodes", (long long)n, most);
    level l = make(h, channels, n, most);
    for (int i = 0; i < 256; i++) {
        srgb.linear[i] = (float)linear_of(i / 255.0);
        srgb.limits[i] = i ? (float)linear_of((i - 0.5) / 255) : 0;
    }
    const int rgba = channels == MODAL_OCTREE_RGBA8, width = modal_octree_sum_width(channels), of_mean = channels == MODAL_OCTREE_FLOAT3 ? 3 : 1;
    modal_octree_mipmap_task task = {.channels = channels, .n_nodes = n};
    task.first = harness_input(h, l.first, 4 * (n + 1), shift * 4);
    if (samples && rgba) task.samples = harness_input(h, l.bytes, 4 * l.n_children, shift * 4);
    else if (samples) task.samples = harness_input(h, l.numbers, 4 * modal_octree_width(channels) * l.n_children, shift * 4);
    else task.child_sums = harness_input(h, l.numbers, 4 * width * l.n_children, shift * 4);
    task.child_counts = samples ? NULL : harness_input(h, l.counts, 4 * l.n_children, shift * 4);
    task.srgb = rgba ? harness_input(h, &srgb, sizeof srgb, 0) : NULL;
    harness_output *sums[2], *counts[2], *means[2];
    for (int twice = 0; twice < 2; twice++) {
        sums[twice] = harness_new_output(h, width * n, shift, NULL);
        counts[twice] = harness_new_output(h, n, shift, NULL);
        means[twice] = harness_new_output(h, of_mean * n, shift, NULL);
        task.sums = sums[twice]->device;
        task.counts = (int32_t *)counts[twice]->device;
        task.means = means[twice]->device;
        harness_ok(h, h->kernels->octree_mipmap(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "second run", sums[0], sums[1]);
    harness_same(h, "second run", counts[0], counts[1]);
    harness_same(h, "second run", means[0], means[1]);
    compare(h, &l, channels, samples, sums[0], counts[0], means[0]);
    free(l.first), free(l.counts), free(l.bytes), free(l.numbers);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 255, 256, 257, 1009, 20011};
    for (int c = 0; c < MODAL_OCTREE_CHANNELS; c++)
        for (int samples = 0; samples < 2; samples++)
            for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
                if (h->quick && i == 6) continue;
                check(h, (modal_octree_channels)c, samples, sizes[i], i % 2 ? 7 : 100, i % 3);
            }
}

int main(int argc, char **argv) { return harness_main(argc, argv, "octree_mipmap", run); }
