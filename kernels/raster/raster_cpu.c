/* SPDX-License-Identifier: Apache-2.0 */
/* Bands of 32 rows, a band a thread: its keys stay in the second-level cache, and no two threads write to one. Triangles are sorted
 * by bands first; one that reaches into two is in both lists, the few that are taller are in one that all bands go through.
 * A triangle of less than 64 pixels a side, which nearly all are, has edge functions in 32 bits: all samples of a pixel, or eight
 * pixels of one sample, at once. */
#include "kernels/cpu.h"
#include "kernels/raster/raster_math.h"

#if defined(MODAL_SIMD) && defined(__x86_64__)
#define TARGET_AVX2 __attribute__((target("avx2")))
#endif

enum { BAND = MODAL_RASTER_BAND, CHUNKS = MODAL_RASTER_CHUNKS, SMALL = 64, TALL = 3 };

/* What the scratch holds. */
typedef struct sorting {
    raster_point *points;  /* [n_points + n_more] */
    uint32_t *bands;       /* [n_triangles] first band << 2 | number of bands, 3: more than two; 0: not drawn */
    uint32_t *sorted;      /* [<= 2 n_triangles] triangles by band */
    uint32_t *tall;        /* [n_tall] */
    int64_t (*counts)[MODAL_RASTER_SIZE / BAND + 1]; /* [CHUNKS] of a band; then where it begins in `sorted`; the last: tall ones */
    int64_t n_tall;
    int32_t n_bands;
} sorting;

static sorting lay_out(const modal_raster_task *task)
{
    sorting s = {.counts = task->scratch, .n_bands = (task->height + BAND - 1) / BAND};
    s.points = (raster_point *)(s.counts + CHUNKS);
    s.bands = (uint32_t *)(s.points + task->mesh.n_points + task->mesh.n_more);
    s.sorted = s.bands + task->mesh.n_triangles;
    s.tall = s.sorted + 2 * task->mesh.n_triangles;
    return s;
}

/* The band where a triangle begins and how many it reaches. */
static uint32_t bands_of(const modal_raster_task *task, const sorting *s, int64_t t)
{
    const int32_t *corners = task->mesh.triangles + 3 * t;
    const raster_point *a = s->points + corners[0], *b = s->points + corners[1], *c = s->points + corners[2];
    const uint32_t outside = a->outside | b->outside | c->outside;
    const unsigned flags = task->mesh.flags ? task->mesh.flags[t] : 0;
    raster_setup box;
    if (flags & task->skip) return 0;
    if (outside) /* whether its front is seen and where is not known yet */
        return (a->outside & b->outside & c->outside) || (outside & RASTER_NOT_FINITE) ? 0 : TALL;
    const int64_t area = raster_area(a, b, c);
    if (area == 0 || !raster_is_drawn(task, flags, area < 0)) return 0;
    if (!raster_box(&box, a, b, c, task->width, task->height, task->samples)) return 0;
    const int32_t first = box.top / BAND, count = box.bottom / BAND - first + 1;
    return (uint32_t)first << 2 | (uint32_t)(count < TALL ? count : TALL);
}

static void project(const modal_raster_task *task, sorting *s)
{
    const modal_raster_mesh *mesh = &task->mesh;
    const modal_raster_view view = *task->view;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mesh->n_points; i++) s->points[i] = raster_project(&view, mesh->points + 3 * i);
    for (int64_t i = 0; i < mesh->n_more; i++) s->points[mesh->n_points + i] = raster_project(&view, mesh->more + 3 * i);
}

