/* SPDX-License-Identifier: Apache-2.0 */
/* Triangles by bands of 32 rows, for operations of the CPU that draw a band a thread: its samples stay in the second-level cache, and no two
 * threads write to one. One that reaches into two is in both lists, the few that are taller are in one that all bands go through. */
#ifndef MODAL_KERNELS_RASTER_BANDS_H
#define MODAL_KERNELS_RASTER_BANDS_H

#include "kernels/raster/paint_math.h"

enum { BAND = MODAL_RASTER_BAND, CHUNKS = MODAL_RASTER_CHUNKS, TALL = 3 };

/* What the scratch holds. */
typedef struct bands {
    raster_point *points;  /* [n_points + n_more] */
    uint32_t *of;          /* [n_triangles] first band << 2 | number of bands, 3: more than two; 0: not drawn */
    uint32_t *sorted;      /* [<= 2 n_triangles] triangles by band */
    uint32_t *tall;        /* [n_tall] */
    int64_t (*counts)[MODAL_RASTER_SIZE / BAND + 1]; /* [CHUNKS] of a band; then where it begins in `sorted`; the last: tall ones */
    int64_t n_tall;
    int32_t n_bands;
} bands;

static inline bands bands_lay_out(const modal_raster_task *task)
{
    bands s = {.counts = task->scratch, .n_bands = (task->height + BAND - 1) / BAND};
    s.points = (raster_point *)(s.counts + CHUNKS);
    s.of = (uint32_t *)(s.points + task->mesh.n_points + task->mesh.n_more);
    s.sorted = s.of + task->mesh.n_triangles;
    s.tall = s.sorted + 2 * task->mesh.n_triangles;
    return s;
}

/* The band where a triangle begins and how many it reaches. */
static inline uint32_t bands_of(const modal_raster_task *task, const bands *s, int64_t t)
{
    const int32_t *corners = task->mesh.triangles + 3 * t;
    const raster_point *a = s->points + corners[0], *b = s->points + corners[1], *c = s->points + corners[2];
    const uint32_t outside = a->outside | b->outside | c->outside;
    const unsigned flags = task->mesh.flags ? task->mesh.flags[t] : 0;
    raster_setup box;
    if (!raster_is_wanted(task, flags)) return 0;
    if (outside) /* whether its front is seen and where is not known yet */
        return (a->outside & b->outside & c->outside) || (outside & RASTER_NOT_FINITE) ? 0 : TALL;
    const int64_t area = raster_area(a, b, c);
    if (area == 0 || !raster_is_drawn(task, flags, area < 0)) return 0;
    if (!raster_box(&box, a, b, c, task->width, task->height, task->samples)) return 0;
    const int32_t first = box.top / BAND, count = box.bottom / BAND - first + 1;
    return (uint32_t)first << 2 | (uint32_t)(count < TALL ? count : TALL);
}

static inline void bands_project(const modal_raster_task *task, bands *s)
{
    const modal_raster_mesh *mesh = &task->mesh;
    const modal_raster_view view = *task->view;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mesh->n_points; i++) s->points[i] = raster_project(&view, mesh->points + 3 * i);
    for (int64_t i = 0; i < mesh->n_more; i++) s->points[mesh->n_points + i] = raster_project(&view, mesh->more + 3 * i);
}

static inline void bands_sort(const modal_raster_task *task, bands *s)
{
    const int64_t n = task->mesh.n_triangles;
    int64_t at = 0;
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        int64_t *counts = s->counts[chunk];
        memset(counts, 0, (size_t)(s->n_bands + 1) * sizeof *counts);
        for (int64_t t = n * chunk / CHUNKS; t < n * (chunk + 1) / CHUNKS; t++) {
            const uint32_t mine = s->of[t] = bands_of(task, s, t), count = mine & 3;
            if (count == TALL) counts[s->n_bands]++;
            if (count == 1 || count == 2) counts[mine >> 2]++;
            if (count == 2) counts[(mine >> 2) + 1]++;
        }
    }
    for (int band = 0; band <= s->n_bands; band++) {
        if (band == s->n_bands) at = 0;
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            const int64_t count = s->counts[chunk][band];
            s->counts[chunk][band] = at;
            at += count;
        }
    }
    s->n_tall = at;
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        int64_t *places = s->counts[chunk];
        for (int64_t t = n * chunk / CHUNKS; t < n * (chunk + 1) / CHUNKS; t++) {
            const uint32_t mine = s->of[t], count = mine & 3;
            if (count == TALL) s->tall[places[s->n_bands]++] = (uint32_t)t;
            if (count == 1 || count == 2) s->sorted[places[mine >> 2]++] = (uint32_t)t;
            if (count == 2) s->sorted[places[(mine >> 2) + 1]++] = (uint32_t)t;
        }
    }
    /* places of the last chunk are now where each band ends */
}

/* Edge function k of a sample at (sx, sy) from the box's upper left corner is a[k] sx + b[k] sy + c[k]; negative with its bias:
 * the sample is not covered. */
typedef struct edges {
    int64_t a[3], b[3], c[3];
    int32_t bias[3];
} edges;

static inline __attribute__((always_inline)) edges edges_of(const raster_setup *s)
{
    edges e;
    for (int k = 0; k < 3; k++) {
        const int from = (k + 1) % 3, to = (k + 2) % 3;
        e.a[k] = s->y[from] - s->y[to];
        e.b[k] = s->x[to] - s->x[from];
        e.c[k] = -(e.a[k] * (s->x[from] - 256 * s->left) + e.b[k] * (s->y[from] - 256 * s->top));
        e.bias[k] = raster_bias(s->x[from], s->y[from], s->x[to], s->y[to]);
    }
    return e;
}

/* Rows [first, last] of a triangle whose corners are not outside. */
typedef void bands_draw(void *self, const modal_raster_task *task, uint32_t t, const raster_point *a, const raster_point *b, const raster_point *c,
                        int32_t first, int32_t last);

/* Draws rows [first, last] of a band's triangles; `draw` is a constant where this is called. */
static inline __attribute__((always_inline)) void bands_each(void *self, const modal_raster_task *task, const modal_raster_view *view,
                                                             const bands *s, int band, int32_t first, int32_t last, bands_draw *draw)
{
    const int64_t begin = band == 0 ? 0 : s->counts[CHUNKS - 1][band - 1], end = s->counts[CHUNKS - 1][band];
    for (int64_t i = begin; i < end + s->n_tall; i++) {
        const uint32_t t = i < end ? s->sorted[i] : s->tall[i - end];
        const int32_t *corners = task->mesh.triangles + 3 * (int64_t)t;
        const raster_point *a = s->points + corners[0], *b = s->points + corners[1], *c = s->points + corners[2];
        if (!(a->outside | b->outside | c->outside)) {
            draw(self, task, t, a, b, c, first, last);
            continue;
        }
        raster_point p[RASTER_MOST_CORNERS];
        int front;
        const int n = raster_cut_triangle(&task->mesh, view, t, p, &front);
        if (!raster_is_drawn(task, task->mesh.flags ? task->mesh.flags[t] : 0, front)) continue;
        for (int k = 2; k < n; k++) draw(self, task, t, &p[0], &p[k - 1], &p[k], first, last);
    }
}

#endif
