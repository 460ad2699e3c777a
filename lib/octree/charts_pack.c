/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/charts_pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/octree/charts.h"

enum { SIDE = 512, WORDS = SIDE / 64 };
enum { HALVINGS = 4 }; /* between a share that fits and one that did not */
enum { ORDERS = 9, MANY = 500 };
static const double FILL = 0.62, LESS = 0.92, LEAST = 0.02; /* shares of the raster that are tried: the first, factors, the last but of long thin charts */

typedef struct run {
    int16_t row, first, last;
} run;

typedef struct mask {
    int width, height;
    int64_t n;
    run *runs; /* the longest first */
} mask;

typedef struct page {
    uint64_t bits[SIDE][WORDS];
    int top;        /* rows from here on are empty */
    int free[SIDE]; /* the longest run of each row below `top` that nothing has */
} page;

typedef struct place {
    int x, y, turn;
} place;

typedef struct packing {
    const modal_chart_shape *shapes;
    int64_t n_shapes;
    const int32_t *members, *triangle_uv;
    const double *uv;
    double area;            /* of all charts, m^2 */
    double scale, half_gap; /* cells a m; cells */
    uint8_t *cells;         /* [SIDE, SIDE] of one chart */
    run *runs;              /* [4, SIDE, SIDE] of all masks */
    mask *masks;            /* [n_shapes, 4] turned by quarters */
    page page;
} packing;

/* Narrows the x from *low to *high to the middles of squares of row y that, grown by `half`, no edge of the triangle separates from it. */
static void span(const double p[6], int y, double half, double *low, double *high)
{
    const double cy = y + 0.5, h = 0.5 + half;
    for (int k = 0; k < 3; k++) {
        const double *a = p + 2 * k, *b = p + 2 * ((k + 1) % 3), *c = p + 2 * ((k + 2) % 3), nx = b[1] - a[1], ny = a[0] - b[0];
        const double of_c = nx * (c[0] - a[0]) + ny * (c[1] - a[1]), of_row = ny * (cy - a[1]) - nx * a[0], reach = h * (fabs(nx) + fabs(ny));
        const double least = (of_c < 0 ? of_c : 0) - reach - of_row, most = (of_c > 0 ? of_c : 0) + reach - of_row; /* of nx cx */
        if (nx == 0) { /* all of the row or nothing */
            if (least > 0 || most < 0) *high = -1;
            continue;
        }
        const double from = (nx > 0 ? least : most) / nx, to = (nx > 0 ? most : least) / nx;
        *low = from > *low ? from : *low, *high = to < *high ? to : *high;
    }
}

/* Cells of a chart's box along an axis. */
static int box_of(const packing *p, const modal_chart_shape *s, int axis) { return (int)ceil(s->size[axis] * p->scale + 2 * p->half_gap) + 1; }

/* Cells of a chart, and how many; -1: larger than the raster. The box begins half a gap from the raster's border. */
static int64_t draw(const packing *p, const modal_chart_shape *s, int *width, int *height)
{
    int64_t n = 0;
    *width = box_of(p, s, 0), *height = box_of(p, s, 1);
    if (*width > SIDE || *height > SIDE) return -1;
    memset(p->cells, 0, (size_t)*width * (size_t)*height);
    for (int64_t i = 0; i < s->n; i++) {
        double t[6], low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int k = 0; k < 6; k++) {
            t[k] = p->uv[2 * (int64_t)p->triangle_uv[3 * (int64_t)p->members[s->first + i] + k / 2] + k % 2] * p->scale + p->half_gap;
            low[k % 2] = t[k] < low[k % 2] ? t[k] : low[k % 2], high[k % 2] = t[k] > high[k % 2] ? t[k] : high[k % 2];
        }
        const double half = p->half_gap;
        const int top = (int)fmin(floor(high[1] + half), *height - 1);
        for (int y = (int)fmax(floor(low[1] - half), 0); y <= top; y++) {
            double from = fmax(floor(low[0] - half), 0) + 0.5, to = fmin(floor(high[0] + half), *width - 1) + 0.5; /* middles of cells */
            span(t, y, half, &from, &to);
            if (!(from <= to)) continue;
            const int first = (int)ceil(from - 0.5), last = (int)floor(to - 0.5);
            if (first <= last) memset(p->cells + (int64_t)y * *width + first, 1, (size_t)(last - first + 1));
        }
    }
    for (int64_t i = 0; i < (int64_t)*width * *height; i++) n += p->cells[i];
    return n;
}

static int longest_first(const void *a, const void *b)
{
    const run *x = a, *y = b;
    const int more = (y->last - y->first) - (x->last - x->first);
    return more ? more : x->row != y->row ? x->row - y->row : x->first - y->first;
}

