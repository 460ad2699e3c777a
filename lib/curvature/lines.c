/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/curvature/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"

typedef struct edge {
    int32_t a, b; /* a < b */
    int64_t side; /* 3 triangle + k, of its side from corner k to the next */
} edge;

/* A place on a line: on an edge, or the middle of a triangle. Pieces lead to others. */
typedef struct place {
    float x[3], k;
} place;

typedef struct tracing {
    const modal_lines_surface *s;
    int valleys;
    int64_t *side_place; /* [3 n_triangles] the place on each side, -1 without */
    place *places;
    int64_t n_places, place_capacity;
    int64_t (*pieces)[2]; /* [n_pieces] two places */
    int64_t n_pieces, piece_capacity;
    int64_t *offsets, *at; /* CSR: pieces of a place */
    uint8_t *used;         /* [n_pieces] */
} tracing;

static int by_ends(const void *left, const void *right)
{
    const edge *x = left, *y = right;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a)
           : x->b != y->b ? (x->b > y->b) - (x->b < y->b)
                          : (x->side > y->side) - (x->side < y->side);
}

/* Signed so that ridges and valleys are one case: curvature, its derivative along the direction, the direction. */
static void at_vertex(const tracing *t, int32_t v, double *k, double *e, const float **d)
{
    const modal_lines_surface *s = t->s;
    *k = t->valleys ? -(double)s->k_min[v] : (double)s->k_max[v];
    *e = t->valleys ? -(double)s->derivative[4 * (int64_t)v + 3] : (double)s->derivative[4 * (int64_t)v];
    *d = (t->valleys ? s->direction_min : s->direction_max) + 3 * (int64_t)v;
}

/* Whether a line crosses the edge, and where. */
static int crosses(const tracing *t, int32_t a, int32_t b, place *found)
{
    const modal_lines_surface *s = t->s;
    const float *x = s->positions + 3 * (int64_t)a, *y = s->positions + 3 * (int64_t)b, *d, *f;
    double k[2], e[2], along = 0.0, back = 0.0, same = 0.0;
    at_vertex(t, a, &k[0], &e[0], &d);
    at_vertex(t, b, &k[1], &e[1], &f);
    const double other_a = fabs((double)(t->valleys ? s->k_max : s->k_min)[a]);
    const double other_b = fabs((double)(t->valleys ? s->k_max : s->k_min)[b]);
    if (!(k[0] > other_a) || !(k[1] > other_b)) return 0;
    for (int i = 0; i < 3; i++) {
        same += (double)d[i] * (double)f[i];
        along += ((double)y[i] - (double)x[i]) * (double)d[i];
        back += ((double)x[i] - (double)y[i]) * (double)f[i];
    }
    const int grows = e[0] * along > 0.0 || e[1] * back > 0.0;
    if (same < 0.0) e[1] = -e[1];
    if (!(e[0] * e[1] < 0.0) || !grows) return 0;
    const double share = fabs(e[0]) / (fabs(e[0]) + fabs(e[1]));
    for (int i = 0; i < 3; i++) found->x[i] = (float)((double)x[i] + share * ((double)y[i] - (double)x[i]));
    found->k = (float)(k[0] + share * (k[1] - k[0]));
    return 1;
}

static modal_status add_place(tracing *t, const place *p, int64_t *number, modal_error *err)
{
    modal_status status = modal_grow(&t->places, &t->place_capacity, t->n_places + 1, sizeof *t->places, "lines", err);
    if (status != MODAL_OK) return status;
    t->places[*number = t->n_places++] = *p;
    return MODAL_OK;
}

static modal_status add_piece(tracing *t, int64_t from, int64_t to, modal_error *err)
{
    modal_status status = modal_grow(&t->pieces, &t->piece_capacity, t->n_pieces + 1, sizeof *t->pieces, "lines", err);
    if (status != MODAL_OK) return status;
    t->pieces[t->n_pieces][0] = from, t->pieces[t->n_pieces++][1] = to;
    return MODAL_OK;
}

/* A place for every edge that is crossed, the same for all triangles at it. */
static modal_status find_places(tracing *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_sides = 3 * t->s->n_triangles;
    edge *edges = NULL;
    MODAL_TRY(modal_alloc(&edges, n_sides, sizeof *edges, "edges", err));
    MODAL_TRY(modal_alloc(&t->side_place, n_sides, sizeof *t->side_place, "edges", err));
    for (int64_t i = 0; i < n_sides; i++) {
        const int32_t a = t->s->triangles[i], b = t->s->triangles[i / 3 * 3 + (i + 1) % 3];
        edges[i] = (edge){a < b ? a : b, a < b ? b : a, i};
    }
    if (n_sides > 0) qsort(edges, (size_t)n_sides, sizeof *edges, by_ends);
    for (int64_t i = 0, j; i < n_sides; i = j) {
        place found;
        int64_t number = -1;
        if (crosses(t, edges[i].a, edges[i].b, &found)) MODAL_TRY(add_place(t, &found, &number, err));
        for (j = i; j < n_sides && edges[j].a == edges[i].a && edges[j].b == edges[i].b; j++)
            t->side_place[edges[j].side] = number;
    }
done:
    modal_free(&edges);
    return status;
}

