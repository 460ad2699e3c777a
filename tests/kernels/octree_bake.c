/* SPDX-License-Identifier: Apache-2.0 */
/* Images of a linear function by charts that fit together, are apart or overlap: who owns a texel and what it has beside distances
 * that are computed here; the same owners on every back end as the reference's definition says. */
#include "kernels/octree_bake/octree_bake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/harness.h"

enum { BITS = 3, SIDE = 1 << BITS };

/* A texture whose number c is 10 x + 12 y + 9 z + c at a lattice point: all cells are there. */
typedef struct texture {
    modal_octree_grid grid;
    uint32_t top[8];
    modal_octree_mask masks[8];
    uint32_t records[512 * 24];
} texture;

static double linear(const double p[3], int c) { return 10 * p[0] + 12 * p[1] + 9 * p[2] + c; }

static void make_texture(texture *t, modal_octree_channels channels)
{
    const int width = channels == MODAL_OCTREE_FLOAT3 ? 3 : 1;
    *t = (texture){.grid = {.bits = BITS, .top_bits = 1, .n_levels = 1, .channels = channels}};
    for (uint32_t m = 0; m < 8; m++) {
        t->top[m] = m;
        t->masks[m] = (modal_octree_mask){UINT64_MAX, 64 * m, 0};
    }
    for (uint32_t i = 0; i < 512; i++) {
        const uint32_t x = i & 7, y = i >> 3 & 7, z = i >> 6, m = (x >> 2) | (y >> 2) << 1 | (z >> 2) << 2;
        const uint32_t at = 64 * m + (uint32_t)modal_octree_place(x, y, z, 0);
        for (uint32_t k = 0; k < 8; k++) {
            const double p[3] = {x + (k & 1), y + (k >> 1 & 1), z + (k >> 2)};
            uint32_t bits = 0;
            for (int c = 0; c < 4; c++) bits |= (uint32_t)linear(p, c) << 8 * c;
            for (int c = 0; c < width; c++) {
                const float value = (float)linear(p, c);
                memcpy(&t->records[8 * (at * (uint32_t)width + (uint32_t)c) + k], channels == MODAL_OCTREE_RGBA8 ? (const void *)&bits : &value, 4);
            }
        }
    }
}

typedef struct charts {
    int64_t n;
    float *uv, *points, *levels;
} charts;

/* kind 0: a grid that fits together and covers the middle; 1: triangles anywhere; 2: one large one, mirrored, and one without area. */
static charts make_charts(harness *h, int kind, int64_t n, double size)
{
    charts c = {.n = kind == 0 ? 2 * n * n : kind == 1 ? n : 2};
    c.uv = harness_alloc(6 * c.n + 1, sizeof *c.uv);
    c.points = harness_alloc(9 * c.n + 1, sizeof *c.points);
    c.levels = harness_alloc(c.n + 1, sizeof *c.levels);
    double *nodes = harness_alloc(2 * (n + 1) * (n + 1), sizeof *nodes);
    for (int64_t i = 0; i < (n + 1) * (n + 1); i++) {
        nodes[2 * i] = size * (0.1 + 0.8 * ((double)(i % (n + 1)) + 0.2 * harness_random(h)) / (double)n);
        nodes[2 * i + 1] = size * (0.1 + 0.8 * ((double)(i / (n + 1)) + 0.2 * harness_random(h)) / (double)n);
    }
    for (int64_t t = 0; t < c.n; t++) {
        const int64_t q = t / 2 % n + t / 2 / n * (n + 1), corners[2][3] = {{q, q + 1, q + n + 2}, {q, q + n + 2, q + n + 1}};
        const double x = size * (harness_random(h) * 0.6 + 0.5), y = size * (harness_random(h) * 0.6 + 0.5);
        for (int k = 0; k < 3; k++) {
            if (kind == 0) {
                for (int a = 0; a < 2; a++) c.uv[6 * t + 2 * k + a] = (float)nodes[2 * corners[t % 2][k] + a];
            } else if (kind == 1) {
                c.uv[6 * t + 2 * k] = (float)(x + harness_random(h) * size * 0.07);
                c.uv[6 * t + 2 * k + 1] = (float)(y + harness_random(h) * size * 0.07);
            } else {
                const float far = n > 1 ? 5000.3f : 0; /* its products are past what doubles have */
                const float at[3][2] = {{-5 - far, -3}, {(float)size * 0.5f, (float)size + 9 + far}, {(float)size + 7, 1}};
                for (int a = 0; a < 2; a++) c.uv[6 * t + 2 * k + a] = t ? (float)k * 3 : at[k][a];
            }
        }
        for (int k = 0; k < 9; k++) c.points[9 * t + k] = (float)((harness_random(h) * 0.49 + 0.5) * SIDE);
        c.levels[t] = (float)harness_random(h);
    }
    free(nodes);
    return c;
}

static void drop(charts *c) { free(c->uv), free(c->points), free(c->levels); }

