/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/charts_overlap.h"

#include <math.h>

#include "lib/base/memory.h"

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
    const int32_t *chart; /* pairs of one chart alone, or NULL */
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
    for (int64_t i = begin; i < end; i++) {
        int64_t p[2][3][2];
        int a[4], b[4];
        steps_of(s->charts, s->list[i], p[0]), range_of(s, p[0], a);
        for (int64_t j = begin; j < i; j++) {
            if (s->chart && s->chart[s->list[i]] != s->chart[s->list[j]]) continue;
            steps_of(s->charts, s->list[j], p[1]), range_of(s, p[1], b);
            if (x != (a[0] > b[0] ? a[0] : b[0]) || y != (a[1] > b[1] ? a[1] : b[1])) continue; /* another square has the pair */
            if (!overlap(p)) continue;
            marks[s->list[i] > s->list[j] ? s->list[i] : s->list[j]] = 1;
            n_found++;
        }
    }
    return n_found;
}

modal_status modal_charts_overlaps(const modal_charts *c, int64_t n, const int32_t *chart, int within, int32_t *marks, int64_t *n_found, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t p[3][2];
    int r[4];
    pair_search s = {.charts = c, .chart = within ? chart : NULL, .side = (int)fmin(4096, ceil(sqrt((double)n)))};
    MODAL_TRY(modal_alloc_zero(&s.first, (int64_t)s.side * s.side + 2, sizeof *s.first, "charts", err));
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t t = 0; t < n; t++) {
            if (chart[t] < 0 || !steps_of(c, t, p)) continue;
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
