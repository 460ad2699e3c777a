/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/grid.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/octree/bricks.h"

enum { TWO_LEVELS = 12, TOP_BITS = 8 }; /* up to 2^12 cells a side two levels of masks leave a top of at most 2^24 numbers */

void modal_octree_tables_free(modal_octree_tables *t)
{
    modal_free(&t->top);
    modal_free(&t->masks);
    modal_free(&t->records);
    *t = (modal_octree_tables){0};
}

int64_t modal_octree_tables_bytes(const modal_octree_tables *t)
{
    return t->n_top * (int64_t)sizeof *t->top + t->n_masks * (int64_t)sizeof *t->masks +
           t->n_records * 8 * (int64_t)modal_octree_value_bytes(t->grid.channels);
}

/* Cells that begin with a sample, in Morton order. */
modal_status modal_octree_list_cells(const modal_octree *o, int64_t **keys, modal_error *err)
{
    const int64_t width = (int64_t)1 << 3 * modal_octree_side_bits(o);
    const modal_status status = modal_alloc(keys, o->n_cells, sizeof **keys, "cells", err);
    int64_t n = 0;
    for (int64_t i = o->node_offsets[o->depth - 1] * width; status == MODAL_OK && i < o->n_nodes * width; i++)
        if (o->cells[i] < 0 && modal_octree_leaf_begins(o->cells[i])) (*keys)[n++] = o->keys[modal_octree_leaf_sample(o->cells[i])];
    return status;
}

/* Masks of all levels from the deepest up; those of a level above count the ones of the level below. */
static modal_status make_masks(const int64_t *keys, modal_octree_tables *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t counts[MODAL_OCTREE_BITS] = {0}, n = 0, first = 0;
    const int n_levels = t->grid.n_levels;
    for (int level = 0; level < n_levels; level++) {
        const int shift = 6 * (n_levels - level);
        for (int64_t i = 0; i < t->n_records; i++) counts[level] += i == 0 || keys[i] >> shift != keys[i - 1] >> shift;
        n += counts[level];
    }
    MODAL_TRY(modal_alloc_zero(&t->masks, n, sizeof *t->masks, "masks", err));
    MODAL_TRY(modal_alloc(&t->top, t->n_top, sizeof *t->top, "top", err));
    memset(t->top, -1, (size_t)t->n_top * sizeof *t->top);
    t->n_masks = n;
    for (int level = 0; level < n_levels; level++) {
        const int shift = 6 * (n_levels - level);
        int64_t at = first - 1, child = level == n_levels - 1 ? 0 : first + counts[level];
        for (int64_t i = 0; i < t->n_records; i++) {
            const int64_t before = i ? keys[i - 1] : -1;
            if (i == 0 || keys[i] >> shift != before >> shift) {
                t->masks[++at].first = (uint32_t)child;
                if (level == 0) {
                    const uint64_t place = (uint64_t)keys[i] >> shift;
                    const int64_t x = modal_morton_squeeze(place), y = modal_morton_squeeze(place >> 1), z = modal_morton_squeeze(place >> 2);
                    t->top[(((z << t->grid.top_bits) + y) << t->grid.top_bits) + x] = (uint32_t)at;
                }
            }
            if (i == 0 || keys[i] >> (shift - 6) != before >> (shift - 6)) child++;
            t->masks[at].there |= (uint64_t)1 << (keys[i] >> (shift - 6) & 63);
        }
        first += counts[level];
    }
    for (int64_t i = 0; n_levels == 0 && i < t->n_records; i++) { /* a lattice of one or two cells a side: the top has the records */
        const uint64_t key = (uint64_t)keys[i];
        const int64_t x = modal_morton_squeeze(key), y = modal_morton_squeeze(key >> 1), z = modal_morton_squeeze(key >> 2);
        t->top[(((z << t->grid.top_bits) + y) << t->grid.top_bits) + x] = (uint32_t)i;
    }
done:
    return status;
}