/* Distance of a texel's centre from a triangle with rounded corners, the weights there, and whether it is strictly inside. */
static double distance_to(const float *uv, double x, double y, double weights[3], int *inside, double *area)
{
    double p[3][2], best = INFINITY;
    for (int k = 0; k < 6; k++) p[k / 2][k % 2] = rint((double)uv[k] * MODAL_BAKE_STEPS) / MODAL_BAKE_STEPS;
    const double det = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
    *area = det;
    weights[1] = ((x - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (y - p[0][1])) / det;
    weights[2] = ((p[1][0] - p[0][0]) * (y - p[0][1]) - (x - p[0][0]) * (p[1][1] - p[0][1])) / det;
    weights[0] = 1 - weights[1] - weights[2];
    *inside = weights[0] > 0 && weights[1] > 0 && weights[2] > 0;
    if (weights[0] >= 0 && weights[1] >= 0 && weights[2] >= 0) return 0;
    for (int k = 0; k < 3; k++) {
        const double *a = p[k], *b = p[(k + 1) % 3], ex = b[0] - a[0], ey = b[1] - a[1];
        const double t = fmin(1, fmax(0, ((x - a[0]) * ex + (y - a[1]) * ey) / (ex * ex + ey * ey)));
        const double d = hypot(x - a[0] - t * ex, y - a[1] - t * ey);
        if (!(d < best)) continue;
        best = d;
        weights[k] = 1 - t, weights[(k + 1) % 3] = t, weights[(k + 2) % 3] = 0;
    }
    return best;
}

static void compare_texel(harness *h, const charts *c, modal_octree_channels channels, double reach, int64_t i, int64_t width, const harness_output *owner,
                          const harness_output *values, int64_t *overlapping, int *covered)
{
    const int rgba = channels == MODAL_OCTREE_RGBA8, numbers = modal_octree_width(channels), stride = rgba ? 1 : numbers;
    const double x = (double)(i % width) + 0.5, y = (double)(i / width) + 0.5;
    double least = INFINITY, weights[3], mine = INFINITY, area, p[3] = {0};
    int64_t n_inside = 0;
    uint64_t own;
    memcpy(&own, &owner->host[2 * i], sizeof own);
    *covered = own != UINT64_MAX;
    const int64_t who = *covered ? (int64_t)(own & UINT32_MAX) : -1;
    if (*covered && who >= c->n) harness_fail(h, "texel %lld belongs to triangle %lld", (long long)i, (long long)who);
    for (int64_t t = 0; t < c->n; t++) {
        int inside;
        const double d = distance_to(c->uv + 6 * t, x, y, weights, &inside, &area);
        if (area == 0) continue;
        n_inside += inside;
        least = fmin(least, d);
        if (t != who) continue;
        mine = d;
        for (int k = 0; k < 9; k++) p[k % 3] += weights[k / 3] * (double)c->points[9 * t + k];
    }
    *overlapping += n_inside > 1 ? n_inside - 1 : 0;
    h->n_values++;
    if (*covered ? !(mine <= least + 1e-9 && mine <= reach + 1e-9) : !(least >= reach - 1e-9))
        harness_fail(h, "texel %lld belongs to %lld at %g, the nearest is at %g", (long long)i, (long long)who, mine, least);
    for (int k = 0; k < numbers; k++) {
        uint32_t packed;
        memcpy(&packed, &values->host[stride * i], sizeof packed);
        const double got = rgba ? packed >> 8 * k & 255 : (double)values->host[stride * i + k];
        if (!*covered) {
            if (rgba ? packed != 0x12345678u : got != -7) harness_fail(h, "texel %lld is not covered and has another value", (long long)i);
            continue;
        }
        /* weights and points to 8 e each of 8 cells, slopes of 31 in all; the look-up's 12 e of 255 */
        harness_compare(h, "value", i, (float)got, linear(p, k), (rgba ? 0.5 : 0) + 0x1p-24 * (31 * 16 * SIDE + 12 * 255) + (mine > 0 ? 1e-6 : 0));
    }
}

/* Owners, with their distances, are the definition's to the last bit. */
static void compare_owners(harness *h, const charts *c, const modal_octree_bake_task *task, const harness_output *owner)
{
    const modal_octree_bake_task defined = {.n_triangles = c->n, .uv = c->uv, .width = task->width, .height = task->height, .reach = task->reach};
    for (int64_t i = 0; i < (int64_t)task->width * task->height; i++) {
        int64_t n_inside;
        uint64_t got;
        memcpy(&got, &owner->host[2 * i], sizeof got);
        const uint64_t wanted = modal_bake_owner(&defined, i % task->width, i / task->width, &n_inside);
        if (got != wanted) harness_fail(h, "texel %lld belongs to %llx, not %llx", (long long)i, (unsigned long long)got, (unsigned long long)wanted);
    }
}

static void check(harness *h, modal_octree_channels channels, int kind, int64_t n, int32_t width, int32_t height, float reach, int with_levels)
{
    static texture t;
    modal_error err = {0};
    harness_case(h, "%s, charts %d, %lld, %d x %d, reach %g%s", modal_octree_channels_name(channels), kind, (long long)n, width, height, (double)reach,
                 with_levels ? ", levels" : "");
    make_texture(&t, channels);
    charts c = make_charts(h, kind, n, width < height ? width : height);
    const int64_t texels = (int64_t)width * height, words = (int64_t)((width + 31) / 32) * height;
    const int stride = channels == MODAL_OCTREE_FLOAT3 ? 3 : 1;
    modal_octree_bake_task task = {.grid = t.grid, .n_triangles = c.n, .width = width, .height = height, .reach = reach, .outside = -7,
                                   .outside_rgba8 = 0x12345678u};
    task.grid.top = harness_input(h, t.top, sizeof t.top, 0);
    task.grid.masks = harness_input(h, t.masks, sizeof t.masks, 0);
    task.grid.records = harness_input(h, t.records, sizeof t.records, 0);
    task.uv = harness_input(h, c.uv, 24 * c.n, 4);
    task.points = harness_input(h, c.points, 36 * c.n, 4);
    task.levels = with_levels ? harness_input(h, c.levels, 4 * c.n, 4) : NULL; /* no mips: the finest for all */
    harness_output *owner[2], *covered[2], *values[2], *counts[2];
    for (int twice = 0; twice < 2; twice++) {
        owner[twice] = harness_new_output(h, 2 * texels, 0, NULL);
        covered[twice] = harness_new_output(h, words, 0, NULL);
        values[twice] = harness_new_output(h, stride * texels, 1, NULL);
        counts[twice] = harness_new_output(h, 6, 0, NULL);
        harness_output *queue = harness_new_output(h, c.n + 1, 0, NULL), *shapes = harness_new_output(h, MODAL_BAKE_SHAPE * c.n, 0, NULL);
        task.owner = (uint64_t *)owner[twice]->device;
        task.covered = (uint32_t *)covered[twice]->device;
        task.values = values[twice]->device;
        task.counts = (modal_octree_bake_counts *)counts[twice]->device;
        task.queue = (int32_t *)queue->device;
        task.shapes = shapes->device;
        harness_ok(h, h->kernels->octree_bake(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "second run", owner[0], owner[1]);
    harness_same(h, "second run", covered[0], covered[1]);
    harness_same(h, "second run", values[0], values[1]);
    harness_same(h, "second run", counts[0], counts[1]);
    modal_octree_bake_counts got;
    int64_t overlapping = 0, n_covered = 0;
    memcpy(&got, counts[0]->host, sizeof got);
    for (int64_t i = 0; i < texels; i++) {
        int is_covered;
        uint32_t word;
        memcpy(&word, &covered[0]->host[i / width * ((width + 31) / 32) + i % width / 32], sizeof word);
        compare_texel(h, &c, channels, (double)reach, i, width, owner[0], values[0], &overlapping, &is_covered);
        if ((int)(word >> i % width % 32 & 1) != is_covered) harness_fail(h, "texel %lld: the bit says otherwise", (long long)i);
        n_covered += is_covered;
    }
    if (got.overlapping != overlapping || got.covered != n_covered || got.outside != 0)
        harness_fail(h, "%lld overlap, %lld covered, %lld outside; not %lld, %lld, 0", (long long)got.overlapping, (long long)got.covered,
                     (long long)got.outside, (long long)overlapping, (long long)n_covered);
    compare_owners(h, &c, &task, owner[0]);
    if (kind == 0 && overlapping) harness_fail(h, "charts that fit together overlap");
    if (kind == 1 && n > 20 && overlapping == 0) harness_fail(h, "nothing overlaps");
    drop(&c);
}

static void run(harness *h)
{
    const float reach = sqrtf(2);
    for (int c = 0; c < MODAL_OCTREE_CHANNELS; c++) {
        const modal_octree_channels channels = (modal_octree_channels)c;
        check(h, channels, 0, 5, 64, 64, reach, c == 0);
        check(h, channels, 0, 3, 33, 61, 0, 0);
        check(h, channels, 1, 1, 31, 5, reach, 0);
        check(h, channels, 1, 0, 7, 9, reach, 0);
        check(h, channels, 1, 3, 0, 0, reach, 0);
        check(h, channels, 2, 1, 70, 70, 2.5f, 0);
        check(h, channels, 2, 2, 40, 50, 2.5f, c == 2); /* huge */
        if (h->quick) continue;
        check(h, channels, 1, 60, 90, 100, reach, c == 1);
        check(h, channels, 2, 1, 200, 150, reach, 0); /* a box of more texels than a warp takes */
        check(h, channels, 0, 6, 97, 97, reach, 0);
    }
}

int main(int argc, char **argv) { return harness_main(argc, argv, "octree_bake", run); }