/* The mask of what is drawn, or that turned by a quarter to the left. */
static void make_mask(const packing *p, int width, int height, int turned, mask *m)
{
    m->width = turned ? height : width, m->height = turned ? width : height;
    m->n = 0;
    for (int y = 0; y < m->height; y++)
        for (int x = 0, inside = 0; x < m->width; x++) {
            const int here = p->cells[turned ? (int64_t)(height - 1 - x) * width + y : (int64_t)y * width + x];
            if (here && !inside) m->runs[m->n++] = (run){(int16_t)y, (int16_t)x, (int16_t)x};
            else if (here) m->runs[m->n - 1].last = (int16_t)x;
            inside = here;
        }
    qsort(m->runs, (size_t)m->n, sizeof *m->runs, longest_first);
}

/* A mask turned by half. */
static void turn_by_half(const mask *m, mask *to)
{
    to->width = m->width, to->height = m->height, to->n = m->n;
    for (int64_t i = 0; i < m->n; i++) {
        const run *r = &m->runs[i];
        to->runs[i] = (run){(int16_t)(m->height - 1 - r->row), (int16_t)(m->width - 1 - r->last), (int16_t)(m->width - 1 - r->first)};
    }
}

/* The last cell from `first` to `last` of a row that something has, or -1. */
static int last_taken(const uint64_t *row, int first, int last)
{
    uint64_t bits = row[last / 64] & UINT64_MAX >> (63 - last % 64);
    int k = last / 64;
    while (k > first / 64 && !bits) bits = row[--k];
    if (k == first / 64) bits &= UINT64_MAX << first % 64;
    return bits ? 64 * k + 63 - __builtin_clzll(bits) : -1;
}

/* The first place in a row where nothing is under the mask, or -1. The longest runs come first, so a full row is soon known; then the mask goes on past
 * whatever is under one of its runs until nothing is under any. *stopped: a run to begin with, the one that stopped it last. */
