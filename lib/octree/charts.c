/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/mesh/tetrahedron.h"
#include "lib/octree/charts_pack.h"
#include "lib/octree/edges.h"

/* Cosines: while a chart grows, and in the end. */
static const double GROWING = 0.6, LIMIT = 0.5;
enum { ANGLES = 48, MOST_ROUNDS = 8 };

typedef struct work {
    const modal_surface_mesh *s;
    double *normals; /* [n, 3] unit; 0 without area */
    double *areas;
    int32_t *beside; /* [n, 3] the other triangle of an edge that two have, or -1 */
    int32_t *places; /* [n_vertices] the first vertex there */
    int32_t *chart;  /* [n] or -1 */
    int32_t *alone;  /* [n] nonzero: begins a chart of its own, and none grows into it */
    int64_t n_charts;
    double *directions; /* [n_charts, 3] */
    int32_t *members;   /* [n] scratch */
    double *queue_cost; /* a heap [3 n + 1] of triangles, the least cost first */
    int32_t *queue;
    int64_t n_queue;
    int32_t *uv_at, *uv_chart; /* [n_vertices] scratch: uv of a place in the chart that was there last */
} work;

static void free_work(work *w)
{
    modal_free(&w->normals);
    modal_free(&w->areas);
    modal_free(&w->beside);
    modal_free(&w->places);
    modal_free(&w->chart);
    modal_free(&w->alone);
    modal_free(&w->directions);
    modal_free(&w->members);
    modal_free(&w->queue_cost);
    modal_free(&w->queue);
    modal_free(&w->uv_at);
    modal_free(&w->uv_chart);
}

static const double *corner(const work *w, int64_t t, int k) { return w->s->positions + 3 * (int64_t)w->s->triangles[3 * t + k]; }

