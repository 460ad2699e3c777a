/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/mesh/tetrahedron.h"
#include "lib/octree/charts_overlap.h"
#include "lib/octree/charts_pack.h"
#include "lib/octree/edges.h"

/* Cosines: while a chart grows, and in the end. */
static const double GROWING = 0.6, LIMIT = 0.5;
/* Shares: of its box that a large chart fills, and of the surface that makes it large. */
static const double FULL = 0.7, LARGE = 0.04;
enum { ANGLES = 48, MOST_ROUNDS = 8, MOST_CUTS = 24 };

typedef struct work {
    const modal_surface_mesh *s;
    double *normals; /* [n, 3] unit; 0 without area */
    double *areas;
    int32_t *beside; /* [n, 3] the other triangle of an edge that two have, or -1 */
    int32_t *places; /* [n_vertices] the first vertex there */
    int32_t *chart;  /* [n] or -1 */
    int32_t *alone;  /* [n] nonzero: begins a chart of its own, and none grows into it */
    int64_t n_charts;
    double *directions; /* [2 n, 3], of charts: cut ones get new numbers before the old are given up */
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
    MODAL_TRY(modal_alloc(&w->directions, 6 * n, sizeof *w->directions, "charts", err));
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

/* Numbers without gaps, in the same order. */
static void number_charts(work *w)
{
    int32_t *const numbers = w->queue; /* [3 n + 1] */
    int64_t used = 0;
    for (int64_t c = 0; c < w->n_charts; c++) numbers[c] = -1;
    for (int64_t t = 0; t < w->s->n_triangles; t++)
        if (w->chart[t] >= 0) numbers[w->chart[t]] = 0;
    for (int64_t c = 0; c < w->n_charts; c++) {
        if (numbers[c] < 0) continue;
        memmove(w->directions + 3 * used, w->directions + 3 * c, 3 * sizeof *w->directions);
        numbers[c] = (int32_t)used++;
    }
    for (int64_t t = 0; t < w->s->n_triangles; t++)
        if (w->chart[t] >= 0) w->chart[t] = numbers[w->chart[t]];
    w->n_charts = used;
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
    number_charts(w);
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
            low[0] = x < low[0] ? x : low[0], high[0] = x > high[0] ? x : high[0]; /* one instruction each, where fmin is a call */
            low[1] = y < low[1] ? y : low[1], high[1] = y > high[1] ? y : high[1];
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

/* ---- cutting ---- */

/* A piece of a chart: the triangles that edges join to t, by the same side. They get the number of a new chart, seen along their mean normal where all
 * are near that, else as before. */
static void take_piece(work *w, int32_t t, const int32_t *sides)
{
    const int32_t from = w->chart[t], to = (int32_t)w->n_charts++;
    const double *before = w->directions + 3 * (int64_t)from;
    double sum[3] = {0}, *d = w->directions + 3 * (int64_t)to;
    int64_t n = 0;
    w->queue[n++] = t;
    w->chart[t] = to;
    for (int64_t i = 0; i < n; i++) {
        const int32_t one = w->queue[i];
        for (int k = 0; k < 3; k++) sum[k] += w->areas[one] * w->normals[3 * (int64_t)one + k];
        for (int k = 0; k < 3; k++) {
            const int32_t next = w->beside[3 * (int64_t)one + k];
            if (next < 0 || w->chart[next] != from || sides[next] != sides[t]) continue;
            w->chart[next] = to;
            w->queue[n++] = next;
        }
    }
    const double length = sqrt(modal_dot(sum, sum));
    int near = length > 0;
    for (int64_t i = 0; i < n && near; i++) near = modal_dot(w->normals + 3 * (int64_t)w->queue[i], sum) >= LIMIT * length;
    for (int k = 0; k < 3; k++) d[k] = near ? sum[k] / length : before[k];
}

/* Whether a chart is cut: it lies on itself, or it is large and leaves much of its box empty. */
static int is_cut(const work *w, const modal_chart_shape *s, const int32_t *marks, double total)
{
    double area = 0;
    int marked = 0;
    for (int64_t i = s->first; i < s->first + s->n; i++) {
        const int32_t t = w->members[i];
        area += w->areas[t] * modal_dot(w->normals + 3 * (int64_t)t, w->directions + 3 * (int64_t)w->chart[t]);
        marked |= marks[t];
    }
    const double box = s->size[0] * s->size[1];
    return s->n > 1 && (marked || (area < FULL * box && area > LARGE * total));
}

/* Cuts charts across the longer sides of their boxes, into what hangs together. marks: what lies on others; uv in m. */
static void cut(work *w, const modal_charts *charts, const modal_chart_shape *shapes, const int32_t *marks, int32_t *sides, int64_t *n_cut)
{
    const int64_t n_charts = w->n_charts;
    double total = 0;
    *n_cut = 0;
    for (int64_t t = 0; t < w->s->n_triangles; t++) total += w->areas[t];
    for (int64_t c = 0; c < n_charts; c++) {
        const modal_chart_shape *s = &shapes[c];
        if (!is_cut(w, s, marks, total)) continue;
        const int axis = s->size[1] > s->size[0];
        int64_t beyond = 0;
        for (int64_t i = s->first; i < s->first + s->n; i++) {
            const int32_t *at = charts->triangle_uv + 3 * (int64_t)w->members[i];
            const double x = (charts->uv[2 * (int64_t)at[0] + axis] + charts->uv[2 * (int64_t)at[1] + axis] + charts->uv[2 * (int64_t)at[2] + axis]) / 3;
            beyond += sides[w->members[i]] = x > 0.5 * s->size[axis];
        }
        if (beyond == 0 || beyond == s->n) /* what lies on others goes */
            for (int64_t i = s->first; i < s->first + s->n; i++) sides[w->members[i]] = marks[w->members[i]] ? 2 : 0;
        for (int64_t i = s->first; i < s->first + s->n; i++)
            if (w->chart[w->members[i]] == c) take_piece(w, w->members[i], sides);
        ++*n_cut;
    }
}

/* Cuts until nothing is to be cut, so that charts that would lie on themselves rarely come to be packed. */
static modal_status cut_all(work *w, modal_charts *charts, modal_chart_shape **shapes, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = w->s->n_triangles;
    modal_charts small = *charts; /* charts one on the other in the unit square */
    int32_t *marks = NULL, *sides = NULL;
    small.uv = NULL;
    MODAL_TRY(modal_alloc(&small.uv, 6 * n, sizeof *small.uv, "charts", err));
    MODAL_TRY(modal_alloc(&marks, n, sizeof *marks, "charts", err));
    MODAL_TRY(modal_alloc(&sides, n, sizeof *sides, "charts", err));
    for (int round = 0;; round++) {
        double longest = 0;
        int64_t n_found, n_cut;
        number_charts(w);
        modal_free(shapes);
        MODAL_TRY(modal_alloc(shapes, w->n_charts, sizeof **shapes, "charts", err));
        MODAL_TRY(project(w, charts, *shapes, err));
        if (round == MOST_CUTS) break;
        for (int64_t c = 0; c < w->n_charts; c++) longest = fmax(longest, fmax((*shapes)[c].size[0], (*shapes)[c].size[1]));
        for (int64_t i = 0; i < 2 * charts->n_uv; i++) small.uv[i] = charts->uv[i] / longest;
        memset(marks, 0, (size_t)n * sizeof *marks);
        MODAL_TRY(modal_charts_overlaps(&small, n, w->chart, 1, marks, &n_found, err));
        cut(w, charts, *shapes, marks, sides, &n_cut);
        if (n_cut == 0) break;
    }
done:
    modal_free(&small.uv);
    modal_free(&marks);
    modal_free(&sides);
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
        MODAL_TRY(cut_all(&w, charts, &shapes, err));
        MODAL_TRY(modal_charts_pack(shapes, w.n_charts, w.members, charts->triangle_uv, gap, charts->uv, err));
        MODAL_TRY(modal_charts_overlaps(charts, s->n_triangles, w.chart, 0, w.alone, &charts->n_overlapping, err));
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