static modal_status find_pieces(tracing *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int64_t i = 0; i < t->s->n_triangles; i++) {
        int64_t on[3], middle = -1;
        int n = 0;
        for (int k = 0; k < 3; k++)
            if (t->side_place[3 * i + k] >= 0) on[n++] = t->side_place[3 * i + k];
        if (n == 2) MODAL_TRY(add_piece(t, on[0], on[1], err));
        if (n < 3) continue;
        place centre = {{0.0f, 0.0f, 0.0f}, 0.0f};
        for (int k = 0; k < 3; k++) {
            for (int c = 0; c < 3; c++) centre.x[c] += t->places[on[k]].x[c] / 3.0f;
            centre.k += t->places[on[k]].k / 3.0f;
        }
        MODAL_TRY(add_place(t, &centre, &middle, err));
        for (int k = 0; k < 3; k++) MODAL_TRY(add_piece(t, on[k], middle, err));
    }
    MODAL_TRY(modal_alloc_zero(&t->offsets, t->n_places + 1, sizeof *t->offsets, "lines", err));
    MODAL_TRY(modal_alloc(&t->at, 2 * t->n_pieces, sizeof *t->at, "lines", err));
    MODAL_TRY(modal_alloc_zero(&t->used, t->n_pieces, 1, "lines", err));
    for (int64_t i = 0; i < 2 * t->n_pieces; i++) t->offsets[t->pieces[i / 2][i % 2] + 1]++;
    for (int64_t i = 0; i < t->n_places; i++) t->offsets[i + 1] += t->offsets[i];
    for (int64_t i = 2 * t->n_pieces - 1; i >= 0; i--) { /* fills each row from its end, then the offsets are back */
        const int64_t p = t->pieces[i / 2][i % 2];
        t->at[--t->offsets[p + 1]] = i / 2;
    }
    for (int64_t i = 0; i < t->n_places; i++) t->offsets[i] = t->offsets[i + 1];
    t->offsets[t->n_places] = 2 * t->n_pieces;
done:
    return status;
}

static modal_status add_point(modal_lines *l, const tracing *t, int64_t p, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_grow(&l->points, &l->point_capacity, 3 * (l->n_points + 1), sizeof *l->points, "lines", err));
    MODAL_TRY(modal_grow(&l->curvature, &l->curvature_capacity, l->n_points + 1, sizeof *l->curvature, "lines", err));
    memcpy(l->points + 3 * l->n_points, t->places[p].x, sizeof t->places[p].x);
    l->curvature[l->n_points++] = t->valleys ? -t->places[p].k : t->places[p].k;
done:
    return status;
}

/* Goes from a place until it ends, meets a place where more than two pieces do, or comes back. */
static modal_status follow(tracing *t, int64_t from, double least, modal_lines *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t begin = l->n_points;
    double strength = 0.0;
    for (int64_t p = from, piece;; p = t->pieces[piece][0] == p ? t->pieces[piece][1] : t->pieces[piece][0]) {
        MODAL_TRY(add_point(l, t, p, err));
        if (l->n_points > begin + 1) {
            const float *x = l->points + 3 * (l->n_points - 2), *k = l->curvature + l->n_points - 2;
            const double d[3] = {(double)x[3] - (double)x[0], (double)x[4] - (double)x[1], (double)x[5] - (double)x[2]};
            strength += sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) * fabs((double)k[0] + (double)k[1]) / 2.0;
            if (t->offsets[p + 1] - t->offsets[p] != 2) break;
        }
        int64_t i = t->offsets[p];
        while (i < t->offsets[p + 1] && t->used[t->at[i]]) i++;
        if (i == t->offsets[p + 1]) break;
        t->used[piece = t->at[i]] = 1;
    }
    if (l->n_points < begin + 2 || strength < least) {
        l->n_points = begin;
        return MODAL_OK;
    }
    MODAL_TRY(modal_grow(&l->offsets, &l->offset_capacity, l->n_lines + 2, sizeof *l->offsets, "lines", err));
    MODAL_TRY(modal_grow(&l->strength, &l->strength_capacity, l->n_lines + 1, sizeof *l->strength, "lines", err));
    MODAL_TRY(modal_grow(&l->valley, &l->valley_capacity, l->n_lines + 1, 1, "lines", err));
    l->offsets[l->n_lines] = begin, l->offsets[l->n_lines + 1] = l->n_points;
    l->strength[l->n_lines] = (float)strength, l->valley[l->n_lines++] = (uint8_t)t->valleys;
done:
    return status;
}

modal_status modal_lines_find(const modal_lines_surface *surface, int valleys, double least_strength, modal_lines *lines,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    tracing t = {.s = surface, .valleys = valleys};
    MODAL_TRY(find_places(&t, err));
    MODAL_TRY(find_pieces(&t, err));
    for (int closed = 0; closed < 2; closed++) /* lines with ends first */
        for (int64_t p = 0; p < t.n_places; p++) {
            if (!closed && t.offsets[p + 1] - t.offsets[p] == 2) continue;
            for (int64_t i = t.offsets[p]; i < t.offsets[p + 1]; i++)
                if (!t.used[t.at[i]]) MODAL_TRY(follow(&t, p, least_strength, lines, err));
        }
done:
    modal_free(&t.side_place);
    modal_free(&t.places);
    modal_free(&t.pieces);
    modal_free(&t.offsets);
    modal_free(&t.at);
    modal_free(&t.used);
    return status;
}

void modal_lines_free(modal_lines *lines)
{
    modal_free(&lines->points);
    modal_free(&lines->curvature);
    modal_free(&lines->offsets);
    modal_free(&lines->strength);
    modal_free(&lines->valley);
    memset(lines, 0, sizeof *lines);
}
