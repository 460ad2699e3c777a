/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/charts_pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/octree/charts.h"

enum { SIDE = 512, WORDS = SIDE / 64 };
enum { HALVINGS = 3 }; /* between the first share that fits and the last that did not */
static const double FILL = 0.86, LESS = 0.92, LEAST = 0.02; /* shares of the raster's area that are tried: the first, factors, the last */

typedef struct run {
    int16_t row, first, last;
} run;

typedef struct mask {
    int width, height;
    int64_t n;
    run *runs; /* the longest first; room for runs of any mask */
} mask;

typedef struct page {
    uint64_t bits[SIDE][WORDS];
    int top;        /* rows from here on are empty */
    int free[SIDE]; /* the longest run of each row below `top` that nothing has */
} page;

typedef struct packing {
    const modal_chart_shape *shapes;
    const int32_t *members, *triangle_uv;
    const double *uv;
    double scale, half_gap; /* cells a m; cells */
    uint8_t *cells;         /* [SIDE, SIDE] of one chart */
    page page;
    mask masks[4];
} packing;

/* Whether a square of cells [x, x + 1], grown by `half`, touches the triangle: no axis separates them. */
static int touches(const double p[6], double x, double y, double half)
{
    const double cx = x + 0.5, cy = y + 0.5, h = 0.5 + half;
    for (int k = 0; k < 3; k++) {
        const double *a = p + 2 * k, *b = p + 2 * ((k + 1) % 3), *c = p + 2 * ((k + 2) % 3), nx = b[1] - a[1], ny = a[0] - b[0];
        const double of_c = nx * (c[0] - a[0]) + ny * (c[1] - a[1]), of_box = nx * (cx - a[0]) + ny * (cy - a[1]), reach = h * (fabs(nx) + fabs(ny));
        const double low = of_c < 0 ? of_c : 0, high = of_c > 0 ? of_c : 0;
        if (of_box - reach > high || of_box + reach < low) return 0;
    }
    return 1; /* the caller looks at the box of the triangle only */
}

/* Cells of a chart; 0: larger than the raster. The box begins half a gap from the raster's border. */
static int draw(const packing *p, const modal_chart_shape *s, int *width, int *height)
{
    *width = (int)ceil(s->size[0] * p->scale + 2 * p->half_gap) + 1, *height = (int)ceil(s->size[1] * p->scale + 2 * p->half_gap) + 1;
    if (*width > SIDE || *height > SIDE) return 0;
    memset(p->cells, 0, (size_t)*width * (size_t)*height);
    for (int64_t i = 0; i < s->n; i++) {
        double t[6], low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int k = 0; k < 6; k++) {
            t[k] = p->uv[2 * (int64_t)p->triangle_uv[3 * (int64_t)p->members[s->first + i] + k / 2] + k % 2] * p->scale + p->half_gap;
            low[k % 2] = fmin(low[k % 2], t[k]), high[k % 2] = fmax(high[k % 2], t[k]);
        }
        for (int y = (int)floor(low[1] - p->half_gap); y <= (int)floor(high[1] + p->half_gap); y++)
            for (int x = (int)floor(low[0] - p->half_gap); x <= (int)floor(high[0] + p->half_gap); x++) {
                if (x < 0 || y < 0 || x >= *width || y >= *height) continue; /* rounding at the box's border */
                uint8_t *const cell = &p->cells[(int64_t)y * *width + x];
                if (!*cell) *cell = (uint8_t)touches(t, x, y, p->half_gap);
            }
    }
    return 1;
}

static int longest_first(const void *a, const void *b)
{
    const run *x = a, *y = b;
    const int more = (y->last - y->first) - (x->last - x->first);
    return more ? more : x->row != y->row ? x->row - y->row : x->first - y->first;
}

/* The mask turned by `turn` quarters to the left. */
static void make_mask(const packing *p, int width, int height, int turn, mask *m)
{
    m->width = turn % 2 ? height : width, m->height = turn % 2 ? width : height;
    m->n = 0;
    for (int y = 0; y < m->height; y++)
        for (int x = 0, inside = 0; x < m->width; x++) {
            const int a = turn == 0 ? x : turn == 1 ? y : turn == 2 ? width - 1 - x : width - 1 - y;
            const int b = turn == 0 ? y : turn == 1 ? height - 1 - x : turn == 2 ? height - 1 - y : x;
            const int here = p->cells[(int64_t)b * width + a];
            if (here && !inside) m->runs[m->n++] = (run){(int16_t)y, (int16_t)x, (int16_t)x};
            else if (here) m->runs[m->n - 1].last = (int16_t)x;
            inside = here;
        }
    qsort(m->runs, (size_t)m->n, sizeof *m->runs, longest_first);
}

