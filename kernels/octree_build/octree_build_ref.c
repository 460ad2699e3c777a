/* SPDX-License-Identifier: Apache-2.0 */
/* All points of the lattice in Morton order, each level of the tree and of the masks by itself. */
#include <string.h>

#include "kernels/octree_build/octree_build.h"
#include "kernels/octree_build/octree_overlap.h"
#include "lib/base/memory.h"

typedef struct dense {
    const modal_octree_build_task *task;
    int64_t side, n; /* points a side, and in all */
    uint8_t *cell, *sample;
    int32_t *number; /* of a sample */
} dense;

static void mark(void *context, int axis, int64_t u, int64_t v, int64_t first, int64_t last)
{
    dense *d = context;
    int64_t c[3];
    c[(axis + 1) % 3] = u, c[(axis + 2) % 3] = v;
    for (int64_t w = first; w <= last; w++) {
        c[axis] = w;
        int inside = 1;
        for (int k = 0; k < 3; k++) inside &= c[k] >= 0 && c[k] < d->side;
        if (inside) d->cell[modal_morton(c[0], c[1], c[2])] = 1;
    }
}

/* The number of corner k of the cell, -1 beyond the lattice. */
static int64_t corner_of(const dense *d, int64_t key, int k)
{
    const int64_t x = modal_morton_squeeze((uint64_t)key) + (k & 1), y = modal_morton_squeeze((uint64_t)key >> 1) + (k >> 1 & 1),
                  z = modal_morton_squeeze((uint64_t)key >> 2) + (k >> 2);
    return x < d->side && y < d->side && z < d->side ? (int64_t)modal_morton(x, y, z) : -1;
}

static void list(dense *d)
{
    const modal_octree_build_task *t = d->task;
    modal_octree_build_counts *counts = t->counts;
    for (int64_t key = 0; key < d->n; key++) {
        if (!d->cell[key]) continue;
        if (counts->cells < t->most_cells) t->cell_keys[counts->cells] = key;
        counts->cells++;
        for (int k = 0; k < 8; k++)
            if (corner_of(d, key, k) >= 0) d->sample[corner_of(d, key, k)] = 1;
    }
    for (int64_t key = 0; key < d->n; key++) {
        if (!d->sample[key]) continue;
        d->number[key] = (int32_t)counts->samples;
        if (counts->samples < t->most_samples) {
            t->keys[counts->samples] = key;
            t->begins[counts->samples] = d->cell[key];
        }
        counts->samples++;
    }
}

static void make_nodes(const modal_octree_build_task *t)
{
    const int digit = 3 * t->side_bits, depth = t->bits / t->side_bits;
    const int64_t width = (int64_t)1 << digit, n = t->counts->samples;
    t->node_offsets[0] = 0;
    for (int level = 0; level < depth; level++) {
        const int shift = digit * (depth - level);
        int64_t nodes = 0;
        for (int64_t i = 0; i < n; i++) nodes += i == 0 || t->keys[i] >> shift != t->keys[i - 1] >> shift;
        t->node_offsets[level + 1] = t->node_offsets[level] + nodes;
    }
    t->counts->nodes = t->node_offsets[depth];
    if (t->counts->nodes > t->most_nodes) return;
    memset(t->cells, 0, (size_t)(t->most_nodes * width) * sizeof *t->cells);
    for (int level = 0; level < depth; level++) {
        const int shift = digit * (depth - level);
        int64_t node = t->node_offsets[level] - 1, child = t->node_offsets[level + 1] - 1;
        for (int64_t i = 0; i < n; i++) {
            node += i == 0 || t->keys[i] >> shift != t->keys[i - 1] >> shift;
            child += i == 0 || t->keys[i] >> (shift - digit) != t->keys[i - 1] >> (shift - digit);
            t->cells[node * width + (t->keys[i] >> (shift - digit) & (width - 1))] =
                level == depth - 1 ? modal_octree_leaf(i, t->begins[i]) : (int32_t)child;
        }
    }
}

/* Masks of the points `keys`, level after level; counts them all, and writes those that have room. */
static int64_t make_masks(const modal_octree_build_task *t, const int64_t *keys, int64_t n, int writes)
{
    int64_t begin = 0;
    for (int level = 0; level < t->n_levels; level++) {
        const int shift = 6 * (t->n_levels - level), last = level == t->n_levels - 1;
        int64_t masks = 0;
        for (int64_t i = 0; i < n; i++) masks += i == 0 || keys[i] >> shift != keys[i - 1] >> shift;
        int64_t at = begin - 1, child = last ? -1 : begin + masks - 1;
        for (int64_t i = 0; i < n; i++) {
            const int is_new = i == 0 || keys[i] >> shift != keys[i - 1] >> shift;
            at += is_new;
            child += i == 0 || keys[i] >> (shift - 6) != keys[i - 1] >> (shift - 6);
            if (!writes || at >= t->most_masks) continue;
            if (is_new) t->masks[at] = (modal_octree_mask){.first = (uint32_t)child};
            t->masks[at].there |= (uint64_t)1 << (keys[i] >> (shift - 6) & 63);
            const uint64_t place = (uint64_t)keys[i] >> shift;
            const int bits = t->bits - 2 * t->n_levels;
            const int64_t x = modal_morton_squeeze(place), y = modal_morton_squeeze(place >> 1), z = modal_morton_squeeze(place >> 2);
            if (level == 0) t->top[(((z << bits) + y) << bits) + x] = (uint32_t)at;
        }
        begin += masks;
    }
    return begin;
}

static void make_records(const dense *d)
{
    const modal_octree_build_task *t = d->task;
    for (int64_t i = 0; i < t->counts->cells; i++)
        for (int k = 0; k < 8; k++) {
            const int64_t at = corner_of(d, t->cell_keys[i], k);
            for (int c = 0; c < t->width; c++) t->records[8 * (t->width * i + c) + k] = at < 0 ? 0 : t->values[(int64_t)t->width * d->number[at] + c];
        }
}

modal_status modal_octree_build_ref(const modal_octree_build_task *t, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    dense d = {.task = t, .side = (int64_t)1 << t->bits, .n = (int64_t)1 << 3 * t->bits};
    (void)stream;
    if (t->bits > MODAL_BUILD_REFERENCE_BITS)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "octree_build: the reference takes %d bits at most, not %d", MODAL_BUILD_REFERENCE_BITS, t->bits);
    MODAL_TRY(modal_alloc_zero(&d.cell, d.n, 1, "octree_build", err));
    MODAL_TRY(modal_alloc_zero(&d.sample, d.n, 1, "octree_build", err));
    MODAL_TRY(modal_alloc(&d.number, d.n, sizeof *d.number, "octree_build", err));
    *t->counts = (modal_octree_build_counts){0};
    memset(t->masks, 0, (size_t)t->most_masks * sizeof *t->masks);
    memset(t->top, -1, (size_t)(d.n >> 6 * t->n_levels) * sizeof *t->top);
    for (int64_t i = 0; i < t->n_triangles; i++) t->counts->flat += !modal_overlap_runs(t->corners + 9 * i, -t->margin, 1 + t->margin, mark, &d);
    list(&d);
    if (t->counts->cells > t->most_cells || t->counts->samples > t->most_samples) goto done;
    make_nodes(t);
    t->counts->masks = make_masks(t, t->cell_keys, t->counts->cells, 1);
    t->counts->sample_masks = make_masks(t, t->keys, t->counts->samples, 0);
    if (t->width) make_records(&d);
done:
    modal_free(&d.cell);
    modal_free(&d.sample);
    modal_free(&d.number);
    return status;
}
