/* SPDX-License-Identifier: Apache-2.0 */
/* Bands of rows, a band a thread (raster_bands.h). A triangle of less than 64 pixels a side, which nearly all are, has edge functions in 32
 * bits: all samples of a pixel, or eight pixels of one sample, at once. */
#include "kernels/cpu.h"
#include "kernels/raster/alpha_math.h"
#include "kernels/raster/raster_bands.h"

#if defined(MODAL_SIMD) && defined(__x86_64__)
#define TARGET_AVX2 __attribute__((target("avx2")))
#endif

enum { SMALL = 64 };

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

/* Any size, each sample tested. */
static void draw_tested(const modal_raster_task *task, uint32_t t, const raster_setup *s)
{
    const edges e = edges_of(s);
    raster_clip corners[3];
    paint_view_corners(&task->mesh, task->view, t, corners);
    for (int32_t y = s->top; y <= s->bottom; y++)
        for (int32_t x = s->left; x <= s->right; x++)
            for (int i = 0; i < task->samples; i++) {
                const int32_t in_x = raster_sample_x(task->samples, i), in_y = raster_sample_y(task->samples, i);
                const int64_t sx = 256 * (int64_t)(x - s->left) + in_x, sy = 256 * (int64_t)(y - s->top) + in_y;
                int64_t edge[3], inside = 0;
                for (int k = 0; k < 3; k++) {
                    edge[k] = e.a[k] * sx + e.b[k] * sy + e.c[k];
                    inside |= edge[k] + e.bias[k];
                }
                if (inside < 0) continue;
                const float depth = raster_depth(s, (float)edge[1], (float)edge[2]);
                const int64_t at = ((int64_t)y * task->width + x) * task->samples + i;
                const uint64_t key = raster_key(depth, t);
                /* what is behind need not be tested */
                if (task->depths ? !(depth > task->depths[at]) : key >= task->keys[at]) continue;
                if (!paint_is_there(task, t, corners, (float)(256 * x + in_x) / 256.0f, (float)(256 * y + in_y) / 256.0f, 1))
                    continue;
                if (task->depths)
                    task->depths[at] = depth;
                else
                    task->keys[at] = key;
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
    if (task->test && task->mesh.flags && task->mesh.flags[t] & task->test)
        draw_tested(task, t, &s);
    else if (width < 256 * SMALL && height < 256 * SMALL)
        draw_small(task, t, &s, samples);
    else
        draw_wide(task, t, &s, samples);
}

static void draw_1(void *self, const modal_raster_task *task, uint32_t t, const raster_point *a, const raster_point *b, const raster_point *c,
                   int32_t first, int32_t last)
{
    (void)self;
    draw(task, t, a, b, c, first, last, 1);
}

static void draw_4(void *self, const modal_raster_task *task, uint32_t t, const raster_point *a, const raster_point *b, const raster_point *c,
                   int32_t first, int32_t last)
{
    (void)self;
    draw(task, t, a, b, c, first, last, 4);
}

static void draw_8(void *self, const modal_raster_task *task, uint32_t t, const raster_point *a, const raster_point *b, const raster_point *c,
                   int32_t first, int32_t last)
{
    (void)self;
    draw(task, t, a, b, c, first, last, 8);
}

static void draw_band(const modal_raster_task *task, const bands *s, int band)
{
    const int32_t first = band * BAND, last = raster_min(first + BAND, task->height) - 1;
    const int64_t row = (int64_t)task->width * task->samples;
    const modal_raster_view view = *task->view;
    if (task->keys) memset(task->keys + first * row, 0xff, (size_t)((last - first + 1) * row) * sizeof *task->keys);
    if (task->depths) memset(task->depths + first * row, 0, (size_t)((last - first + 1) * row) * sizeof *task->depths);
    if (task->samples == 1) bands_each(NULL, task, &view, s, band, first, last, draw_1);
    if (task->samples == 4) bands_each(NULL, task, &view, s, band, first, last, draw_4);
    if (task->samples == 8) bands_each(NULL, task, &view, s, band, first, last, draw_8);
}

modal_status modal_raster_cpu(const modal_raster_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    bands s = bands_lay_out(task);
    bands_project(task, &s);
    bands_sort(task, &s);
#pragma omp parallel for schedule(dynamic, 1)
    for (int band = 0; band < s.n_bands; band++) draw_band(task, &s, band);
    return MODAL_OK;
}