/* to |= from moved down by `shift` bits, 0 to SIDE - 1. */
static void or_shifted(uint64_t *to, const uint64_t *from, int shift)
{
    const int words = shift / 64, bits = shift % 64;
    for (int i = 0; i + words < WORDS; i++) {
        uint64_t word = from[i + words] >> bits;
        if (bits && i + words + 1 < WORDS) word |= from[i + words + 1] << (64 - bits);
        to[i] |= word;
    }
}

/* The first place in a row where nothing is under the mask, or -1. The longest runs come first, so a full row is soon known. */
static int place_in_row(const packing *p, const mask *m, int y)
{
    uint64_t taken[WORDS];
    for (int64_t i = 0; i < m->n; i++)
        if (y + m->runs[i].row < p->page.top && m->runs[i].last - m->runs[i].first >= p->page.free[y + m->runs[i].row]) return -1;
    for (int k = 0; k < WORDS; k++) { /* where the mask would leave the raster */
        const int free = SIDE - m->width + 1 - 64 * k;
        taken[k] = free >= 64 ? 0 : free <= 0 ? UINT64_MAX : UINT64_MAX << free;
    }
    for (int64_t i = 0; i < m->n; i++) {
        if (y + m->runs[i].row >= p->page.top) continue;
        uint64_t all[WORDS] = {0}, more[WORDS], left = 0;
        const int length = m->runs[i].last - m->runs[i].first + 1;
        int step = 1;
        or_shifted(all, p->page.bits[y + m->runs[i].row], m->runs[i].first);
        for (; 2 * step <= length; step *= 2) {
            memcpy(more, all, sizeof more);
            or_shifted(all, more, step);
        }
        memcpy(more, all, sizeof more);
        or_shifted(all, more, length - step);
        for (int k = 0; k < WORDS; k++) left |= ~(taken[k] |= all[k]);
        if (!left) return -1;
    }
    for (int k = 0; k < WORDS; k++)
        if (~taken[k]) return 64 * k + __builtin_ctzll(~taken[k]);
    return -1;
}

static int longest_free(const uint64_t *row)
{
    int most = 0, from = 0;
    for (int k = 0; k < WORDS; k++)
        for (uint64_t bits = row[k]; bits;) { /* a run of what is taken at a time */
            const int first = __builtin_ctzll(bits), n = ~(bits >> first) ? __builtin_ctzll(~(bits >> first)) : 64;
            if (64 * k + first - from > most) most = 64 * k + first - from;
            from = 64 * k + first + n;
            bits = first + n < 64 ? bits & UINT64_MAX << (first + n) : 0;
        }
    return SIDE - from > most ? SIDE - from : most;
}

typedef struct place {
    int x, y, turn, width, height; /* of the mask that is not turned */
} place;

static int put(packing *p, const modal_chart_shape *s, place *at)
{
    int best = SIDE + 1;
    if (!draw(p, s, &at->width, &at->height)) return 0;
    for (int turn = 0; turn < 4; turn++) {
        mask *const m = &p->masks[turn];
        make_mask(p, at->width, at->height, turn, m);
        for (int y = 0; y + m->height < best; y++) {
            const int x = place_in_row(p, m, y);
            if (x < 0) continue;
            best = y + m->height;
            at->x = x, at->y = y, at->turn = turn;
            break;
        }
    }
    if (best > SIDE) return 0;
    const mask *m = &p->masks[at->turn];
    for (int64_t i = 0; i < m->n; i++)
        for (int x = m->runs[i].first; x <= m->runs[i].last; x++) p->page.bits[at->y + m->runs[i].row][(at->x + x) / 64] |= (uint64_t)1 << (at->x + x) % 64;
    if (best > p->page.top) p->page.top = best;
    for (int y = at->y; y < best; y++) p->page.free[y] = longest_free(p->page.bits[y]);
    return 1;
}

static void move(const packing *p, const modal_chart_shape *s, const place *at, double *uv)
{
    for (int64_t i = s->first_uv; i < s->first_uv + s->n_uv; i++) {
        const double x = uv[2 * i] * p->scale + p->half_gap, y = uv[2 * i + 1] * p->scale + p->half_gap;
        const double u = at->turn == 0 ? x : at->turn == 1 ? at->height - y : at->turn == 2 ? at->width - x : y;
        const double v = at->turn == 0 ? y : at->turn == 1 ? x : at->turn == 2 ? at->height - y : at->width - x;
        uv[2 * i] = rint((at->x + u) / SIDE * MODAL_CHART_STEPS) / MODAL_CHART_STEPS;
        uv[2 * i + 1] = rint((at->y + v) / SIDE * MODAL_CHART_STEPS) / MODAL_CHART_STEPS;
    }
}