/* The eight corners of every cell: all are samples. */
static modal_status make_records(const modal_octree_lattice *o, modal_octree_tables *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_bricks samples = {0};
    const int width = o->channels == MODAL_OCTREE_FLOAT3 ? 3 : 1;
    int missing = 0;
    uint32_t *records = NULL;
    MODAL_TRY(modal_bricks_of_keys(o->keys, o->n_samples, &samples, err));
    MODAL_TRY(modal_alloc(&records, t->n_records * 8 * width, sizeof *records, "records", err));
    t->records = records;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static) reduction(| : missing)
    for (int64_t i = 0; i < t->n_records; i++) {
        const uint64_t key = (uint64_t)o->cells[i];
        const uint32_t x = (uint32_t)modal_morton_squeeze(key), y = (uint32_t)modal_morton_squeeze(key >> 1), z = (uint32_t)modal_morton_squeeze(key >> 2);
        const int64_t own = modal_bricks_find(&samples, key >> 6);
        for (uint32_t k = 0; k < 8; k++) {
            const uint32_t a = x + (k & 1), b = y + (k >> 1 & 1), c = z + (k >> 2);
            const uint64_t brick = modal_morton(a >> 2, b >> 2, c >> 2);
            const int64_t in = brick == key >> 6 ? own : modal_bricks_find(&samples, brick);
            const int64_t sample = in < 0 ? -1 : modal_bricks_point(&samples, in, modal_octree_place(a, b, c, 0));
            missing |= sample < 0;
            for (int j = 0; j < width && sample >= 0; j++)
                memcpy(&records[8 * (i * width + j) + k], (const char *)o->values + 4 * (sample * width + j), 4);
        }
    }
    if (missing) status = modal_error_set(err, MODAL_ERROR_INPUT, "a cell lacks one of its corners");
done:
    modal_bricks_free(&samples);
    return status;
}

modal_status modal_octree_tables_of(const modal_octree_lattice *o, modal_octree_tables *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int bits = o->bits;
    *t = (modal_octree_tables){0};
    const int n_levels = bits < 2 ? 0 : bits < 4 ? 1 : bits <= TWO_LEVELS ? 2 : (bits - TOP_BITS + 1) / 2;
    t->grid = (modal_octree_grid){.bits = bits, .top_bits = bits - 2 * n_levels, .n_levels = n_levels, .channels = o->channels};
    t->n_top = (int64_t)1 << 3 * t->grid.top_bits;
    t->n_records = o->n_cells;
    MODAL_TRY(make_masks(o->cells, t, err));
    MODAL_TRY(make_records(o, t, err));
    t->grid.top = t->top;
    t->grid.masks = t->masks;
    t->grid.records = t->records;
done:
    if (status != MODAL_OK) modal_octree_tables_free(t);
    return status;
}

modal_status modal_octree_tables_make(const modal_octree *o, modal_octree_tables *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *cells = NULL;
    const int bits = modal_octree_bits(o);
    *t = (modal_octree_tables){0};
    MODAL_TRY(modal_octree_list_cells(o, &cells, err));
    const modal_octree_lattice lattice = {bits, o->channels, o->n_cells, o->n_samples, cells, o->keys, o->values};
    MODAL_TRY(modal_octree_tables_of(&lattice, t, err));
    memcpy(t->origin, o->origin, sizeof t->origin);
    t->scale = (double)((int64_t)1 << bits) / o->size;
done:
    modal_free(&cells);
    return status;
}

modal_status modal_octree_sample_with(const modal_octree_tables *t, const modal_octree_lookup_task *with, float level, const double *positions, int64_t n,
                                      int64_t *n_outside, modal_error *err)
{
    enum { RUN = 1 << 20 };
    modal_status status = MODAL_OK;
    const int64_t bytes = (int64_t)modal_octree_value_bytes(t->grid.channels), most = n < RUN ? n : RUN;
    float *points = NULL, *levels = NULL;
    uint8_t *own = NULL;
    MODAL_TRY(modal_alloc(&points, 3 * most, sizeof *points, "points", err));
    if (with->n_mips) MODAL_TRY(modal_alloc(&levels, most, sizeof *levels, "points", err));
    for (int64_t i = 0; with->n_mips && i < most; i++) levels[i] = level;
    if (!with->found) MODAL_TRY(modal_alloc(&own, n, 1, "points", err));
    uint8_t *const flags = with->found ? with->found : own;
    int64_t outside = 0;
    for (int64_t first = 0; first < n; first += RUN) {
        const int64_t count = n - first < RUN ? n - first : RUN;
        for (int64_t i = 0; i < 3 * count; i++) points[i] = (float)((positions[3 * first + i] - t->origin[i % 3]) * t->scale);
        modal_octree_lookup_task task = *with;
        task.grid = t->grid;
        task.n_points = count;
        task.points = points;
        task.levels = levels;
        task.values = (char *)with->values + bytes * first;
        task.found = flags + first;
        MODAL_TRY(modal_octree_lookup_cpu(&task, NULL, err));
    }
    for (int64_t i = 0; i < n; i++) outside += !flags[i];
    *n_outside = outside;
done:
    modal_free(&points);
    modal_free(&levels);
    modal_free(&own);
    return status;
}

modal_status modal_octree_sample(const modal_octree_tables *t, modal_octree_filter filter, const double *positions, int64_t n, void *values,
                                 uint8_t *found, int64_t *n_outside, modal_error *err)
{
    const modal_octree_lookup_task with = {.filter = filter, .values = values, .found = found};
    return modal_octree_sample_with(t, &with, 0, positions, n, n_outside, err);
}
