/* SPDX-License-Identifier: Apache-2.0 */
/* Points in random order wait for memory: a group goes down level by level, and what each of its points reads next is asked for
 * before it is needed. */
#include "kernels/octree_lookup/octree_lookup.h"

#include <string.h>

enum { GROUP = 32 };

typedef struct group {
    int64_t n;
    uint32_t cell[3][GROUP], at[GROUP]; /* UINT32_MAX: no record */
    float f[3][GROUP];
} group;

/* points [w->n, 3] */
static void begin(const modal_octree_grid *g, const float *points, group *w)
{
    const float side = (float)((uint32_t)1 << g->bits);
    const int down = 2 * g->n_levels;
    for (int64_t i = 0; i < w->n; i++) {
        const float *p = points + 3 * i;
        const int in = p[0] >= 0 && p[1] >= 0 && p[2] >= 0 && p[0] < side && p[1] < side && p[2] < side;
        for (int k = 0; k < 3; k++) {
            w->cell[k][i] = in ? (uint32_t)p[k] : 0;
            w->f[k][i] = in ? p[k] - (float)w->cell[k][i] : 0;
        }
        const uint64_t row = (uint64_t)1 << g->top_bits;
        w->at[i] = in ? g->top[((w->cell[2][i] >> down) * row + (w->cell[1][i] >> down)) * row + (w->cell[0][i] >> down)] : UINT32_MAX;
        if (w->at[i] != UINT32_MAX) __builtin_prefetch(g->masks + w->at[i]);
    }
}

static void descend(const modal_octree_grid *g, group *w)
{
    const size_t bytes = 8 * modal_octree_value_bytes(g->channels);
    for (int level = g->n_levels - 1; level >= 0; level--)
        for (int64_t i = 0; i < w->n; i++) {
            if (w->at[i] == UINT32_MAX) continue;
            const modal_octree_mask *m = &g->masks[w->at[i]];
            const int place = modal_octree_place(w->cell[0][i], w->cell[1][i], w->cell[2][i], 2 * level);
            if (!(m->there >> place & 1)) {
                w->at[i] = UINT32_MAX;
                continue;
            }
            w->at[i] = m->first + (uint32_t)__builtin_popcountll(m->there & (((uint64_t)1 << place) - 1));
            if (level > 0) __builtin_prefetch(g->masks + w->at[i]);
            else __builtin_prefetch((const char *)g->records + bytes * w->at[i]);
        }
}

static inline float interpolate(const float v[8], float x, float y, float z, modal_octree_filter filter)
{
    if (filter == MODAL_OCTREE_NEAREST) return v[(x >= 0.5f) + 2 * (y >= 0.5f) + 4 * (z >= 0.5f)];
    float a[4];
    for (int k = 0; k < 4; k++) a[k] = v[k] + z * (v[k + 4] - v[k]);
    const float b = a[0] + y * (a[2] - a[0]), c = a[1] + y * (a[3] - a[1]);
    return b + x * (c - b);
}

static void look_up(const modal_octree_lookup_task *task, int64_t first, const group *w)
{
    const modal_octree_grid *g = &task->grid;
    const int width = g->channels == MODAL_OCTREE_FLOAT3 ? 3 : 1;
    for (int64_t i = 0; i < w->n; i++) {
        const int found = w->at[i] != UINT32_MAX;
        const float x = w->f[0][i], y = w->f[1][i], z = w->f[2][i];
        if (task->found) task->found[first + i] = (uint8_t)found;
        if (g->channels == MODAL_OCTREE_RGBA8) {
            uint32_t packed = found ? 0 : task->outside_rgba8;
            const uint32_t *record = (const uint32_t *)g->records + 8 * (uint64_t)(found ? w->at[i] : 0);
            for (int c = 0; c < 4 && found; c++) {
                float v[8];
                for (int k = 0; k < 8; k++) v[k] = (float)(int32_t)(record[k] >> 8 * c & 255);
                packed |= (uint32_t)(int32_t)(interpolate(v, x, y, z, task->filter) + 0.5f) << 8 * c;
            }
            ((uint32_t *)task->values)[first + i] = packed;
            continue;
        }
        float *to = (float *)task->values + width * (first + i);
        const float *record = (const float *)g->records + 8 * (uint64_t)width * (found ? w->at[i] : 0);
        for (int c = 0; c < width; c++) to[c] = found ? interpolate(record + 8 * c, x, y, z, task->filter) : task->outside;
    }
}

