/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/creases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"

static const double PI = 3.14159265358979323846;

/* An edge at the vertex in work: its other end, and a place in the vertex's row of triangles. */
typedef struct edge_end {
    int32_t other, place;
} edge_end;

typedef struct work {
    const int32_t *triangles;
    const int32_t *numbers; /* [n_triangles, 3] corners of a vertex with the same number are of one group; NULL: angles say it */
    double cosine;      /* of the angle from which an edge is a crease */
    int64_t *offsets;   /* [n_vertices + 1] */
    int32_t *faces;     /* triangles of each vertex, ascending */
    int32_t *group;     /* [offsets[n_vertices]] of each of these, within its vertex */
    double *normals;    /* [n_triangles, 3] unit, or zero */
    edge_end *ends;     /* [2 x the largest valence] */
    int32_t *parent;    /* [the largest valence] union-find */
} work;

void modal_creases_free(modal_creases *c)
{
    modal_free(&c->source);
    modal_free(&c->corners);
    modal_free(&c->face_offsets);
    modal_free(&c->faces);
    memset(c, 0, sizeof *c);
}

static void make_normal(const double *x, const int32_t t[3], double n[3])
{
    double a[3], b[3], largest = 0;
    for (int k = 0; k < 3; k++) {
        a[k] = x[3 * (int64_t)t[1] + k] - x[3 * (int64_t)t[0] + k];
        b[k] = x[3 * (int64_t)t[2] + k] - x[3 * (int64_t)t[0] + k];
        largest = fmax(largest, fmax(fabs(a[k]), fabs(b[k])));
    }
    for (int k = 0; k < 3 && largest > 0; k++) a[k] /= largest, b[k] /= largest;
    for (int k = 0; k < 3; k++) n[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; k++) n[k] = length > 0 ? n[k] / length : 0;
}

/* The triangles of each vertex, each once. Returns the largest valence. */
static int64_t make_rows(work *w, int64_t n_vertices, int64_t n_triangles)
{
    int64_t most = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t t = 0; t < n_triangles; t++)
            for (int k = 0; k < 3; k++) {
                const int32_t v = w->triangles[3 * t + k];
                int again = 0;
                for (int j = 0; j < k; j++) again |= w->triangles[3 * t + j] == v;
                if (again) continue;
                if (pass == 0) w->offsets[v + 1]++;
                else w->faces[w->offsets[v]++] = (int32_t)t;
            }
        for (int64_t v = 0; pass == 0 && v < n_vertices; v++) {
            if (w->offsets[v + 1] > most) most = w->offsets[v + 1];
            w->offsets[v + 1] += w->offsets[v];
        }
    }
    memmove(w->offsets + 1, w->offsets, (size_t)n_vertices * sizeof *w->offsets); /* they have moved to their rows' ends */
    w->offsets[0] = 0;
    return most;
}

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static void unite(int32_t *parent, int32_t a, int32_t b)
{
    a = root_of(parent, a), b = root_of(parent, b);
    parent[a < b ? b : a] = a < b ? a : b;
}

static int by_other(const void *a, const void *b)
{
    const edge_end *x = a, *y = b;
    return x->other != y->other ? (x->other > y->other) - (x->other < y->other) : (x->place > y->place) - (x->place < y->place);
}

static int has_area(const double n[3]) { return n[0] != 0 || n[1] != 0 || n[2] != 0; }

static int is_smooth(const work *w, int32_t t, int32_t u)
{
    const double *p = w->normals + 3 * (int64_t)t, *q = w->normals + 3 * (int64_t)u;
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2] >= w->cosine;
}

/* The triangles of a vertex at one of its edges, ends [n]: those with an area are united where they are two and it is no crease, those without
 * join (flat = 1). joined: of those without, which they joined first, -1: none. */
