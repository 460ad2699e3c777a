/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups in random sets of cells, whose masks and records are made here, against the interpolant of a function that
 * says the value at every lattice point. */
#include "kernels/octree_lookup/octree_lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/harness.h"

/* A grid made the long way: a dense set of cells, then level by level. */
typedef struct dense {
    modal_octree_grid grid;
    int64_t n_cells, n_masks, n_top;
    uint8_t *there; /* [2^bits]^3, x fastest */
    uint32_t *top;
    modal_octree_mask *masks;
    uint32_t *records;
} dense;

static uint32_t corner_bits(const modal_octree_grid *g, int64_t x, int64_t y, int64_t z, int channel)
{
    uint64_t h = (uint64_t)(x + 4099 * y + 1000003 * z + 17 * channel) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    if (g->channels == MODAL_OCTREE_RGBA8) return (uint32_t)(h * 0xbf58476d1ce4e5b9u >> 32);
    const float value = (float)((double)(h * 0xbf58476d1ce4e5b9u >> 40) * 0x1p-23 - 1);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static int64_t at(const modal_octree_grid *g, int64_t x, int64_t y, int64_t z) { return (((z << g->bits) + y) << g->bits) + x; }

/* Whether a block of 4^level cells a side has one. */
static int block_has(const dense *d, int64_t x, int64_t y, int64_t z, int level)
{
    const int64_t side = (int64_t)1 << 2 * level;
    for (int64_t i = 0; i < side * side * side; i++)
        if (d->there[at(&d->grid, x * side + i % side, y * side + i / side % side, z * side + i / side / side)]) return 1;
    return 0;
}

/* The children of a level are one after the other for every parent, so levels are made one by one. */
static void make_level(dense *d, int level, const int64_t *parents, int64_t n_parents, int64_t first_mask, int64_t **children, int64_t *n_children)
{
    const int64_t next = first_mask + n_parents;
    *children = harness_alloc(3 * 64 * n_parents + 3, sizeof **children);
    *n_children = 0;
    for (int64_t p = 0; p < n_parents; p++) {
        modal_octree_mask *m = &d->masks[first_mask + p];
        *m = (modal_octree_mask){.first = (uint32_t)(level == 0 ? *n_children : next + *n_children)};
        for (int place = 0; place < 64; place++)
            for (int k = 0; k < 64; k++) {
                const int64_t c[3] = {4 * parents[3 * p] + k % 4, 4 * parents[3 * p + 1] + k / 4 % 4, 4 * parents[3 * p + 2] + k / 16};
                if (modal_octree_place((uint32_t)c[0], (uint32_t)c[1], (uint32_t)c[2], 0) != place || !block_has(d, c[0], c[1], c[2], level)) continue;
                m->there |= (uint64_t)1 << place;
                memcpy(*children + 3 * (*n_children)++, c, sizeof c);
            }
    }
}

static void make(harness *h, dense *d, int bits, int n_levels, modal_octree_channels channels, double share)
{
    const int64_t side = (int64_t)1 << bits, all = side * side * side;
    const int width = channels == MODAL_OCTREE_FLOAT3 ? 3 : 1;
    *d = (dense){.grid = {.bits = bits, .top_bits = bits - 2 * n_levels, .n_levels = n_levels, .channels = channels}};
    d->there = harness_alloc(all, 1);
    for (int64_t i = 0; i < all; i++) d->there[i] = harness_random(h) * 0.5 + 0.5 < share;
    d->there[all - 1] = d->there[0] = 1;
    const int64_t row = (int64_t)1 << d->grid.top_bits;
    d->n_top = row * row * row;
    d->top = harness_alloc(d->n_top, sizeof *d->top);
    d->masks = harness_alloc(all + d->n_top, sizeof *d->masks);
    int64_t *parents = harness_alloc(3 * d->n_top, sizeof *parents), n_parents = 0;
    for (int64_t i = 0; i < d->n_top; i++) {
        const int64_t c[3] = {i % row, i / row % row, i / row / row};
        d->top[i] = UINT32_MAX;
        if (!block_has(d, c[0], c[1], c[2], n_levels)) continue;
        d->top[i] = (uint32_t)n_parents;
        memcpy(parents + 3 * n_parents++, c, sizeof c);
    }
    for (int level = n_levels - 1; level >= 0; level--) {
        int64_t *children, n_children;
        make_level(d, level, parents, n_parents, d->n_masks, &children, &n_children);
        d->n_masks += n_parents;
        free(parents);
        parents = children;
        n_parents = n_children;
    }
    d->n_cells = n_parents;
    d->records = harness_alloc(8 * width * n_parents, sizeof *d->records);
    for (int64_t i = 0; i < n_parents; i++)
        for (int c = 0; c < width; c++)
            for (int k = 0; k < 8; k++)
                d->records[8 * (i * width + c) + k] =
                    corner_bits(&d->grid, parents[3 * i] + (k & 1), parents[3 * i + 1] + (k >> 1 & 1), parents[3 * i + 2] + (k >> 2), c);
    free(parents);
}

/* What a look-up should give for number c, and the largest corner. */
static double exact_value(const modal_octree_grid *g, const double *p, modal_octree_filter filter, int c, double *most)
{
    const int rgba = g->channels == MODAL_OCTREE_RGBA8;
    double sum = 0, f[3];
    int64_t cell[3];
    for (int k = 0; k < 3; k++) cell[k] = (int64_t)floor(p[k]), f[k] = p[k] - (double)cell[k];
    for (int k = 0; k < 8; k++) {
        const uint32_t bits = corner_bits(g, cell[0] + (k & 1), cell[1] + (k >> 1 & 1), cell[2] + (k >> 2), rgba ? 0 : c);
        float number;
        memcpy(&number, &bits, sizeof number);
        const double value = rgba ? bits >> 8 * c & 255 : (double)number;
        double weight = 1;
        for (int j = 0; j < 3; j++)
            weight *= filter == MODAL_OCTREE_NEAREST ? (f[j] >= 0.5) == (k >> j & 1) : k >> j & 1 ? f[j] : 1 - f[j];
        sum += weight * value;
        *most = fmax(*most, fabs(value));
    }
    return sum;
}

static void compare(harness *h, const dense *d, modal_octree_filter filter, const float *points, int64_t n, const harness_output *out,
                    const harness_output *found)
{
    const modal_octree_grid *g = &d->grid;
    const int rgba = g->channels == MODAL_OCTREE_RGBA8, width = modal_octree_width(g->channels), stride = rgba ? 1 : width;
    const float side = (float)(1 << g->bits);
    for (int64_t i = 0; i < n; i++) {
        const float *p = points + 3 * i;
        const int in = p[0] >= 0 && p[1] >= 0 && p[2] >= 0 && p[0] < side && p[1] < side && p[2] < side;
        const int there = in && d->there[at(g, (int64_t)p[0], (int64_t)p[1], (int64_t)p[2])];
        if (((const uint8_t *)found->host)[i] != there) harness_fail(h, "point %lld is %s", (long long)i, there ? "not found" : "found");
        for (int c = 0; c < width; c++) {
            uint32_t packed;
            memcpy(&packed, &out->host[stride * i], sizeof packed);
            const float got = rgba ? (float)(packed >> 8 * c & 255) : out->host[stride * i + c];
            if (!there) {
                if (rgba ? packed != 0x12345678u : got != -7.0f) harness_fail(h, "point %lld is outside and has another value", (long long)i);
                continue;
            }
            double most = 0;
            const double x[3] = {(double)p[0], (double)p[1], (double)p[2]};
            const double exact = exact_value(g, x, filter, c, &most), error = filter == MODAL_OCTREE_NEAREST ? 0 : 12 * 0x1p-24 * most;
            harness_compare(h, "value", i, got, exact, rgba ? 0.5 + 12 * 0x1p-24 * 255 : error);
        }
    }
}

static void check(harness *h, int bits, int n_levels, modal_octree_channels channels, double share, int64_t n, int shift)
{
    dense d;
    modal_error err = {0};
    harness_case(h, "%d bits, %d levels, %s, %g of the cells, %lld points", bits, n_levels, modal_octree_channels_name(channels), share, (long long)n);
    make(h, &d, bits, n_levels, channels, share);
    float *points = harness_alloc(3 * n + 3, sizeof *points);
    const double side = (double)(1 << bits);
    for (int64_t i = 0; i < 3 * n; i++) points[i] = (float)((harness_random(h) * 0.51 + 0.5) * side);
    static const float odd[][3] = {{NAN, 1, 1}, {1, -INFINITY, 1}, {1, 1, INFINITY}, {0, 0, 0}, {-0.0f, 0, 0},
                                   {-1e-30f, 0, 0}, {0.5f, 0.5f, 0.5f}, {3e38f, 0, 0}};
    for (int64_t i = 0; i < 8 && i < n; i++) memcpy(points + 3 * i, odd[i], sizeof odd[i]);
    if (n > 9) {
        for (int k = 0; k < 3; k++) points[24 + k] = nextafterf((float)side, 0), points[27 + k] = (float)side;
    }
    const int width = channels == MODAL_OCTREE_FLOAT3 ? 3 : 1;
    const uint32_t *records = harness_input(h, d.records, 32 * width * d.n_cells, 0);
    for (int filter = MODAL_OCTREE_NEAREST; filter <= MODAL_OCTREE_TRILINEAR; filter++) {
        harness_output *out[2], *found[2];
        for (int twice = 0; twice < 2; twice++) {
            out[twice] = harness_new_output(h, width * n, shift, NULL);
            found[twice] = harness_new_output(h, (n + 3) / 4, shift, NULL);
            modal_octree_lookup_task task = {.grid = d.grid, .filter = (modal_octree_filter)filter, .n_points = n,
                                             .outside = -7.0f, .outside_rgba8 = 0x12345678u};
            task.points = harness_input(h, points, 12 * n, shift * 4);
            task.grid.top = harness_input(h, d.top, 4 * d.n_top, shift * 4);
            task.grid.masks = harness_input(h, d.masks, (int64_t)sizeof *d.masks * d.n_masks, 0);
            task.grid.records = records;
            task.values = out[twice]->device;
            task.found = (uint8_t *)found[twice]->device;
            harness_ok(h, h->kernels->octree_lookup(&task, h->stream, &err), &err);
        }
        harness_fetch(h);
        harness_same(h, "second run", out[0], out[1]);
        compare(h, &d, (modal_octree_filter)filter, points, n, out[0], found[0]);
    }
    free(points), free(d.there), free(d.top), free(d.masks), free(d.records);
}

/* What a look-up with a level should give, and what its coordinates' rounding may change. */
static double exact_level(const dense *all, int n_mips, const int *octaves, const float *p, float level, int c, double *most, double *moved)
{
    double q[3], value[2] = {0, 0};
    int above = 0;
    *most = *moved = 0;
    while (above < n_mips && level >= (float)octaves[above]) above++;
    const int low = above ? octaves[above - 1] : 0, both = above < n_mips && level > 0;
    for (int i = 0; i <= both; i++) {
        const int octave = i ? octaves[above] : low;
        for (int k = 0; k < 3; k++) q[k] = octave ? ldexp((double)p[k] + 0.5, -octave) + 0.5 : (double)p[k];
        value[i] = exact_value(&all[above + i].grid, q, MODAL_OCTREE_TRILINEAR, c, most);
        if (octave) *moved += 3 * 2 * 0x1p-24 * (ldexp(1, all[0].grid.bits - octave) + 1);
    }
    return both ? value[0] + ((double)level - low) / (octaves[above] - low) * (value[1] - value[0]) : value[0];
}

static void check_levels(harness *h, int bits, int step, modal_octree_channels channels, int64_t n, int shift)
{
    dense all[MODAL_OCTREE_MIPS + 1];
    modal_octree_mip mips[MODAL_OCTREE_MIPS];
    int octaves[MODAL_OCTREE_MIPS], n_mips = 0;
    modal_error err = {0};
    harness_case(h, "levels of %d octaves, %d bits, %s, %lld points", step, bits, modal_octree_channels_name(channels), (long long)n);
    make(h, &all[0], bits, bits / 2, channels, 0.4);
    for (int o = step; o <= bits; o += step) {
        const int of = bits - o + 1;
        make(h, &all[n_mips + 1], of, of / 2, channels, 1);
        octaves[n_mips++] = o;
    }
    const int rgba = channels == MODAL_OCTREE_RGBA8, width = modal_octree_width(channels), stride = rgba ? 1 : width;
    for (int i = 0; i <= n_mips; i++) {
        modal_octree_grid *g = i ? &mips[i - 1].grid : &all[0].grid;
        if (i) mips[i - 1] = (modal_octree_mip){all[i].grid, octaves[i - 1]};
        g->top = harness_input(h, all[i].top, 4 * all[i].n_top, 0);
        g->masks = harness_input(h, all[i].masks, (int64_t)sizeof *all[i].masks * all[i].n_masks, 0);
        g->records = harness_input(h, all[i].records, 32 * (channels == MODAL_OCTREE_FLOAT3 ? 3 : 1) * all[i].n_cells, 0);
    }
    float *points = harness_alloc(3 * n + 3, sizeof *points), *levels = harness_alloc(n + 1, sizeof *levels);
    for (int64_t i = 0; i < 3 * n; i++) points[i] = (float)((harness_random(h) * 0.51 + 0.5) * (1 << bits));
    static const float odd[] = {NAN, -INFINITY, INFINITY, 0, -0.0f, 1, 1e-30f, -1};
    for (int64_t i = 0; i < n; i++) levels[i] = i < 8 ? odd[i] : (float)((harness_random(h) * 0.6 + 0.5) * bits);
    harness_output *out[2], *found[2];
    for (int twice = 0; twice < 2; twice++) {
        out[twice] = harness_new_output(h, stride * n, shift, NULL);
        found[twice] = harness_new_output(h, (n + 3) / 4, shift, NULL);
        const modal_octree_lookup_task task = {.grid = all[0].grid, .filter = MODAL_OCTREE_TRILINEAR, .n_mips = n_mips, .mips = mips, .n_points = n,
                                               .levels = harness_input(h, levels, 4 * n, shift * 4), .points = harness_input(h, points, 12 * n, shift * 4),
                                               .outside = -7.0f, .outside_rgba8 = 0x12345678u, .values = out[twice]->device,
                                               .found = (uint8_t *)found[twice]->device};
        harness_ok(h, h->kernels->octree_lookup(&task, h->stream, &err), &err);
    }
    harness_fetch(h);
    harness_same(h, "second run", out[0], out[1]);
    for (int64_t i = 0; i < n; i++) {
        const float *p = points + 3 * i, side = (float)(1 << bits);
        const int in = p[0] >= 0 && p[1] >= 0 && p[2] >= 0 && p[0] < side && p[1] < side && p[2] < side;
        const int finest = !(levels[i] >= (float)octaves[0]); /* then the finest has a say */
        const int there = in ? !finest || all[0].there[at(&all[0].grid, (int64_t)p[0], (int64_t)p[1], (int64_t)p[2])] : 0;
        if (in && ((const uint8_t *)found[0]->host)[i] != there) harness_fail(h, "point %lld is %s", (long long)i, there ? "not found" : "found");
        for (int c = 0; c < width && there; c++) {
            double most, moved;
            uint32_t packed;
            memcpy(&packed, &out[0]->host[stride * i], sizeof packed);
            const double exact = exact_level(all, n_mips, octaves, p, levels[i], c, &most, &moved);
            const double error = (24 * 0x1p-24 + 2 * moved) * most; /* corners differ by at most 2 max */
            harness_compare(h, "value", i, rgba ? (float)(packed >> 8 * c & 255) : out[0]->host[stride * i + c], exact, rgba ? 0.5 + error : error);
        }
    }
    for (int i = 0; i <= n_mips; i++) free(all[i].there), free(all[i].top), free(all[i].masks), free(all[i].records);
    free(points), free(levels);
}

static void run(harness *h)
{
    for (int c = 0; c < MODAL_OCTREE_CHANNELS; c++)
        for (int step = 1; step <= 3; step++)
            check_levels(h, step == 1 ? 5 : 6, step, (modal_octree_channels)c, h->quick ? 33 : 20001, step);

    static const struct { int bits, n_levels; } grids[] = {{3, 1}, {4, 2}, {5, 2}, {5, 1}, {6, 2}, {6, 3}};
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 4000, 20001};
    for (int g = 0; g < (int)(sizeof grids / sizeof *grids); g++)
        for (int c = 0; c < MODAL_OCTREE_CHANNELS; c++)
            for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
                if (h->quick && (i + g + c) % 4) continue;
                check(h, grids[g].bits, grids[g].n_levels, (modal_octree_channels)c, i % 2 ? 0.4 : 0.05, sizes[i], i % 3);
            }
}

int main(int argc, char **argv) { return harness_main(argc, argv, "octree_lookup", run); }