static void sort(const modal_raster_task *task, sorting *s)
{
    const int64_t n = task->mesh.n_triangles;
    int64_t at = 0;
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        int64_t *counts = s->counts[chunk];
        memset(counts, 0, (size_t)(s->n_bands + 1) * sizeof *counts);
        for (int64_t t = n * chunk / CHUNKS; t < n * (chunk + 1) / CHUNKS; t++) {
            const uint32_t bands = s->bands[t] = bands_of(task, s, t), count = bands & 3;
            if (count == TALL) counts[s->n_bands]++;
            if (count == 1 || count == 2) counts[bands >> 2]++;
            if (count == 2) counts[(bands >> 2) + 1]++;
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
            const uint32_t bands = s->bands[t], count = bands & 3;
            if (count == TALL) s->tall[places[s->n_bands]++] = (uint32_t)t;
            if (count == 1 || count == 2) s->sorted[places[bands >> 2]++] = (uint32_t)t;
            if (count == 2) s->sorted[places[(bands >> 2) + 1]++] = (uint32_t)t;
        }
    }
    /* places of the last chunk are now where each band ends */
}

/* ---- a triangle in a band ---- */

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

/* Any size; `samples` is a constant where this is called. */
static inline __attribute__((always_inline)) void draw_wide(const modal_raster_task *task, uint32_t t, const raster_setup *s, int samples)
{
    const edges e = edges_of(s);
    for (int32_t y = s->top; y <= s->bottom; y++)
        for (int32_t i = 0; i < samples; i++) {
            const int64_t sy = 256 * (int64_t)(y - s->top) + raster_sample_y(samples, i);
            int64_t row[3];
            for (int k = 0; k < 3; k++) row[k] = e.a[k] * raster_sample_x(samples, i) + e.b[k] * sy + e.c[k];
            for (int32_t x = s->left; x <= s->right; x++, row[0] += 256 * e.a[0], row[1] += 256 * e.a[1], row[2] += 256 * e.a[2]) {
                if (((row[0] + e.bias[0]) | (row[1] + e.bias[1]) | (row[2] + e.bias[2])) < 0) continue;
                const float depth = raster_depth(s, (float)row[1], (float)row[2]);
                const int64_t at = ((int64_t)y * task->width + x) * samples + i;
                const uint64_t key = raster_key(depth, t);
                if (task->depths) {
                    if (depth > task->depths[at]) task->depths[at] = depth;
                } else if (key < task->keys[at]) {
                    task->keys[at] = key;
                }
            }
        }
}

/* Less than SMALL pixels a side: 32 bits suffice. */
static inline __attribute__((always_inline)) void draw_small(const modal_raster_task *task, uint32_t t, const raster_setup *s, int samples)
{
    int32_t a[3], b[3], c[3], of_sample[3][MODAL_RASTER_MOST_SAMPLES], bias[3];
    for (int k = 0; k < 3; k++) {
        const int from = (k + 1) % 3, to = (k + 2) % 3;
        a[k] = s->y[from] - s->y[to];
        b[k] = s->x[to] - s->x[from];
        c[k] = -(a[k] * (s->x[from] - 256 * s->left) + b[k] * (s->y[from] - 256 * s->top));
        bias[k] = raster_bias(s->x[from], s->y[from], s->x[to], s->y[to]);
        for (int i = 0; i < samples; i++) of_sample[k][i] = a[k] * raster_sample_x(samples, i) + b[k] * raster_sample_y(samples, i) + c[k];
    }
    for (int32_t y = s->top; y <= s->bottom; y++) {
        int32_t row[3];
        for (int k = 0; k < 3; k++) row[k] = 256 * b[k] * (y - s->top);
        for (int32_t x = s->left; x <= s->right; x++, row[0] += 256 * a[0], row[1] += 256 * a[1], row[2] += 256 * a[2])
            for (int i = 0; i < samples; i++) {
                const int32_t e0 = of_sample[0][i] + row[0], e1 = of_sample[1][i] + row[1], e2 = of_sample[2][i] + row[2];
                if (((e0 + bias[0]) | (e1 + bias[1]) | (e2 + bias[2])) < 0) continue;
                const float depth = raster_depth(s, (float)e1, (float)e2);
                const int64_t at = ((int64_t)y * task->width + x) * samples + i;
                if (task->depths) {
                    if (depth > task->depths[at]) task->depths[at] = depth;
                } else {
                    const uint64_t key = raster_key(depth, t);
                    if (key < task->keys[at]) task->keys[at] = key;
                }
            }
    }
}