/* Trilinear numbers [GROUP, 4] of a group's points that want this level: 0 the finest, 1 the first mip, ... */
static void look_up_mip(const modal_octree_lookup_task *task, int64_t first, int mip, const int8_t *wanted, group *w, float (*numbers)[4], uint8_t *found)
{
    const modal_octree_grid *g = mip ? &task->mips[mip - 1].grid : &task->grid;
    const float scale = mip ? 1.0f / (float)(1u << task->mips[mip - 1].octave) : 1, half = mip ? 0.5f : 0;
    const int rgba = g->channels == MODAL_OCTREE_RGBA8, width = modal_octree_width(g->channels);
    float points[GROUP][3] = {{0}}, v[8];
    for (int64_t i = 0; i < w->n; i++)
        for (int k = 0; k < 3; k++) points[i][k] = wanted[i] ? (task->points[3 * (first + i) + k] + half) * scale + half : -1;
    begin(g, points[0], w);
    descend(g, w);
    for (int64_t i = 0; i < w->n; i++) {
        if (!wanted[i]) continue;
        found[i] = w->at[i] != UINT32_MAX;
        for (int c = 0; c < width && found[i]; c++) {
            const uint32_t *bytes = (const uint32_t *)g->records + 8 * (uint64_t)w->at[i];
            const float *record = (const float *)g->records + 8 * ((uint64_t)width * w->at[i] + (uint64_t)c);
            for (int k = 0; k < 8; k++) v[k] = rgba ? (float)(int32_t)(bytes[k] >> 8 * c & 255) : record[k];
            numbers[i][c] = interpolate(v, w->f[0][i], w->f[1][i], w->f[2][i], MODAL_OCTREE_TRILINEAR);
        }
    }
}

/* A group's points are gone through level by level, of those that are wanted; most groups want two. */
static void look_up_levels(const modal_octree_lookup_task *task, int64_t first, group *w)
{
    const int rgba = task->grid.channels == MODAL_OCTREE_RGBA8, width = modal_octree_width(task->grid.channels);
    int low[GROUP], most = 0, least = MODAL_OCTREE_MIPS;
    float part[GROUP], fine[GROUP][4], coarse[GROUP][4];
    uint8_t found[GROUP] = {0}, found_coarse[GROUP] = {0};
    for (int64_t i = 0; i < w->n; i++) {
        const float level = task->levels[first + i];
        for (low[i] = 0; low[i] < task->n_mips && level >= (float)task->mips[low[i]].octave;) low[i]++;
        const int octave = low[i] ? task->mips[low[i] - 1].octave : 0;
        part[i] = low[i] == task->n_mips || !(level > 0) ? -1 : (level - (float)octave) / (float)(task->mips[low[i]].octave - octave);
        if (low[i] > most) most = low[i];
        if (low[i] < least) least = low[i];
    }
    for (int mip = least; mip <= most; mip++) {
        int8_t wanted[GROUP], above[GROUP];
        int any = 0, any_above = 0;
        for (int64_t i = 0; i < w->n; i++) {
            any |= wanted[i] = low[i] == mip;
            any_above |= above[i] = low[i] == mip && part[i] >= 0;
        }
        if (any) look_up_mip(task, first, mip, wanted, w, fine, found);
        if (any_above) look_up_mip(task, first, mip + 1, above, w, coarse, found_coarse);
    }
    for (int64_t i = 0; i < w->n; i++) {
        const int there = found[i] && (part[i] < 0 || found_coarse[i]);
        uint32_t packed = 0;
        if (task->found) task->found[first + i] = (uint8_t)there;
        for (int c = 0; c < width; c++) {
            const float value = !there ? task->outside : part[i] < 0 ? fine[i][c] : fine[i][c] + part[i] * (coarse[i][c] - fine[i][c]);
            if (!rgba) ((float *)task->values)[width * (first + i) + c] = value;
            else if (there) packed |= (uint32_t)(int32_t)(value + 0.5f) << 8 * c;
        }
        if (rgba) ((uint32_t *)task->values)[first + i] = there ? packed : task->outside_rgba8;
    }
}

modal_status modal_octree_lookup_cpu(const modal_octree_lookup_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    const int64_t n = task->n_points;
#pragma omp parallel for schedule(static) if (n > 16384)
    for (int64_t first = 0; first < n; first += GROUP) {
        group w;
        w.n = n - first < GROUP ? n - first : GROUP;
        if (task->levels && task->filter == MODAL_OCTREE_TRILINEAR) {
            look_up_levels(task, first, &w);
            continue;
        }
        begin(&task->grid, task->points + 3 * first, &w);
        descend(&task->grid, &w);
        look_up(task, first, &w);
    }
    return MODAL_OK;
}