/* Normals, areas, and which triangle is beside an edge. */
static modal_status start(work *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = w->s->n_triangles;
    int32_t *edges = NULL, *last = NULL;
    MODAL_TRY(modal_alloc(&w->normals, 3 * n, sizeof *w->normals, "charts", err));
    MODAL_TRY(modal_alloc(&w->areas, n, sizeof *w->areas, "charts", err));
    MODAL_TRY(modal_alloc(&w->beside, 3 * n, sizeof *w->beside, "charts", err));
    MODAL_TRY(modal_alloc(&w->places, w->s->n_vertices, sizeof *w->places, "charts", err));
    MODAL_TRY(modal_alloc(&w->chart, n, sizeof *w->chart, "charts", err));
    MODAL_TRY(modal_alloc_zero(&w->alone, n, sizeof *w->alone, "charts", err));
    MODAL_TRY(modal_alloc(&w->directions, 3 * n, sizeof *w->directions, "charts", err));
    MODAL_TRY(modal_alloc(&w->members, n, sizeof *w->members, "charts", err));
    MODAL_TRY(modal_alloc(&w->queue_cost, 3 * n + 1, sizeof *w->queue_cost, "charts", err));
    MODAL_TRY(modal_alloc(&w->queue, 3 * n + 1, sizeof *w->queue, "charts", err));
    MODAL_TRY(modal_alloc(&w->uv_at, w->s->n_vertices, sizeof *w->uv_at, "charts", err));
    MODAL_TRY(modal_alloc(&w->uv_chart, w->s->n_vertices, sizeof *w->uv_chart, "charts", err));
    MODAL_TRY(modal_alloc(&edges, 3 * n, sizeof *edges, "charts", err));
    MODAL_TRY(modal_alloc(&last, 3 * n, sizeof *last, "charts", err));
    MODAL_TRY(modal_surface_edges(w->s->positions, w->s->n_vertices, w->s->triangles, n, edges, w->places, err));
    memset(last, -1, 3 * (size_t)n * sizeof *last);
    for (int64_t i = 0; i < 3 * n; i++) { /* edges of three triangles and more end charts: -2 */
        int32_t *const one = &last[edges[i]];
        w->beside[i] = -1;
        if (*one == -1) {
            *one = (int32_t)i;
        } else if (*one >= 0 && w->beside[*one] == -1) {
            w->beside[i] = *one / 3;
            w->beside[*one] = (int32_t)(i / 3);
        } else if (*one >= 0) {
            const int32_t other = w->beside[*one];
            for (int k = 0; k < 3; k++)
                if (edges[3 * (int64_t)other + k] == edges[i]) w->beside[3 * (int64_t)other + k] = -1;
            w->beside[*one] = -1;
            *one = -2;
        }
    }
    double total = 0;
    for (int64_t t = 0; t < n; t++) {
        double e[2][3], c[3];
        for (int k = 0; k < 3; k++) e[0][k] = corner(w, t, 1)[k] - corner(w, t, 0)[k], e[1][k] = corner(w, t, 2)[k] - corner(w, t, 0)[k];
        for (int k = 0; k < 3; k++) c[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
        const double length = sqrt(modal_dot(c, c)), longest = sqrt(fmax(modal_dot(e[0], e[0]), modal_dot(e[1], e[1])));
        if (!isfinite(length)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "triangle %lld: a corner that is no number", (long long)t);
        const int flat = !(length > 1e-12 * longest * longest);
        w->areas[t] = flat ? 0 : 0.5 * length;
        for (int k = 0; k < 3; k++) w->normals[3 * t + k] = flat ? 0 : c[k] / length;
        total += w->areas[t];
    }
    if (!(total > 0)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "the surface has no area");
done:
    modal_free(&edges);
    modal_free(&last);
    return status;
}

/* ---- growing ---- */

static void queue_push(work *w, double cost, int32_t t)
{
    int64_t i = w->n_queue++;
    while (i > 0 && w->queue_cost[(i - 1) / 2] > cost) {
        w->queue_cost[i] = w->queue_cost[(i - 1) / 2];
        w->queue[i] = w->queue[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    w->queue_cost[i] = cost;
    w->queue[i] = t;
}

static int32_t queue_pop(work *w)
{
    const int32_t first = w->queue[0], t = w->queue[--w->n_queue];
    const double cost = w->queue_cost[w->n_queue];
    int64_t i = 0;
    for (int64_t child; (child = 2 * i + 1) < w->n_queue; i = child) {
        if (child + 1 < w->n_queue && w->queue_cost[child + 1] < w->queue_cost[child]) child++;
        if (w->queue_cost[child] >= cost) break;
        w->queue_cost[i] = w->queue_cost[child];
        w->queue[i] = w->queue[child];
    }
    w->queue_cost[i] = cost;
    w->queue[i] = t;
    return first;
}

/* From a seed as long as normals are near the mean; what is too far from the mean in the end is free again. */
static void grow(work *w, int32_t seed)
{
    const int32_t chart = (int32_t)w->n_charts++;
    double sum[3] = {0}, *d = w->directions + 3 * (int64_t)chart;
    int64_t n_members = 0;
    memcpy(d, w->normals + 3 * (int64_t)seed, 3 * sizeof *d);
    w->n_queue = 0;
    queue_push(w, 0, seed);
    while (w->n_queue > 0) {
        const int32_t t = queue_pop(w);
        const double *normal = w->normals + 3 * (int64_t)t;
        if (w->chart[t] >= 0 || !(modal_dot(normal, d) >= GROWING)) continue;
        w->chart[t] = chart;
        w->members[n_members++] = t;
        for (int k = 0; k < 3; k++) sum[k] += w->areas[t] * normal[k];
        const double length = sqrt(modal_dot(sum, sum));
        for (int k = 0; k < 3; k++) d[k] = sum[k] / length;
        for (int k = 0; k < 3 && !w->alone[t]; k++) {
            const int32_t next = w->beside[3 * (int64_t)t + k];
            if (next >= 0 && w->chart[next] < 0 && !w->alone[next] && w->areas[next] > 0) queue_push(w, 1 - modal_dot(w->normals + 3 * (int64_t)next, d), next);
        }
    }
    if (!(modal_dot(w->normals + 3 * (int64_t)seed, d) >= LIMIT)) memcpy(d, w->normals + 3 * (int64_t)seed, 3 * sizeof *d);
    for (int64_t i = 0; i < n_members; i++)
        if (!(modal_dot(w->normals + 3 * (int64_t)w->members[i], d) >= LIMIT)) w->chart[w->members[i]] = -1;
}

/* Triangles by chart: those of chart c are members[first[c]] to members[first[c + 1] - 1], ascending. */
static void list_members(const work *w, int64_t *first)
{
    memset(first, 0, (size_t)(w->n_charts + 1) * sizeof *first);
    for (int64_t t = 0; t < w->s->n_triangles; t++)
        if (w->chart[t] >= 0) first[w->chart[t] + 1]++;
    for (int64_t c = 0; c < w->n_charts; c++) first[c + 1] += first[c];
    for (int64_t t = 0; t < w->s->n_triangles; t++)
        if (w->chart[t] >= 0) w->members[first[w->chart[t]]++] = (int32_t)t;
    for (int64_t c = w->n_charts; c > 0; c--) first[c] = first[c - 1];
    first[0] = 0;
}

/* The chart beside a small one with the longest common border whose direction all its triangles are near; -1: none. */
static int32_t host_of(const work *w, const int32_t *members, int64_t n)
{
    int32_t best = -1;
    int64_t most = 0;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            const int32_t next = w->beside[3 * (int64_t)members[i] + k], host = next < 0 || w->alone[next] ? -1 : w->chart[next];
            if (host < 0 || host == w->chart[members[0]] || host == best) continue;
            int64_t border = 0;
            int near = 1;
            for (int64_t j = 0; j < n && near; j++) {
                near = modal_dot(w->normals + 3 * (int64_t)members[j], w->directions + 3 * (int64_t)host) >= LIMIT && !w->alone[members[j]];
                for (int l = 0; l < 3; l++) {
                    const int32_t other = w->beside[3 * (int64_t)members[j] + l];
                    border += other >= 0 && w->chart[other] == host;
                }
            }
            if (near && border > most) most = border, best = host;
        }
    return best;
}

/* Charts for all triangles with an area: the largest free triangle is the next seed; then charts of few triangles join others. */
static modal_status grow_all(work *w, modal_error *err)
{
    enum { FEW = 64 };
    modal_status status = MODAL_OK;
    const int64_t n = w->s->n_triangles;
    uint64_t *keys = NULL;
    int32_t *order = NULL;
    int64_t *first = NULL;
    MODAL_TRY(modal_alloc(&keys, n, sizeof *keys, "charts", err));
    MODAL_TRY(modal_alloc(&order, n, sizeof *order, "charts", err));
    for (int64_t t = 0; t < n; t++) {
        memcpy(&keys[t], &w->areas[t], sizeof *keys); /* not negative: bits keep the order */
        keys[t] = ~keys[t];
        order[t] = (int32_t)t;
        w->chart[t] = -1;
    }
    MODAL_TRY(modal_sort_by_key(n, keys, order, err));
    w->n_charts = 0;
    for (int64_t i = 0; i < n && w->areas[order[i]] > 0; i++)
        if (w->chart[order[i]] < 0) grow(w, order[i]);
    MODAL_TRY(modal_alloc(&first, w->n_charts + 1, sizeof *first, "charts", err));
    list_members(w, first);
    for (int64_t c = w->n_charts - 1; c >= 0; c--) { /* the later, the smaller, mostly */
        const int64_t count = first[c + 1] - first[c];
        const int32_t host = count <= FEW && count > 0 ? host_of(w, w->members + first[c], count) : -1;
        for (int64_t i = first[c]; i < first[c + 1] && host >= 0; i++) w->chart[w->members[i]] = host;
    }
    int64_t used = 0; /* numbers without gaps */
    for (int64_t c = 0; c < w->n_charts; c++) first[c] = 0;
    for (int64_t t = 0; t < n; t++)
        if (w->chart[t] >= 0) first[w->chart[t]] = 1;
    for (int64_t c = 0; c < w->n_charts; c++) {
        if (!first[c]) continue;
        memmove(w->directions + 3 * used, w->directions + 3 * c, 3 * sizeof *w->directions);
        first[c] = used++;
    }
    for (int64_t t = 0; t < n; t++)
        if (w->chart[t] >= 0) w->chart[t] = (int32_t)first[w->chart[t]];
    w->n_charts = used;
done:
    modal_free(&keys);
    modal_free(&order);
    modal_free(&first);
    return status;
}

/* ---- projecting ---- */

/* Two axes across the direction of a chart, turned so that its box is small. points: [n, 2] room for its corners. */
static void choose_axes(const work *w, const int32_t *members, int64_t n, double *points, double axes[6])
{
    const double *d = w->directions + 3 * (int64_t)w->chart[members[0]];
    double a[3] = {0}, b[3], best = INFINITY;
    const int least = fabs(d[0]) <= fabs(d[1]) ? (fabs(d[0]) <= fabs(d[2]) ? 0 : 2) : fabs(d[1]) <= fabs(d[2]) ? 1 : 2;
    for (int k = 0; k < 3; k++) a[k] = (k == least) - d[least] * d[k];
    const double length = sqrt(modal_dot(a, a));
    for (int k = 0; k < 3; k++) a[k] /= length;
    for (int k = 0; k < 3; k++) b[k] = d[(k + 1) % 3] * a[(k + 2) % 3] - d[(k + 2) % 3] * a[(k + 1) % 3]; /* a, b, d: right-handed */
    for (int64_t i = 0; i < 3 * n; i++) {
        const double *p = corner(w, members[i / 3], (int)(i % 3));
        points[2 * i] = modal_dot(p, a), points[2 * i + 1] = modal_dot(p, b);
    }
    for (int angle = 0; angle < ANGLES; angle++) {
        const double c = cos(M_PI / 2 * angle / ANGLES), s = sin(M_PI / 2 * angle / ANGLES);
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int64_t i = 0; i < 3 * n; i++) {
            const double x = c * points[2 * i] + s * points[2 * i + 1], y = c * points[2 * i + 1] - s * points[2 * i];
            low[0] = fmin(low[0], x), high[0] = fmax(high[0], x), low[1] = fmin(low[1], y), high[1] = fmax(high[1], y);
        }
        const double box = (high[0] - low[0]) * (high[1] - low[1]);
        if (!(box < best * (1 - 1e-9))) continue;
        best = box;
        for (int k = 0; k < 3; k++) axes[k] = c * a[k] + s * b[k], axes[3 + k] = c * b[k] - s * a[k];
    }
}

/* uv in m, from 0 on in each chart, shared by the corners of a chart at one place. */
static modal_status project(work *w, modal_charts *charts, modal_chart_shape *shapes, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = w->s->n_triangles;
    int64_t *first = NULL;
    double *points = NULL;
    MODAL_TRY(modal_alloc(&first, w->n_charts + 1, sizeof *first, "charts", err));
    MODAL_TRY(modal_alloc(&points, 6 * n, sizeof *points, "charts", err));
    list_members(w, first);
    memset(w->uv_chart, -1, (size_t)w->s->n_vertices * sizeof *w->uv_chart);
    charts->n_uv = 0;
    for (int64_t c = 0; c < w->n_charts; c++) {
        double axes[6], low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        const int64_t begin = charts->n_uv;
        choose_axes(w, w->members + first[c], first[c + 1] - first[c], points, axes);
        for (int64_t i = first[c]; i < first[c + 1]; i++)
            for (int k = 0; k < 3; k++) {
                const int32_t t = w->members[i], place = w->places[w->s->triangles[3 * (int64_t)t + k]];
                if (w->uv_chart[place] != c) {
                    w->uv_chart[place] = (int32_t)c;
                    w->uv_at[place] = (int32_t)charts->n_uv;
                    for (int j = 0; j < 2; j++) {
                        const double x = modal_dot(corner(w, t, k), axes + 3 * j);
                        charts->uv[2 * charts->n_uv + j] = x;
                        low[j] = fmin(low[j], x), high[j] = fmax(high[j], x);
                    }
                    charts->n_uv++;
                }
                charts->triangle_uv[3 * (int64_t)t + k] = w->uv_at[place];
            }
        for (int64_t i = begin; i < charts->n_uv; i++)
            for (int j = 0; j < 2; j++) charts->uv[2 * i + j] -= low[j];
        shapes[c] = (modal_chart_shape){.first_uv = begin, .n_uv = charts->n_uv - begin, .first = first[c], .n = first[c + 1] - first[c],
                                        .size = {high[0] - low[0], high[1] - low[1]}};
    }
    for (int64_t t = 0; t < n; t++) /* without area: at one place */
        if (w->chart[t] < 0)
            for (int k = 0; k < 3; k++) charts->triangle_uv[3 * t + k] = 0;
done:
    modal_free(&first);
    modal_free(&points);
    return status;
}

/* ---- overlaps, in whole numbers ---- */

static int64_t side_of(const int64_t a[2], const int64_t b[2], const int64_t p[2])
{
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
}

/* Whether the insides of two triangles, each turned to the left, have a point in common: no edge of either has the other beyond it. */
static int overlap(int64_t p[2][3][2])
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            const int64_t *a = p[i][k], *b = p[i][(k + 1) % 3];
            int beyond = 1;
            for (int j = 0; j < 3; j++) beyond &= side_of(a, b, p[1 - i][j]) <= 0;
            if (beyond) return 0;
        }
    return 1;
}

