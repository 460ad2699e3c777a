/* SPDX-License-Identifier: Apache-2.0 */
/* Triangles offer themselves to the texels around them; then rows are looked up, some texels at a time. */
#include <string.h>

#include "kernels/octree_bake/octree_bake.h"

enum { RUN = 256 };

static int64_t offer(const modal_octree_bake_task *t, int64_t i)
{
    modal_bake_triangle triangle;
    modal_bake_place place;
    int64_t overlapping = 0;
    modal_bake_start(t->uv + 6 * i, (double)t->reach, t->width, t->height, &triangle);
    for (int64_t y = triangle.low[1]; y < triangle.high[1]; y++)
        for (int64_t x = triangle.low[0]; x < triangle.high[0]; x++) {
            uint32_t bits;
            if (!modal_bake_find(&triangle, x, y, (double)t->reach, &place)) continue;
            memcpy(&bits, &place.square, sizeof bits);
            uint64_t *const at = &t->owner[y * t->width + x];
            const uint64_t mine = (uint64_t)bits << 32 | (uint64_t)i;
            uint64_t there = __atomic_load_n(at, __ATOMIC_RELAXED);
            while (mine < there && !__atomic_compare_exchange_n(at, &there, mine, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
            overlapping += bits == 0 && there >> 32 == 0;
        }
    return overlapping;
}

/* Where the texture is looked up for texels x[0], ... of a row. */
typedef struct run {
    int64_t n, x[RUN];
    float points[3 * RUN], levels[RUN];
} run;

/* Looks up what the run has and empties it; returns how many have no value. */
static int64_t finish(const modal_octree_bake_task *t, int64_t row, run *r, modal_error *err)
{
    const size_t bytes = modal_octree_value_bytes(t->grid.channels);
    uint32_t values[3 * RUN];
    uint8_t found[RUN];
    int64_t outside = 0;
    const modal_octree_lookup_task task = {.grid = t->grid, .filter = MODAL_OCTREE_TRILINEAR, .n_mips = t->n_mips, .mips = t->mips, .n_points = r->n,
                                           .levels = t->levels ? r->levels : NULL, .points = r->points, .outside = t->outside,
                                           .outside_rgba8 = t->outside_rgba8, .values = values, .found = found};
    modal_octree_lookup_cpu(&task, NULL, err); /* cannot fail */
    for (int64_t i = 0; i < r->n; i++) {
        memcpy((char *)t->values + bytes * (size_t)(row + r->x[i]), (const char *)values + bytes * (size_t)i, bytes);
        outside += !found[i];
    }
    r->n = 0;
    return outside;
}

static void put_nothing(const modal_octree_bake_task *t, int64_t at)
{
    const int width = modal_octree_width(t->grid.channels);
    if (t->grid.channels == MODAL_OCTREE_RGBA8) ((uint32_t *)t->values)[at] = t->outside_rgba8;
    else
        for (int c = 0; c < width; c++) ((float *)t->values)[width * at + c] = t->outside;
}

static void look_up_row(const modal_octree_bake_task *t, int64_t y, modal_octree_bake_counts *counts, modal_error *err)
{
    const int64_t row = y * t->width;
    uint32_t *const covered = t->covered + y * ((t->width + 31) / 32);
    modal_bake_triangle triangle = {0};
    modal_bake_place place = {0};
    uint64_t last = UINT64_MAX;
    run r = {0};
    for (int64_t x = 0; x < t->width; x++) {
        if (t->owner[row + x] == UINT64_MAX) {
            put_nothing(t, row + x);
            continue;
        }
        const uint64_t i = t->owner[row + x] & UINT32_MAX;
        const float *p = t->points + 9 * i;
        if (i != last) modal_bake_start(t->uv + 6 * i, (double)t->reach, t->width, t->height, &triangle);
        last = i;
        modal_bake_find(&triangle, x, y, (double)t->reach, &place);
        const float b = (float)place.weights[0], c = (float)place.weights[1];
        for (int k = 0; k < 3; k++) r.points[3 * r.n + k] = p[k] + b * (p[3 + k] - p[k]) + c * (p[6 + k] - p[k]);
        r.levels[r.n] = t->levels ? t->levels[i] : 0;
        r.x[r.n++] = x;
        covered[x / 32] |= (uint32_t)1 << x % 32;
        counts->covered++;
        if (r.n == RUN) counts->outside += finish(t, row, &r, err);
    }
    counts->outside += finish(t, row, &r, err);
}

modal_status modal_octree_bake_cpu(const modal_octree_bake_task *t, modal_stream *stream, modal_error *err)
{
    (void)stream;
    int64_t overlapping = 0, n_covered = 0, outside = 0;
    memset(t->owner, 0xff, (size_t)t->width * (size_t)t->height * sizeof *t->owner);
    memset(t->covered, 0, (size_t)t->height * (size_t)((t->width + 31) / 32) * sizeof *t->covered);
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : overlapping)
    for (int64_t i = 0; i < t->n_triangles; i++) overlapping += offer(t, i);
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : n_covered, outside)
    for (int64_t y = 0; y < t->height; y++) {
        modal_octree_bake_counts counts = {0};
        look_up_row(t, y, &counts, err);
        n_covered += counts.covered;
        outside += counts.outside;
    }
    *t->counts = (modal_octree_bake_counts){overlapping, n_covered, outside};
    return MODAL_OK;
}