static int place_in_row(const packing *p, const mask *m, int y, int64_t *stopped)
{
    int x = 0;
    for (int64_t i = 0; i < m->n; i++)
        if (y + m->runs[i].row < p->page.top && m->runs[i].last - m->runs[i].first >= p->page.free[y + m->runs[i].row]) return -1;
    for (int64_t i = *stopped, clear = 0; clear < m->n; clear++, i = i + 1 < m->n ? i + 1 : 0) {
        const run *r = &m->runs[i];
        if (y + r->row >= p->page.top) continue;
        for (int taken; (taken = last_taken(p->page.bits[y + r->row], x + r->first, x + r->last)) >= 0; clear = 0, *stopped = i) {
            x = taken - r->first + 1;
            if (x + m->width > SIDE) return -1;
        }
    }
    return x;
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

/* Masks of all charts at the scale of a share of the raster's area; 0: they have more cells than it. */
static int draw_all(packing *p, double fill)
{
    run *next = p->runs;
    int64_t cells = 0;
    p->scale = SIDE * sqrt(fill / p->area);
    for (int64_t i = 0; i < p->n_shapes; i++) {
        int width, height;
        const int64_t n = draw(p, &p->shapes[i], &width, &height);
        if (n < 0 || (cells += n) > SIDE * SIDE) return 0;
        for (int turn = 0; turn < 4; turn++) { /* as many runs as cells at most */
            mask *const m = &p->masks[4 * i + turn];
            m->runs = next;
            if (turn < 2) make_mask(p, width, height, turn, m);
            else turn_by_half(m - 2, m);
            next += m->n;
        }
    }
    return 1;
}

static int put(packing *p, const mask *masks, place *at)
{
    int best = SIDE + 1;
    for (int turn = 0; turn < 4; turn++) {
        const mask *m = &masks[turn];
        int64_t stopped = 0;
        for (int y = 0; y + m->height < best; y++) {
            const int x = place_in_row(p, m, y, &stopped);
            if (x < 0) continue;
            best = y + m->height;
            *at = (place){x, y, turn};
            break;
        }
    }
    if (best > SIDE) return 0;
    const mask *m = &masks[at->turn];
    for (int64_t i = 0; i < m->n; i++)
        for (int x = m->runs[i].first; x <= m->runs[i].last; x++) p->page.bits[at->y + m->runs[i].row][(at->x + x) / 64] |= (uint64_t)1 << (at->x + x) % 64;
    if (best > p->page.top) p->page.top = best;
    for (int y = at->y; y < best; y++) p->page.free[y] = longest_free(p->page.bits[y]);
    return 1;
}

static void move(const packing *p, const modal_chart_shape *s, const place *at, double *uv)
{
    const int width = box_of(p, s, 0), height = box_of(p, s, 1);
    for (int64_t i = s->first_uv; i < s->first_uv + s->n_uv; i++) {
        const double x = uv[2 * i] * p->scale + p->half_gap, y = uv[2 * i + 1] * p->scale + p->half_gap;
        const double u = at->turn == 0 ? x : at->turn == 1 ? height - y : at->turn == 2 ? width - x : y;
        const double v = at->turn == 0 ? y : at->turn == 1 ? x : at->turn == 2 ? height - y : width - x;
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

/* Charts with the largest boxes first: by the shorter side where `by` is 0, by the longer one where it is ORDERS - 1, by a mean of them between. */
static modal_status sort_shapes(const modal_chart_shape *shapes, int64_t n, int by, int32_t *order, modal_error *err)
{
    uint64_t *keys = NULL;
    modal_status status = modal_alloc(&keys, n, sizeof *keys, "charts", err);
    for (int64_t i = 0; status == MODAL_OK && i < n; i++) {
        const double w = shapes[i].size[0], h = shapes[i].size[1], large = by * fmax(w, h) + (ORDERS - 1 - by) * fmin(w, h);
        memcpy(&keys[i], &large, sizeof large); /* not negative: bits keep the order */
        keys[i] = ~keys[i];
        order[i] = (int32_t)i;
    }
    if (status == MODAL_OK) status = modal_sort_by_key(n, keys, order, err);
    modal_free(&keys);
    return status;
}

/* Puts all charts, largest first by one of the orders; 0: they do not fit. */
static int lay(packing *p, const int32_t *order, place *places)
{
    memset(&p->page, 0, sizeof p->page);
    for (int64_t i = 0; i < p->n_shapes; i++)
        if (!put(p, p->masks + 4 * (int64_t)order[i], &places[order[i]])) return 0;
    return 1;
}

/* Whether all charts fit at a scale, by any order; many small ones lie well in the middle one. */
static int fits(packing *p, const int32_t *orders, double fill, place *places)
{
    if (!draw_all(p, fill)) return 0;
    const int first = p->n_shapes > MANY ? ORDERS / 2 : 0;
    for (int by = first; by < ORDERS - first; by++)
        if (lay(p, orders + by * p->n_shapes, places)) return 1;
    return 0;
}

/* The largest share of the raster's area that was found to fit, and the charts' places [n_shapes] there; tried: room for as many. */
static modal_status find_scale(packing *p, const int32_t *orders, place *places, place *tried, double *fill, modal_error *err)
{
    const size_t bytes = (size_t)p->n_shapes * sizeof *places;
    double fit = FILL, too_much = 0, longest = 0;
    for (int64_t i = 0; i < p->n_shapes; i++) longest = fmax(longest, fmax(p->shapes[i].size[0], p->shapes[i].size[1]));
    const double least = LEAST * fmin(1, p->area / (longest * longest)); /* a long thin chart fills little */
    while (fit > least && !fits(p, orders, fit, places)) too_much = fit, fit *= LESS;
    if (!(fit > least))
        return modal_error_set(err, MODAL_ERROR_INPUT, "%lld charts do not fit with gaps of %.2g of the image, which a larger --size makes smaller",
                               (long long)p->n_shapes, p->half_gap * 2 / SIDE);
    for (int k = 0; k < HALVINGS;) {
        const double next = too_much > 0 ? 0.5 * (fit + too_much) : fit / LESS;
        k += too_much > 0;
        if (fits(p, orders, next, tried)) {
            fit = next;
            memcpy(places, tried, bytes);
        } else too_much = next;
    }
    *fill = fit;
    return MODAL_OK;
}

modal_status modal_charts_pack(const modal_chart_shape *shapes, int64_t n_shapes, const int32_t *members, const int32_t *triangle_uv, double gap, double *uv,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    packing *p = NULL;
    place *places = NULL, *tried = NULL;
    int32_t *orders = NULL;
    double fill = 0;
    MODAL_TRY(modal_alloc_zero(&p, 1, sizeof *p, "charts", err));
    MODAL_TRY(modal_alloc(&p->cells, SIDE * SIDE, 1, "charts", err));
    MODAL_TRY(modal_alloc(&p->runs, 4 * SIDE * SIDE, sizeof *p->runs, "charts", err));
    MODAL_TRY(modal_alloc(&p->masks, 4 * n_shapes, sizeof *p->masks, "charts", err));
    MODAL_TRY(modal_alloc(&places, n_shapes, sizeof *places, "charts", err));
    MODAL_TRY(modal_alloc(&tried, n_shapes, sizeof *tried, "charts", err));
    MODAL_TRY(modal_alloc(&orders, ORDERS * n_shapes, sizeof *orders, "charts", err));
    p->shapes = shapes, p->n_shapes = n_shapes, p->members = members, p->triangle_uv = triangle_uv, p->uv = uv;
    p->half_gap = 0.5 * gap * SIDE;
    for (int64_t i = 0; i < n_shapes; i++) p->area += 0.5 * area_of(p, &shapes[i]);
    for (int by = 0; by < ORDERS; by++) MODAL_TRY(sort_shapes(shapes, n_shapes, by, orders + by * n_shapes, err));
    MODAL_TRY(find_scale(p, orders, places, tried, &fill, err));
    p->scale = SIDE * sqrt(fill / p->area);
    for (int64_t i = 0; i < n_shapes; i++) move(p, &shapes[i], &places[i], uv);
done:
    if (p) modal_free(&p->cells), modal_free(&p->runs), modal_free(&p->masks);
    modal_free(&p);
    modal_free(&places);
    modal_free(&tried);
    modal_free(&orders);
    return status;
}