/* The corners in steps, turned to the left; 0: no area. */
static int steps_of(const modal_charts *c, int64_t t, int64_t p[3][2])
{
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 2; j++) p[k][j] = (int64_t)(c->uv[2 * (int64_t)c->triangle_uv[3 * t + k] + j] * MODAL_CHART_STEPS);
    const int64_t area = side_of(p[0], p[1], p[2]);
    if (area < 0)
        for (int j = 0; j < 2; j++) {
            const int64_t swap = p[1][j];
            p[1][j] = p[2][j];
            p[2][j] = swap;
        }
    return area != 0;
}

typedef struct pair_search {
    const modal_charts *charts;
    int side; /* squares along an axis */
    int64_t *first;
    int32_t *list;
} pair_search;

static void range_of(const pair_search *s, int64_t p[3][2], int range[4])
{
    for (int j = 0; j < 2; j++) {
        const int64_t low = p[0][j] < p[1][j] ? (p[0][j] < p[2][j] ? p[0][j] : p[2][j]) : p[1][j] < p[2][j] ? p[1][j] : p[2][j];
        const int64_t high = p[0][j] > p[1][j] ? (p[0][j] > p[2][j] ? p[0][j] : p[2][j]) : p[1][j] > p[2][j] ? p[1][j] : p[2][j];
        range[j] = (int)(low * s->side / (MODAL_CHART_STEPS + (int64_t)1));
        range[2 + j] = (int)(high * s->side / (MODAL_CHART_STEPS + (int64_t)1));
    }
}