/* Twice the area of a chart, m^2. */
static double area_of(const packing *p, const modal_chart_shape *s)
{
    double area = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const int32_t *t = p->triangle_uv + 3 * (int64_t)p->members[s->first + i];
        const double *a = p->uv + 2 * (int64_t)t[0], *b = p->uv + 2 * (int64_t)t[1], *c = p->uv + 2 * (int64_t)t[2];
        area += fabs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
    }
    return area;
}

enum { ORDERS = 3 };

/* Charts with the largest boxes first: by the sum of their sides, by the longer side, by the product. */
static modal_status sort_shapes(const modal_chart_shape *shapes, int64_t n, int by, int32_t *order, modal_error *err)
{
    uint64_t *keys = NULL;
    modal_status status = modal_alloc(&keys, n, sizeof *keys, "charts", err);
    for (int64_t i = 0; status == MODAL_OK && i < n; i++) {
        const double w = shapes[i].size[0], h = shapes[i].size[1], large = by == 0 ? w + h : by == 1 ? fmax(w, h) : w * h;
        memcpy(&keys[i], &large, sizeof large); /* not negative: bits keep the order */
        keys[i] = ~keys[i];
        order[i] = (int32_t)i;
    }
    if (status == MODAL_OK) status = modal_sort_by_key(n, keys, order, err);
    modal_free(&keys);
    return status;
}

/* Puts all charts at the scale of a share of the raster's area; 0: they do not fit. */
static int fits(packing *p, const int32_t *order, int64_t n, double area, double fill, place *places)
{
    p->scale = SIDE * sqrt(fill / area);
    memset(&p->page, 0, sizeof p->page);
    for (int64_t i = 0; i < n; i++)
        if (!put(p, &p->shapes[order[i]], &places[i])) return 0;
    return 1;
}

modal_status modal_charts_pack(const modal_chart_shape *shapes, int64_t n_shapes, const int32_t *members, const int32_t *triangle_uv, double gap, double *uv,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    packing *p = NULL;
    place *places = NULL, *tried = NULL;
    int32_t *order = NULL;
    double area = 0, fill = FILL;
    int found = 0;
    const int32_t *used = NULL; /* the order of `places` */
    MODAL_TRY(modal_alloc_zero(&p, 1, sizeof *p, "charts", err));
    MODAL_TRY(modal_alloc(&p->cells, SIDE * SIDE, 1, "charts", err));
    for (int k = 0; k < 4; k++) MODAL_TRY(modal_alloc(&p->masks[k].runs, SIDE * SIDE / 2 + SIDE, sizeof *p->masks[k].runs, "charts", err));
    MODAL_TRY(modal_alloc(&places, n_shapes, sizeof *places, "charts", err));
    MODAL_TRY(modal_alloc(&tried, n_shapes, sizeof *tried, "charts", err));
    MODAL_TRY(modal_alloc(&order, ORDERS * n_shapes, sizeof *order, "charts", err));
    p->shapes = shapes, p->members = members, p->triangle_uv = triangle_uv, p->uv = uv;
    p->half_gap = 0.5 * gap * SIDE;
    for (int64_t i = 0; i < n_shapes; i++) area += 0.5 * area_of(p, &shapes[i]);
    for (int by = 0; by < ORDERS; by++) MODAL_TRY(sort_shapes(shapes, n_shapes, by, order + by * n_shapes, err));
    while (fill > LEAST && !(found = fits(p, order, n_shapes, area, fill, places))) fill *= LESS;
    double too_much = fill < FILL ? fill / LESS : fill;
    used = order;
    for (int k = 0; found && k < HALVINGS && too_much > fill; k++) {
        const double middle = 0.5 * (fill + too_much);
        int by = 0;
        while (by < ORDERS && !fits(p, order + by * n_shapes, n_shapes, area, middle, tried)) by++;
        if (by < ORDERS) {
            place *const other = places;
            places = tried, tried = other;
            fill = middle, used = order + by * n_shapes;
        } else too_much = middle;
    }
    p->scale = SIDE * sqrt(fill / area);
    if (!found) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%lld charts are too many for an image", (long long)n_shapes);
    for (int64_t i = 0; i < n_shapes; i++) move(p, &shapes[used[i]], &places[i], uv);
done:
    for (int k = 0; p && k < 4; k++) modal_free(&p->masks[k].runs);
    if (p) modal_free(&p->cells);
    modal_free(&p);
    modal_free(&places);
    modal_free(&tried);
    modal_free(&order);
    return status;
}
