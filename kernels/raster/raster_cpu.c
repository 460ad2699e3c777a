/* SPDX-License-Identifier: Apache-2.0 */
/* Bands of rows, a band a thread (raster_bands.h). A triangle of less than 64 pixels a side, which nearly all are, has edge functions in 32
 * bits: all samples of a pixel, or eight pixels of one sample, at once. */
#include "kernels/cpu.h"
#include "kernels/raster/alpha_math.h"
#include "kernels/raster/raster_bands.h"

enum { SMALL = 64 };

/* A row of a triangle, from the box's left edge on. */
typedef struct wide_row {
    const modal_raster_task *task;
    uint32_t triangle;
    raster_setup setup;
    edges edges;
    int64_t at[MODAL_RASTER_MOST_SAMPLES][3]; /* edge functions of the samples of its first pixel */
    int64_t first;                            /* sample 0 of that in the picture */
} wide_row;

/* Sample i of pixels [from, to]. */
static inline __attribute__((always_inline)) void draw_part(const wide_row *r, int i, int64_t from, int64_t to, int samples)
{
    const modal_raster_task *task = r->task;
    for (int64_t n = from; n <= to; n++) {
        const float depth = raster_depth(&r->setup, (float)(r->at[i][1] + 256 * n * r->edges.a[1]), (float)(r->at[i][2] + 256 * n * r->edges.a[2]));
        const int64_t at = r->first + n * samples + i;
        const uint64_t key = raster_key(depth, r->triangle);
        if (task->depths) {
            if (depth > task->depths[at]) task->depths[at] = depth;
        } else if (key < task->keys[at]) {
            task->keys[at] = key;
        }
    }
}

/* All samples of pixels [from, to] as vectors. Edge functions are whole numbers below 2^53, which doubles have exactly, so that they are rounded to
 * float once, as whole numbers of 64 bits are. */
static inline __attribute__((always_inline)) void draw_whole(const wide_row *r, int64_t from, int64_t to, int samples)
{
    const raster_setup s = r->setup;
    const uint32_t t = r->triangle;
    const double step_1 = 256.0 * (double)r->edges.a[1], step_2 = 256.0 * (double)r->edges.a[2];
    double row_1[MODAL_RASTER_MOST_SAMPLES], row_2[MODAL_RASTER_MOST_SAMPLES];
    for (int i = 0; i < samples; i++) row_1[i] = (double)r->at[i][1], row_2[i] = (double)r->at[i][2];
    if (r->task->depths) {
        float *depths = r->task->depths + r->first;
        for (int32_t n = (int32_t)from; n <= (int32_t)to; n++) {
            const float depth = raster_depth(&s, (float)(row_1[0] + step_1 * (double)n), (float)(row_2[0] + step_2 * (double)n));
            depths[n] = depth > depths[n] ? depth : depths[n];
        }
        return;
    }
    uint64_t *keys = r->task->keys + r->first;
    for (int32_t n = (int32_t)from; n <= (int32_t)to; n++)
        for (int i = 0; i < samples; i++) {
            const float depth = raster_depth(&s, (float)(row_1[i] + step_1 * (double)n), (float)(row_2[i] + step_2 * (double)n));
            const uint64_t key = raster_key(depth, t), held = keys[(int64_t)n * samples + i];
            keys[(int64_t)n * samples + i] = key < held ? key : held;
        }
}

typedef void whole_function(const wide_row *row, int64_t from, int64_t to);

#define DEFINE_WHOLE(name, attributes)                                                \
    attributes static void name(const wide_row *row, int64_t from, int64_t to)        \
    {                                                                                 \
        if (row->task->samples == 1) draw_whole(row, from, to, 1);                    \
        if (row->task->samples == 4) draw_whole(row, from, to, 4);                    \
        if (row->task->samples == 8) draw_whole(row, from, to, 8);                    \
    }
DEFINE_WHOLE(whole_base, )
#if defined(MODAL_SIMD) && defined(__x86_64__)
DEFINE_WHOLE(whole_avx2, __attribute__((target("avx2"))))
DEFINE_WHOLE(whole_avx512, __attribute__((target("avx512f,avx512vl,avx512dq,prefer-vector-width=512"))))
#else
#define whole_avx2 whole_base
#define whole_avx512 whole_base
#endif

/* What draws rows, and how many samples a pixel has. */
typedef struct wide_rows {
    whole_function *whole;
    int samples;
} wide_rows;

static whole_function *whole_of_machine(void)
{
    const modal_simd simd = modal_cpu_simd();
    return simd >= MODAL_SIMD_AVX512 ? whole_avx512 : simd >= MODAL_SIMD_AVX2 ? whole_avx2 : whole_base;
}

/* Pixels [*from, *to] of n, where none of the edge functions, which change by 256 a a pixel, is negative with its bias. */
static void covered_part(const edges *e, const int64_t row[3], int64_t n, int64_t *from, int64_t *to)
{
    *from = 0, *to = n - 1;
    for (int k = 0; k < 3; k++) {
        const int64_t value = row[k] + e->bias[k], step = 256 * e->a[k];
        if (step > 0 && value < 0 && (-value + step - 1) / step > *from) *from = (-value + step - 1) / step;
        if (step <= 0 && value < 0) *to = -1;
        if (step < 0 && value >= 0 && value / -step < *to) *to = value / -step;
    }
}