/* Marks the later triangle of every pair that overlaps. */
static int64_t search_square(const pair_search *s, int x, int y, int32_t *marks)
{
    int64_t n_found = 0;
    const int64_t begin = s->first[(int64_t)y * s->side + x], end = s->first[(int64_t)y * s->side + x + 1];
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = begin; j < i; j++) {
            int64_t p[2][3][2];
            int a[4], b[4];
            steps_of(s->charts, s->list[i], p[0]), steps_of(s->charts, s->list[j], p[1]);
            range_of(s, p[0], a), range_of(s, p[1], b);
            if (x != (a[0] > b[0] ? a[0] : b[0]) || y != (a[1] > b[1] ? a[1] : b[1])) continue; /* another square has the pair */
            if (!overlap(p)) continue;
            marks[s->list[i] > s->list[j] ? s->list[i] : s->list[j]] = 1;
            n_found++;
        }
    return n_found;
}

static modal_status find_overlaps(const work *w, const modal_charts *c, int32_t *marks, int64_t *n_found, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = w->s->n_triangles;
    int64_t p[3][2];
    int r[4];
    pair_search s = {.charts = c, .side = (int)fmin(4096, ceil(sqrt((double)n)))};
    MODAL_TRY(modal_alloc_zero(&s.first, (int64_t)s.side * s.side + 2, sizeof *s.first, "charts", err));
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t t = 0; t < n; t++) {
            if (w->chart[t] < 0 || !steps_of(c, t, p)) continue;
            range_of(&s, p, r);
            for (int y = r[1]; y <= r[3]; y++)
                for (int x = r[0]; x <= r[2]; x++) {
                    int64_t *const at = &s.first[(int64_t)y * s.side + x + 2 - pass];
                    if (pass) s.list[(*at)++] = (int32_t)t;
                    else ++*at;
                }
        }
        if (pass) continue;
        for (int64_t i = 0; i < (int64_t)s.side * s.side; i++) s.first[i + 2] += s.first[i + 1];
        MODAL_TRY(modal_alloc(&s.list, s.first[(int64_t)s.side * s.side + 1], sizeof *s.list, "charts", err));
    }
    *n_found = 0;
    for (int i = 0; i < s.side * s.side; i++) *n_found += search_square(&s, i % s.side, i / s.side, marks);