static void use_edge(work *w, const int32_t *faces, const edge_end *ends, int64_t n, int flat, int32_t *joined)
{
    int32_t with[2] = {-1, -1};
    int n_with = 0;
    for (int64_t i = 0; i < n; i++)
        if (has_area(w->normals + 3 * (int64_t)faces[ends[i].place])) {
            if (n_with < 2) with[n_with] = ends[i].place;
            n_with++;
        }
    if (!flat && n_with == 2 && is_smooth(w, faces[with[0]], faces[with[1]])) unite(w->parent, with[0], with[1]);
    for (int64_t i = 0; flat && n_with > 0 && i < n; i++) {
        const int32_t at = ends[i].place;
        if (has_area(w->normals + 3 * (int64_t)faces[at])) continue;
        if (joined[at] < 0) {
            joined[at] = with[0];
            w->parent[at] = root_of(w->parent, with[0]);
        } else if (is_smooth(w, faces[joined[at]], faces[with[0]])) {
            unite(w->parent, joined[at], with[0]);
        }
    }
}

/* Unites the triangles of a vertex, faces [n], that edges lead to; group [n] is scratch. */
static void unite_by_edges(work *w, int64_t v, const int32_t *faces, int64_t n, int32_t *group)
{
    int64_t n_ends = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t *t = w->triangles + 3 * (int64_t)faces[i];
        for (int k = 0; k < 3; k++)
            if (t[k] != v) w->ends[n_ends++] = (edge_end){t[k], i};
    }
    qsort(w->ends, (size_t)n_ends, sizeof *w->ends, by_other);
    for (int32_t i = 0; i < n; i++) group[i] = -1;
    for (int flat = 0; flat < 2; flat++)
        for (int64_t i = 0, j; i < n_ends; i = j) {
            for (j = i + 1; j < n_ends && w->ends[j].other == w->ends[i].other;) j++;
            use_edge(w, faces, w->ends + i, j - i, flat, group);
        }
}

/* Unites those whose corners at the vertex have the same number. */
static void unite_by_numbers(work *w, int64_t v, const int32_t *faces, int64_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int k = 0;
        while (w->triangles[3 * (int64_t)faces[i] + k] != v) k++;
        w->ends[i] = (edge_end){w->numbers[3 * (int64_t)faces[i] + k], i};
    }
    qsort(w->ends, (size_t)n, sizeof *w->ends, by_other);
    for (int64_t i = 1; i < n; i++)
        if (w->ends[i].other == w->ends[i - 1].other) unite(w->parent, w->ends[i].place, w->ends[i - 1].place);
}

/* Groups of the triangles of vertex v, numbered by their first triangles; gives their number. */
static int32_t make_groups(work *w, int64_t v)
{
    const int64_t begin = w->offsets[v], n = w->offsets[v + 1] - begin;
    int32_t *group = w->group + begin, n_groups = 0;
    for (int32_t i = 0; i < n; i++) w->parent[i] = i;
    if (w->numbers) unite_by_numbers(w, v, w->faces + begin, n);
    else unite_by_edges(w, v, w->faces + begin, n, group);
    for (int32_t i = 0; i < n; i++) group[i] = -1;
    for (int32_t i = 0; i < n; i++) {
        const int32_t root = root_of(w->parent, i);
        if (group[root] < 0) group[root] = n_groups++;
        group[i] = group[root];
    }
    return n_groups;
}