/* Rows [first, last] of a triangle. */
static inline __attribute__((always_inline)) void draw(const modal_raster_task *task, uint32_t t, const raster_point *a,
                                                       const raster_point *b, const raster_point *c, int32_t first, int32_t last,
                                                       int samples)
{
    raster_setup s;
    const int64_t area = raster_area(a, b, c);
    if (area == 0 || !raster_box(&s, a, b, c, task->width, task->height, samples)) return;
    /* the size of all of it decides, whatever part is drawn: its corners are as far from the box */
    const int32_t width = raster_max(a->x, raster_max(b->x, c->x)) - raster_min(a->x, raster_min(b->x, c->x));
    const int32_t height = raster_max(a->y, raster_max(b->y, c->y)) - raster_min(a->y, raster_min(b->y, c->y));
    s.top = raster_max(s.top, first), s.bottom = raster_min(s.bottom, last);
    if (s.top > s.bottom) return;
    raster_set_up(&s, a, b, c, area);
    if (width < 256 * SMALL && height < 256 * SMALL)
        draw_small(task, t, &s, samples);
    else
        draw_wide(task, t, &s, samples);
}

static inline __attribute__((always_inline)) void draw_cut(const modal_raster_task *task, const modal_raster_view *view, uint32_t t,
                                                           int32_t first, int32_t last, int samples)
{
    raster_point p[RASTER_MOST_CORNERS];
    int front;
    const int n = raster_cut_triangle(&task->mesh, view, t, p, &front);
    if (!raster_is_drawn(task, task->mesh.flags ? task->mesh.flags[t] : 0, front)) return;
    for (int i = 2; i < n; i++) draw(task, t, &p[0], &p[i - 1], &p[i], first, last, samples);
}

static inline __attribute__((always_inline)) void draw_band(const modal_raster_task *task, const sorting *s, int band, int samples)
{
    const int32_t first = band * BAND, last = raster_min(first + BAND, task->height) - 1;
    const int64_t row = (int64_t)task->width * samples;
    const modal_raster_view view = *task->view;
    if (task->keys) memset(task->keys + first * row, 0xff, (size_t)((last - first + 1) * row) * sizeof *task->keys);
    if (task->depths) memset(task->depths + first * row, 0, (size_t)((last - first + 1) * row) * sizeof *task->depths);
    const int64_t begin = band == 0 ? 0 : s->counts[CHUNKS - 1][band - 1], end = s->counts[CHUNKS - 1][band];
    for (int64_t i = begin; i < end + s->n_tall; i++) {
        const uint32_t t = i < end ? s->sorted[i] : s->tall[i - end];
        const int32_t *corners = task->mesh.triangles + 3 * (int64_t)t;
        const raster_point *a = s->points + corners[0], *b = s->points + corners[1], *c = s->points + corners[2];
        if (a->outside | b->outside | c->outside)
            draw_cut(task, &view, t, first, last, samples);
        else
            draw(task, t, a, b, c, first, last, samples);
    }
}

static void band_1(const modal_raster_task *task, const sorting *s, int band) { draw_band(task, s, band, 1); }
static void band_4(const modal_raster_task *task, const sorting *s, int band) { draw_band(task, s, band, 4); }
static void band_8(const modal_raster_task *task, const sorting *s, int band) { draw_band(task, s, band, 8); }

modal_status modal_raster_cpu(const modal_raster_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    sorting s = lay_out(task);
    project(task, &s);
    sort(task, &s);
#pragma omp parallel for schedule(dynamic, 1)
    for (int band = 0; band < s.n_bands; band++)
        (task->samples == 1 ? band_1 : task->samples == 4 ? band_4 : band_8)(task, &s, band);
    return MODAL_OK;
}