done:
    modal_free(&s.first);
    modal_free(&s.list);
    return status;
}

/* ---- all ---- */

static void measure(const work *w, modal_charts *c)
{
    c->used = 0;
    for (int64_t t = 0; t < w->s->n_triangles; t++) {
        const double *a = c->uv + 2 * (int64_t)c->triangle_uv[3 * t], *b = c->uv + 2 * (int64_t)c->triangle_uv[3 * t + 1];
        const double *p = c->uv + 2 * (int64_t)c->triangle_uv[3 * t + 2];
        c->used += 0.5 * fabs((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]));
    }
}

modal_status modal_charts_make(const modal_surface_mesh *s, double gap, modal_charts *charts, modal_error *err)
{
    modal_status status = MODAL_OK;
    work w = {.s = s};
    modal_chart_shape *shapes = NULL;
    *charts = (modal_charts){0};
    if (s->n_triangles == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "the surface has no area");
    MODAL_TRY(start(&w, err));
    MODAL_TRY(modal_alloc(&charts->uv, 6 * s->n_triangles, sizeof *charts->uv, "charts", err));
    MODAL_TRY(modal_alloc(&charts->triangle_uv, 3 * s->n_triangles, sizeof *charts->triangle_uv, "charts", err));
    for (int round = 0; round < MOST_ROUNDS; round++) { /* what lies on others begins anew, alone */
        MODAL_TRY(grow_all(&w, err));
        modal_free(&shapes);
        MODAL_TRY(modal_alloc(&shapes, w.n_charts, sizeof *shapes, "charts", err));
        MODAL_TRY(project(&w, charts, shapes, err));
        MODAL_TRY(modal_charts_pack(shapes, w.n_charts, w.members, charts->triangle_uv, gap, charts->uv, err));
        MODAL_TRY(find_overlaps(&w, charts, w.alone, &charts->n_overlapping, err));
        if (charts->n_overlapping == 0) break;
    }
    measure(&w, charts);
    charts->n_charts = w.n_charts;
    charts->chart = w.chart;
    w.chart = NULL;
done:
    modal_free(&shapes);
    free_work(&w);
    if (status != MODAL_OK) modal_charts_free(charts);
    return status;
}

void modal_charts_free(modal_charts *c)
{
    modal_free(&c->uv);
    modal_free(&c->triangle_uv);
    modal_free(&c->chart);
    *c = (modal_charts){0};
}