/* Numbers of wedges, once the groups are known. */
static modal_status number_wedges(modal_creases *c, const work *w, const int32_t *n_groups, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t next = c->n_vertices, *at = NULL;
    MODAL_TRY(modal_alloc(&c->source, c->n_wedges - c->n_vertices, sizeof *c->source, "creases", err));
    MODAL_TRY(modal_alloc(&c->corners, 3 * c->n_triangles, sizeof *c->corners, "creases", err));
    MODAL_TRY(modal_alloc_zero(&c->face_offsets, c->n_wedges + 1, sizeof *c->face_offsets, "creases", err));
    MODAL_TRY(modal_alloc(&c->faces, w->offsets[c->n_vertices], sizeof *c->faces, "creases", err));
    MODAL_TRY(modal_alloc(&at, c->n_wedges, sizeof *at, "creases", err));
    for (int64_t v = 0; v < c->n_vertices; v++) {
        const int64_t first = next;
        for (int32_t g = 1; g < n_groups[v]; g++) c->source[next++ - c->n_vertices] = (int32_t)v;
        for (int64_t i = w->offsets[v]; i < w->offsets[v + 1]; i++) {
            const int32_t g = w->group[i], wedge = g > 0 ? (int32_t)(first + g - 1) : (int32_t)v;
            c->face_offsets[wedge + 1]++;
            for (int k = 0; k < 3; k++)
                if (w->triangles[3 * (int64_t)w->faces[i] + k] == v) c->corners[3 * (int64_t)w->faces[i] + k] = wedge;
        }
    }
    for (int64_t i = 0; i < c->n_wedges; i++) {
        c->face_offsets[i + 1] += c->face_offsets[i];
        at[i] = c->face_offsets[i];
    }
    for (int64_t t = 0; t < c->n_triangles; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t wedge = c->corners[3 * t + k];
            int again = 0;
            for (int j = 0; j < k; j++) again |= c->corners[3 * t + j] == wedge;
            if (!again) c->faces[at[wedge]++] = (int32_t)t;
        }
done:
    modal_free(&at);
    return status;
}

/* rule: triangles, and numbers or cosine; positions: NULL with numbers. */
static modal_status make(modal_creases *c, int64_t n_vertices, int64_t n_triangles, const work *rule, const double *positions, modal_error *err)
{
    modal_status status = MODAL_OK;
    work w = *rule;
    int32_t *n_groups = NULL;
    *c = (modal_creases){.n_vertices = n_vertices, .n_triangles = n_triangles, .n_wedges = n_vertices};
    MODAL_TRY(modal_alloc_zero(&w.offsets, n_vertices + 1, sizeof *w.offsets, "creases", err));
    MODAL_TRY(modal_alloc(&w.faces, 3 * n_triangles, sizeof *w.faces, "creases", err));
    MODAL_TRY(modal_alloc(&w.group, 3 * n_triangles, sizeof *w.group, "creases", err));
    if (positions) MODAL_TRY(modal_alloc(&w.normals, 3 * n_triangles, sizeof *w.normals, "creases", err));
    MODAL_TRY(modal_alloc(&n_groups, n_vertices, sizeof *n_groups, "creases", err));
    for (int64_t t = 0; positions && t < n_triangles; t++) make_normal(positions, w.triangles + 3 * t, w.normals + 3 * t);
    const int64_t most = make_rows(&w, n_vertices, n_triangles);
    MODAL_TRY(modal_alloc(&w.ends, 2 * most, sizeof *w.ends, "creases", err));
    MODAL_TRY(modal_alloc(&w.parent, most, sizeof *w.parent, "creases", err));
    for (int64_t v = 0; v < n_vertices; v++) {
        n_groups[v] = make_groups(&w, v);
        if (n_groups[v] > 1) c->n_wedges += n_groups[v] - 1;
    }
    if (c->n_wedges > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "creases: more than %d corners with normals of their own", INT32_MAX);
    MODAL_TRY(number_wedges(c, &w, n_groups, err));
done:
    modal_free(&w.offsets);
    modal_free(&w.faces);
    modal_free(&w.group);
    modal_free(&w.normals);
    modal_free(&w.ends);
    modal_free(&w.parent);
    modal_free(&n_groups);
    if (status != MODAL_OK) modal_creases_free(c);
    return status;
}

modal_status modal_creases_make(modal_creases *c, int64_t n_vertices, int64_t n_triangles, const int32_t *triangles,
                                const double *positions, double degrees, modal_error *err)
{
    const double angle = degrees * PI / 180 + 1e-9;
    const work rule = {.triangles = triangles, .cosine = angle < PI ? cos(angle) : -2};
    return make(c, n_vertices, n_triangles, &rule, positions, err);
}

modal_status modal_creases_of_numbers(modal_creases *c, int64_t n_vertices, int64_t n_triangles, const int32_t *triangles,
                                      const int32_t *numbers, modal_error *err)
{
    const work rule = {.triangles = triangles, .numbers = numbers};
    return make(c, n_vertices, n_triangles, &rule, NULL, err);
}
