/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/octree_lookup/octree_lookup.h"

#include <math.h>
#include <string.h>

/* The record of the cell of a point, or -1; p becomes what is left in the cell. */
static int64_t find(const modal_octree_grid *g, double p[3])
{
    uint32_t c[3];
    for (int k = 0; k < 3; k++) {
        if (!(p[k] >= 0.0 && p[k] < ldexp(1.0, g->bits))) return -1;
        c[k] = (uint32_t)floor(p[k]);
        p[k] -= floor(p[k]);
    }
    const int down = 2 * g->n_levels;
    const uint64_t row = (uint64_t)1 << g->top_bits;
    uint32_t at = g->top[((c[2] >> down) * row + (c[1] >> down)) * row + (c[0] >> down)];
    for (int level = g->n_levels - 1; level >= 0; level--) {
        if (at == UINT32_MAX) return -1;
        const modal_octree_mask *m = &g->masks[at];
        const int place = modal_octree_place(c[0], c[1], c[2], 2 * level);
        if (!(m->there >> place & 1)) return -1;
        at = m->first + (uint32_t)__builtin_popcountll(m->there & (((uint64_t)1 << place) - 1));
    }
    return (int64_t)at;
}

static double interpolate(const double corner[8], const double f[3], modal_octree_filter filter)
{
    if (filter == MODAL_OCTREE_NEAREST) return corner[(f[0] >= 0.5) + 2 * (f[1] >= 0.5) + 4 * (f[2] >= 0.5)];
    double sum = 0.0;
    for (int k = 0; k < 8; k++)
        sum += corner[k] * (k & 1 ? f[0] : 1 - f[0]) * (k & 2 ? f[1] : 1 - f[1]) * (k & 4 ? f[2] : 1 - f[2]);
    return sum;
}

/* Numbers of the look-up at p of a level: 0 where there is none. */
static int numbers(const modal_octree_grid *g, int octave, const float *point, modal_octree_filter filter, double out[4])
{
    const int rgba = g->channels == MODAL_OCTREE_RGBA8, width = modal_octree_width(g->channels), n = rgba ? 1 : width;
    double p[3], corner[8];
    for (int k = 0; k < 3; k++) p[k] = octave ? ldexp((double)point[k] + 0.5, -octave) + 0.5 : (double)point[k];
    const int64_t record = find(g, p);
    for (int c = 0; c < width && record >= 0; c++) {
        for (int k = 0; k < 8; k++)
            corner[k] = rgba ? ((const uint32_t *)g->records)[8 * record + k] >> 8 * c & 255
                             : (double)((const float *)g->records)[8 * (record * n + c) + k];
        out[c] = interpolate(corner, p, filter);
    }
    return record >= 0;
}

static int numbers_of_level(const modal_octree_lookup_task *task, int64_t i, double out[4])
{
    const float *p = task->points + 3 * i;
    const double level = task->levels && task->filter == MODAL_OCTREE_TRILINEAR ? (double)task->levels[i] : 0;
    int above = 0;
    double coarse[4];
    while (above < task->n_mips && level >= task->mips[above].octave) above++;
    const int low = above ? task->mips[above - 1].octave : 0;
    if (!numbers(above ? &task->mips[above - 1].grid : &task->grid, low, p, task->filter, out)) return 0;
    if (above == task->n_mips || !(level > 0)) return 1;
    const modal_octree_mip *next = &task->mips[above];
    if (!numbers(&next->grid, next->octave, p, task->filter, coarse)) return 0;
    for (int c = 0; c < modal_octree_width(task->grid.channels); c++) out[c] += (level - low) / (next->octave - low) * (coarse[c] - out[c]);
    return 1;
}

static void look_up(const modal_octree_lookup_task *task, int64_t i)
{
    const int rgba = task->grid.channels == MODAL_OCTREE_RGBA8, width = modal_octree_width(task->grid.channels);
    double exact[4] = {0};
    const int found = numbers_of_level(task, i, exact);
    uint32_t packed = 0;
    if (task->found) task->found[i] = (uint8_t)found;
    for (int c = 0; c < width; c++) {
        if (rgba) packed |= (uint32_t)lrint(exact[c]) << 8 * c;
        else ((float *)task->values)[width * i + c] = found ? (float)exact[c] : task->outside;
    }
    if (rgba) ((uint32_t *)task->values)[i] = found ? packed : task->outside_rgba8;
}

modal_status modal_octree_lookup_ref(const modal_octree_lookup_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    for (int64_t i = 0; i < task->n_points; i++) look_up(task, i);
    return MODAL_OK;
}
