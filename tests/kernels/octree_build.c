/* SPDX-License-Identifier: Apache-2.0 */
/* Triangles of all sizes and directions in small lattices: cells beside the separating axes of every box, samples, tree, masks and records beside a
 * computation of their own; every back end has the bytes of the reference; too little room is said and nothing is written past it. */
#include "kernels/octree_build/octree_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/harness.h"

enum { OUTPUTS = 9, VALUES = 1 << 20 };
static const char *const names[OUTPUTS] = {"counts", "top", "masks", "cell keys", "keys", "begins", "node offsets", "cells", "records"};

/* How far apart a triangle and the box c + [low, high]^3 are along the axis that parts them best, in lattice steps; below 0: they meet. */
static double apart(const double p[9], const int64_t c[3], double low, double high)
{
    double axes[13][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, edge[3][3], worst = -INFINITY;
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) edge[j][k] = p[3 * ((j + 1) % 3) + k] - p[3 * j + k];
    for (int k = 0; k < 3; k++) axes[3][k] = edge[0][(k + 1) % 3] * edge[1][(k + 2) % 3] - edge[0][(k + 2) % 3] * edge[1][(k + 1) % 3];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) axes[4 + 3 * j + i][k] = edge[j][(k + 1) % 3] * axes[i][(k + 2) % 3] - edge[j][(k + 2) % 3] * axes[i][(k + 1) % 3];
    for (int a = 0; a < 13; a++) {
        const double *x = axes[a], length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        double least = INFINITY, most = -INFINITY, from = 0, to = 0;
        if (!(length > 1e-12)) continue;
        for (int j = 0; j < 3; j++) {
            const double s = (p[3 * j] - (double)c[0]) * x[0] + (p[3 * j + 1] - (double)c[1]) * x[1] + (p[3 * j + 2] - (double)c[2]) * x[2];
            least = fmin(least, s), most = fmax(most, s);
        }
        for (int k = 0; k < 3; k++) from += fmin(low * x[k], high * x[k]), to += fmax(low * x[k], high * x[k]);
        worst = fmax(worst, fmax(least - to, from - most) / length);
    }
    return worst;
}

/* They are so far apart along an axis of the lattice that `apart` needs not be asked how far. */
static int far_apart(const double p[9], const int64_t c[3])
{
    for (int k = 0; k < 3; k++) {
        const double least = fmin(p[k], fmin(p[3 + k], p[6 + k])), most = fmax(p[k], fmax(p[3 + k], p[6 + k]));
        if (least > (double)c[k] + 3 || most < (double)c[k] - 2) return 1;
    }
    return 0;
}

/* Corners of triangles within the lattice; one is flat, some lie along it, some leave it. */
static double *make_corners(harness *h, int64_t n, int bits)
{
    double *p = harness_alloc(9 * n + 1, sizeof *p), side = ldexp(1, bits);
    for (int64_t t = 0; t < n; t++) {
        const double size = t % 5 == 0 ? side : t % 5 == 1 ? 0.3 : 3;
        for (int i = 0; i < 9; i++) {
            const double r = harness_random(h);
            p[9 * t + i] = i < 3 ? side * (0.5 + 0.45 * r) : p[9 * t + i % 3] + 0.5 * size * r;
        }
        for (int j = 0; j < 3 && t % 7 == 3; j++) p[9 * t + 3 * j + t % 3] = floor(side / 2);
        for (int k = 0; k < 3 && t % 11 == 5; k++) p[9 * t + 3 + k] = p[9 * t + k];
    }
    return p;
}

static void check_cells(harness *h, const modal_octree_build_task *t)
{
    const int64_t side = (int64_t)1 << t->bits;
    int64_t next = 0, wrong = 0, flat = 0;
    for (int64_t i = 0; i < t->n_triangles; i++) flat += i % 11 == 5;
    for (int64_t key = 0; key < side * side * side; key++) {
        const int64_t c[3] = {modal_morton_squeeze((uint64_t)key), modal_morton_squeeze((uint64_t)key >> 1), modal_morton_squeeze((uint64_t)key >> 2)};
        double nearest = INFINITY;
        for (int64_t i = 0; i < t->n_triangles && nearest > -1e-9; i++)
            if (i % 11 != 5 && !far_apart(t->corners + 9 * i, c)) nearest = fmin(nearest, apart(t->corners + 9 * i, c, -t->margin, 1 + t->margin));
        const int there = next < t->counts->cells && t->cell_keys[next] == key;
        next += there;
        wrong += there ? nearest > 1e-9 : nearest < -1e-9;
    }
    if (wrong || next != t->counts->cells) harness_fail(h, "%lld cells are wrong, %lld of %lld in order",
        (long long)wrong, (long long)next, (long long)t->counts->cells);
    if (t->counts->flat != flat) harness_fail(h, "%lld flat triangles, not %lld", (long long)t->counts->flat, (long long)flat);
}