/* No edge function in the box reaches this. */
static int64_t largest_edge(const raster_setup *s, const edges *e)
{
    const int64_t width = (int64_t)s->right - s->left + 2, height = (int64_t)s->bottom - s->top + 2;
    int64_t largest = 0;
    for (int k = 0; k < 3; k++) {
        const int64_t a = e->a[k] < 0 ? -e->a[k] : e->a[k], b = e->b[k] < 0 ? -e->b[k] : e->b[k], c = e->c[k] < 0 ? -e->c[k] : e->c[k];
        const int64_t reach = 256 * (a * width + b * height) + c;
        largest = reach > largest ? reach : largest;
    }
    return largest;
}

/* Any size; `samples` is a constant where this is called. In each row what all samples of a pixel cover is drawn at once. */
static inline __attribute__((always_inline)) void draw_wide(const modal_raster_task *task, whole_function *whole, uint32_t t, const raster_setup *s,
                                                            int samples)
{
    wide_row r = {.task = task, .triangle = t, .setup = *s, .edges = edges_of(s)};
    const int64_t n = (int64_t)s->right - s->left + 1;
    const int exact = largest_edge(s, &r.edges) < INT64_C(1) << 53;
    for (int32_t y = s->top; y <= s->bottom; y++) {
        int64_t begin[MODAL_RASTER_MOST_SAMPLES], end[MODAL_RASTER_MOST_SAMPLES], from = 0, to = n - 1;
        r.first = ((int64_t)y * task->width + s->left) * samples;
        for (int32_t i = 0; i < samples; i++) {
            const int64_t sy = 256 * (int64_t)(y - s->top) + raster_sample_y(samples, i);
            for (int k = 0; k < 3; k++) r.at[i][k] = r.edges.a[k] * raster_sample_x(samples, i) + r.edges.b[k] * sy + r.edges.c[k];
            covered_part(&r.edges, r.at[i], n, &begin[i], &end[i]);
            from = begin[i] > from ? begin[i] : from, to = end[i] < to ? end[i] : to;
        }
        const int together = exact && from <= to;
        for (int32_t i = 0; i < samples; i++) {
            draw_part(&r, i, begin[i], together ? from - 1 : end[i], samples);
            if (together) draw_part(&r, i, to + 1, end[i], samples);
        }
        if (together) whole(&r, from, to);
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
static inline __attribute__((always_inline)) void draw(const wide_rows *wide, const modal_raster_task *task, uint32_t t, const raster_point *a,
                                                       const raster_point *b, const raster_point *c, int32_t first, int32_t last)
{
    raster_setup s;
    const int64_t area = raster_area(a, b, c);
    if (area == 0 || !raster_box(&s, a, b, c, task->width, task->height, wide->samples)) return;
    /* the size of all of it decides, whatever part is drawn: its corners are as far from the box */
    const int32_t width = raster_max(a->x, raster_max(b->x, c->x)) - raster_min(a->x, raster_min(b->x, c->x));
    const int32_t height = raster_max(a->y, raster_max(b->y, c->y)) - raster_min(a->y, raster_min(b->y, c->y));
    s.top = raster_max(s.top, first), s.bottom = raster_min(s.bottom, last);
    if (s.top > s.bottom) return;
    raster_set_up(&s, a, b, c, area);
    if (task->test && task->mesh.flags && task->mesh.flags[t] & task->test)
        draw_tested(task, t, &s);
    else if (width < 256 * SMALL && height < 256 * SMALL)
        draw_small(task, t, &s, wide->samples);
    else
        draw_wide(task, wide->whole, t, &s, wide->samples);
}

#define DEFINE_DRAW(n)                                                                                                                          \
    static void draw_##n(void *self, const modal_raster_task *task, uint32_t t, const raster_point *a, const raster_point *b, const raster_point *c, \
                         int32_t first, int32_t last)                                                                                           \
    {                                                                                                                                           \
        const wide_rows wide = {*(whole_function **)self, n}; /* a constant, of which the compiler makes its loops */                           \
        draw(&wide, task, t, a, b, c, first, last);                                                                                             \
    }
DEFINE_DRAW(1)
DEFINE_DRAW(4)
DEFINE_DRAW(8)

static void draw_band(const modal_raster_task *task, const bands *s, int band)
{
    const int32_t first = band * BAND, last = raster_min(first + BAND, task->height) - 1;
    const int64_t row = (int64_t)task->width * task->samples;
    const modal_raster_view view = *task->view;
    whole_function *whole = whole_of_machine();
    if (task->keys) memset(task->keys + first * row, 0xff, (size_t)((last - first + 1) * row) * sizeof *task->keys);
    if (task->depths) memset(task->depths + first * row, 0, (size_t)((last - first + 1) * row) * sizeof *task->depths);
    if (task->samples == 1) bands_each(&whole, task, &view, s, band, first, last, draw_1);
    if (task->samples == 4) bands_each(&whole, task, &view, s, band, first, last, draw_4);
    if (task->samples == 8) bands_each(&whole, task, &view, s, band, first, last, draw_8);
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