/* A sample's number by the tree, -1: none. */
static int64_t descend(const modal_octree_build_task *t, int64_t x, int64_t y, int64_t z, int *begins)
{
    const int depth = t->bits / t->side_bits, digit = 3 * t->side_bits;
    const uint64_t key = modal_morton(x, y, z);
    int64_t node = 0;
    for (int level = 0; level < depth; level++) {
        const int32_t cell = t->cells[(node << digit) + (int64_t)(key >> digit * (depth - 1 - level) & (((uint64_t)1 << digit) - 1))];
        if (cell == 0) return -1;
        if (level == depth - 1) {
            *begins = cell < 0 && modal_octree_leaf_begins(cell);
            return cell < 0 ? modal_octree_leaf_sample(cell) : -2;
        }
        if (cell < t->node_offsets[level + 1] || cell >= t->node_offsets[level + 2]) return -2;
        node = cell;
    }
    return -2;
}

static int order_keys(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Every lattice point by the tree, every cell by a look-up of its corner. */
static void check_tree(harness *h, const modal_octree_build_task *t)
{
    const int64_t side = (int64_t)1 << t->bits;
    int64_t n = 0, cells = 0, wrong = 0;
    for (int64_t key = 0; key < side * side * side; key++) {
        const int64_t c[3] = {modal_morton_squeeze((uint64_t)key), modal_morton_squeeze((uint64_t)key >> 1), modal_morton_squeeze((uint64_t)key >> 2)};
        int wanted = 0, begins = 0, cell = 0;
        for (int k = 0; k < 8; k++) { /* cells of which the point is a corner */
            const int64_t x = c[0] - (k & 1), y = c[1] - (k >> 1 & 1), z = c[2] - (k >> 2);
            if (x < 0 || y < 0 || z < 0) continue;
            const int64_t lower = (int64_t)modal_morton(x, y, z);
            const int is_cell = bsearch(&lower, t->cell_keys, (size_t)t->counts->cells, sizeof lower, order_keys) != NULL;
            wanted |= is_cell;
            if (k == 0) cell = is_cell;
        }
        const int64_t sample = t->counts->nodes ? descend(t, c[0], c[1], c[2], &begins) : -1;
        wrong += sample != (wanted ? n : -1) || (wanted && (t->keys[n] != key || begins != cell || t->begins[n] != cell));
        n += wanted;
        if (!cell || !t->width) continue;
        const float point[3] = {(float)c[0], (float)c[1], (float)c[2]};
        float value[3] = {NAN, NAN, NAN};
        const modal_octree_grid grid = {.bits = t->bits, .top_bits = t->bits - 2 * t->n_levels, .n_levels = t->n_levels, .top = t->top, .masks = t->masks,
                                        .channels = t->width == 3 ? MODAL_OCTREE_FLOAT3 : MODAL_OCTREE_FLOAT, .records = t->records};
        const modal_octree_lookup_task one = {.grid = grid, .filter = MODAL_OCTREE_NEAREST, .n_points = 1, .points = point, .values = value};
        wrong += modal_octree_lookup_ref(&one, NULL, NULL) != MODAL_OK || memcmp(value, t->values + t->width * sample, 4 * (size_t)t->width) != 0;
        for (int k = 1; k < 8; k++) {
            const int64_t x = c[0] + (k & 1), y = c[1] + (k >> 1 & 1), z = c[2] + (k >> 2);
            const int64_t other = x < side && y < side && z < side ? descend(t, x, y, z, &begins) : -1;
            for (int j = 0; j < t->width; j++)
                wrong += t->records[8 * (t->width * cells + j) + k] != (other < 0 ? 0 : t->values[t->width * other + j]);
        }
        cells++;
    }
    if (wrong || n != t->counts->samples) harness_fail(h, "%lld lattice points are wrong, %lld of %lld samples",
        (long long)wrong, (long long)n, (long long)t->counts->samples);
}

/* Bytes of each output that are written, by the counts. */
static void sizes_of(const modal_octree_build_task *t, int64_t size[OUTPUTS])
{
    const modal_octree_build_counts *c = t->counts;
    const int64_t n_top = (int64_t)1 << 3 * (t->bits - 2 * t->n_levels);
    const int64_t all[OUTPUTS] = {sizeof *c, 4 * n_top, 16 * c->masks, 8 * c->cells, 8 * c->samples, c->samples, 8 * (t->bits / t->side_bits + 1),
                                  (4 * t->most_nodes) << 3 * t->side_bits, 32 * t->width * c->cells};
    memcpy(size, all, sizeof all);
}

/* Arrays of the task in the order of `names`. */
static void set_outputs(modal_octree_build_task *t, void *const to[OUTPUTS])
{
    t->counts = to[0], t->top = to[1], t->masks = to[2], t->cell_keys = to[3], t->keys = to[4], t->begins = to[5], t->node_offsets = to[6];
    t->cells = to[7], t->records = to[8];
}

static void rooms_of(const modal_octree_build_task *t, int64_t room[OUTPUTS])
{
    const modal_octree_build_counts all = {.masks = t->most_masks, .cells = t->most_cells, .samples = t->most_samples};
    modal_octree_build_task most = *t;
    most.counts = (modal_octree_build_counts *)&all;
    sizes_of(&most, room);
}

static int64_t different(const void *a, const void *b, int64_t bytes)
{
    int64_t n = 0;
    for (int64_t i = 0; i < bytes; i++) n += ((const uint8_t *)a)[i] != ((const uint8_t *)b)[i];
    return n;
}

/* Room for the masks of cells, but not for those of samples, of which there are mostly more. Returns the counts. */
static const harness_output *build_narrow(harness *h, const modal_octree_build_task *t,
                                          const modal_octree_build_counts *c, const int64_t room[OUTPUTS])
{
    modal_error err = {0};
    modal_octree_build_task narrow = *t;
    void *to[OUTPUTS];
    const harness_output *counts = NULL;
    narrow.most_masks = c->masks;
    narrow.width = 0;
    for (int k = 0; k < OUTPUTS; k++) {
        const harness_output *array = harness_new_output(h,
                                                         k == 2   ? 4 * c->masks
                                                         : k == 8 ? 0
                                                                  : (room[k] + 3) / 4,
                                                         0, NULL);
        if (k == 0) counts = array;
        to[k] = array->device;
    }
    set_outputs(&narrow, to);
    harness_ok(h, h->kernels->octree_build(&narrow, h->stream, &err), &err);
    return counts;
}

static void check(harness *h, int64_t n, int bits, int side_bits, int n_levels, int width)
{
    modal_error err = {0};
    int64_t room[OUTPUTS], size[OUTPUTS];
    void *host[OUTPUTS], *device[OUTPUTS];
    harness_output *outputs[2][OUTPUTS];
    harness_case(h, "%lld triangles, 2^%d points a side, nodes of 2^%d, %d levels, %d numbers", (long long)n, bits, side_bits, n_levels, width);
    double *corners = make_corners(h, n, bits);
    uint32_t *values = harness_alloc(VALUES, sizeof *values);
    for (int64_t i = 0; i < VALUES; i++) values[i] = 0x3f800000u + (uint32_t)i;
    const int64_t most = bits < 6 ? (int64_t)1 << 3 * bits : bits == 6 ? 1 << 18 : 1 << 20;
    modal_octree_build_task t = {.bits = bits, .side_bits = side_bits, .n_levels = n_levels, .n_triangles = n, .margin = 0x1p-11, .most_masks = most,
                                 .most_cells = most, .most_samples = most, .most_nodes = most >> (side_bits == 1 ? 0 : 3), .width = width};
    rooms_of(&t, room);
    for (int k = 0; k < OUTPUTS; k++) host[k] = harness_alloc(room[k] + 16, 1);
    set_outputs(&t, host);
    t.corners = corners, t.values = values;
    harness_ok(h, modal_octree_build_ref(&t, NULL, &err), &err);
    const modal_octree_build_task expected = t;
    if (h->is_reference && n < 100) check_cells(h, &t);
    if (h->is_reference) check_tree(h, &t);
    sizes_of(&t, size);
    t.corners = harness_input(h, corners, 72 * n, 0);
    t.values = harness_input(h, values, 4 * VALUES, 0);
    t.scratch = harness_new_output(h, modal_octree_build_scratch(&t) / 4 + 64, 0, NULL)->device;
    for (int twice = 0; twice < 2; twice++) {
        for (int k = 0; k < OUTPUTS; k++) device[k] = (outputs[twice][k] = harness_new_output(h, (room[k] + 3) / 4, 0, NULL))->device;
        set_outputs(&t, device);
        harness_ok(h, h->kernels->octree_build(&t, h->stream, &err), &err);
    }
    modal_octree_build_task small = t; /* a second run's arrays, too little room in each */
    const modal_octree_build_counts *c = expected.counts;
    harness_output *counts = harness_new_output(h, 12, 0, NULL);
    harness_output *keys = harness_new_output(h, 2 * (c->samples / 2) + 2, 0, NULL), *cell_keys = harness_new_output(h, 2 * (c->cells / 2) + 2, 0, NULL);
    small.counts = (modal_octree_build_counts *)counts->device;
    small.keys = (int64_t *)keys->device, small.cell_keys = (int64_t *)cell_keys->device;
    small.most_samples = c->samples / 2, small.most_cells = c->cells / 2, small.width = 0;
    harness_output *spare[5];
    for (int k = 0; k < 5; k++) spare[k] = harness_new_output(h, (room[k < 2 ? k + 1 : k + 3] + 3) / 4, 0, NULL);
    small.top = (uint32_t *)spare[0]->device, small.masks = (modal_octree_mask *)spare[1]->device, small.begins = (uint8_t *)spare[2]->device;
    small.node_offsets = (int64_t *)spare[3]->device, small.cells = (int32_t *)spare[4]->device;
    harness_ok(h, h->kernels->octree_build(&small, h->stream, &err), &err);
    const harness_output *narrow = build_narrow(h, &t, c, room);
    harness_fetch(h);
    for (int k = 0; k < OUTPUTS; k++)
        for (int twice = 0; twice < 2; twice++)
            harness_compare(h, names[k], twice, (float)different(outputs[twice][k]->host, host[k], size[k]), 0, 0);
    modal_octree_build_counts said;
    memcpy(&said, counts->host, sizeof said);
    if (c->cells > 1 && !(said.cells == c->cells))
        harness_fail(h, "too little room: %lld cells are said, of %lld", (long long)said.cells, (long long)c->cells);
    if (c->sample_masks > c->masks) {
        memcpy(&said, narrow->host, sizeof said);
        harness_compare(h, "samples have more masks than there is room for, as said", 0,
                        (float)(said.sample_masks > c->masks), 1, 0);
    }
    for (int k = 0; k < OUTPUTS; k++) free(host[k]);
    free(corners), free(values);
}

static void run(harness *h)
{
    static const int64_t sizes[] = {0, 1, 40, 300};
    if (!h->kernels->octree_build) {
        harness_unsupported(h, "this back end has no such operation");
        return;
    }
    if (h->tiny) { /* every kernel once: racecheck takes long for grids of a thousand blocks */
        check(h, 40, 4, 2, 2, 1);
        check(h, 40, 6, 1, 3, 0);
        return;
    }
    for (int i = 0; i < (h->quick ? 3 : 4); i++) {
        check(h, sizes[i], 3, 1, 1, 1);
        check(h, sizes[i], 4, 2, 2, 1);
        check(h, sizes[i], 6, 3, 2, 3);
        check(h, sizes[i], 6, 1, 3, 0);
        if (h->quick || h->is_reference) continue; /* what is larger is compared with the reference only */
        check(h, sizes[i] < 40 ? sizes[i] : 40, 7, 1, 2, 1);
        check(h, sizes[i] < 12 ? sizes[i] : 12, 8, 2, 3, 1);
    }
}

int main(int argc, char **argv) { return harness_main(argc, argv, "octree_build", run); }
