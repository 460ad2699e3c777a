/* SPDX-License-Identifier: Apache-2.0 */
/* improve.h: nodes that move, merge, and are added. */
#include <math.h>
#include <string.h>

#include "lib/mesh/improve_private.h"

/* A node more must mend all: else places that nothing can mend are cut into ever smaller pieces. */
static const double added_gain = 1e30;

static const uint8_t edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

/* The least quality of the elements; stops below `above`. */
static double least_of(const improve_store *s, int n, const int32_t (*v)[4], double above)
{
    double least = INFINITY;
    for (int i = 0; i < n && least > above; i++) least = fmin(least, improve_quality_of(s, v[i]));
    return least;
}

static void new_change(improve_change *change)
{
    change->n_old = change->n_new = change->may_expose = 0;
    change->gain = improve_gain;
    change->into = change->moved = change->merged[0] = change->merged[1] = change->merged[2] = -1;
}

static double old_quality(const improve_store *s, const improve_change *change)
{
    double least = INFINITY;
    for (int i = 0; i < change->n_old; i++) least = fmin(least, improve_quality_of(s, s->tetrahedra[change->old[i]].v));
    return least;
}

/* Fourteen directions, first the axes': enough to leave most kinks of a least value. */
static void direction(int i, double d[3])
{
    static const double third = 0.57735026918962576;
    for (int k = 0; k < 3; k++)
        d[k] = i < 6 ? (i / 2 == k ? (i & 1 ? -1 : 1) : 0) : ((i - 6) >> k & 1 ? -third : third);
}

typedef struct place_search {
    int n;
    const int32_t (*v)[4];
    int (*may)(const improve_store *s, int32_t vertex, void *of); /* whether the place is allowed; NULL: all are */
    void *of;
    const double *along; /* the only direction, or NULL */
} place_search;

/* Moves the vertex to where the least quality of the elements v is larger, by steps that become smaller. Returns that quality. */
static double search_place(improve_store *s, int32_t vertex, const place_search *search)
{
    enum { LEVELS = 7 };
    double *const x = s->x + 3 * (int64_t)vertex, best = least_of(s, search->n, search->v, -INFINITY), step = INFINITY;
    for (int i = 0; i < search->n; i++)
        for (int k = 0; k < 4; k++) {
            double square = 0;
            for (int c = 0; c < 3 && search->v[i][k] != vertex; c++) {
                const double d = improve_at(s, search->v[i][k])[c] - x[c];
                square += d * d;
            }
            if (square > 0) step = fmin(step, sqrt(square));
        }
    double mean[3] = {0};
    for (int i = 0; i < search->n; i++)
        for (int k = 0; k < 4; k++)
            for (int c = 0; c < 3; c++) mean[c] += improve_at(s, search->v[i][k])[c] / (4 * search->n);
    double far = 0;
    for (int c = 0; c < 3; c++) far += (mean[c] - x[c]) * (mean[c] - x[c]);
    step = fmax(step, sqrt(far)) / 2;
    for (int level = 0; level < LEVELS; level++, step /= 2) {
        for (int moves = 0, found = 1; found && moves < 4; moves++) {
            const double from[3] = {x[0], x[1], x[2]};
            double at[3], d[3];
            found = 0;
            for (int i = 0; i < (search->along ? 2 : 14); i++) {
                direction(i, d);
                for (int c = 0; c < 3; c++)
                    x[c] = from[c] + step * (search->along ? (i ? -1 : 1) * search->along[c] : d[c]);
                const double quality = least_of(s, search->n, search->v, best);
                if (!(quality > best + 1e-6) || (search->may && !search->may(s, vertex, search->of))) continue;
                best = quality;
                found = 1;
                memcpy(at, x, sizeof at);
            }
            memcpy(x, found ? at : from, sizeof at);
        }
        if (best >= 2 * s->wanted) break;
    }
    return best;
}

/* The boundary faces at a vertex. */
typedef struct surface_star {
    int n;
    int32_t faces[IMPROVE_MOST_FACES];
    improve_patch_face now[IMPROVE_MOST_FACES];
} surface_star;

static int find_surface_star(const improve_store *s, int32_t vertex, surface_star *star)
{
    star->n = 0;
    for (int32_t c = s->head[vertex]; c >= 0; c = s->tetrahedra[c / 4].next[c % 4]) {
        const improve_tetrahedron *t = &s->tetrahedra[c / 4];
        for (int k = 0; k < 4; k++) {
            if (k == c % 4 || t->mark[k] < 0) continue;
            if (star->n == IMPROVE_MOST_FACES) return 0;
            star->faces[star->n] = t->mark[k];
            for (int i = 0; i < 3; i++) star->now[star->n].v[i] = t->v[improve_faces[k][i]];
            star->now[star->n++].patch = s->faces[t->mark[k]].patch;
        }
    }
    return 1;
}

static int star_may(const improve_store *s, int32_t vertex, void *of)
{
    const surface_star *star = of;
    (void)vertex;
    return improve_surface_may(s, star->n, star->faces, star->n, star->now);
}

int improve_move(improve_store *s, int32_t vertex)
{
    static int32_t elements[IMPROVE_MOST], v[IMPROVE_MOST][4];
    static surface_star star;
    const int n = improve_star(s, vertex, elements, IMPROVE_MOST);
    if (n < 1 || s->fixed[vertex]) return 0;
    for (int i = 0; i < n; i++) memcpy(v[i], s->tetrahedra[elements[i]].v, sizeof v[i]);
    place_search search = {.n = n, .v = v};
    if (s->n_boundary[vertex] > 0) {
        if (!find_surface_star(s, vertex, &star)) return 0;
        search.may = star_may;
        search.of = &star;
    }
    const double before = least_of(s, n, v, -INFINITY);
    const double after = search_place(s, vertex, &search);
    if (!(after > before)) return 0;
    if (search.may) {
        int32_t faces[IMPROVE_MOST_FACES];
        for (int i = 0; i < star.n; i++) faces[i] = improve_new_face(s, star.now[i].patch);
        if (s->failed != MODAL_OK) return 0;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 4; k++)
                for (int f = 0; f < star.n; f++)
                    if (s->tetrahedra[elements[i]].mark[k] == star.faces[f]) {
                        s->tetrahedra[elements[i]].mark[k] = faces[f];
                        break;
                    }
        improve_surface_pass(s, star.n, star.faces, star.n, star.now, faces);
    }
    s->told.n_moved++;
    return after > improve_gain * before + 1e-9;
}

/* Whether a boundary face has both. */
static int is_surface_edge(const improve_store *s, int32_t a, int32_t b)
{
    for (int32_t c = s->head[a]; c >= 0; c = s->tetrahedra[c / 4].next[c % 4]) {
        const improve_tetrahedron *t = &s->tetrahedra[c / 4];
        const int at_b = improve_has(t, b);
        for (int k = 0; at_b >= 0 && k < 4; k++)
            if (k != c % 4 && k != at_b && t->mark[k] >= 0) return 1;
    }
    return 0;
}

/* a goes into b, which moves to the middle if `half`. */
static int try_merge(improve_store *s, int32_t a, int32_t b, int half)
{
    static improve_change change;
    double *const x = s->x + 3 * (int64_t)b, from[3] = {x[0], x[1], x[2]};
    new_change(&change);
    int n = improve_star(s, a, change.old, IMPROVE_MOST);
    if (n < 0) return 0;
    for (int32_t c = s->head[b]; half && c >= 0; c = s->tetrahedra[c / 4].next[c % 4]) {
        if (improve_has(&s->tetrahedra[c / 4], a) >= 0) continue;
        if (n == IMPROVE_MOST) return 0;
        change.old[n++] = c / 4;
    }
    change.n_old = n;
    change.quality = old_quality(s, &change);
    change.into = b;
    change.merged[0] = a;
    for (int i = 0; i < n; i++) {
        const improve_tetrahedron *t = &s->tetrahedra[change.old[i]];
        const int at = improve_has(t, a);
        if (at >= 0 && improve_has(t, b) >= 0) continue;
        memcpy(change.fresh[change.n_new], t->v, sizeof t->v);
        if (at >= 0) change.fresh[change.n_new][at] = b;
        change.n_new++;
    }
    if (half) {
        change.moved = b;
        for (int k = 0; k < 3; k++) x[k] = (from[k] + improve_at(s, a)[k]) / 2;
    }
    if (change.n_new > 0 && improve_apply(s, &change)) return 1;
    memcpy(x, from, sizeof from);
    return 0;
}

int improve_merge(improve_store *s, int32_t t)
{
    int32_t v[4];
    memcpy(v, s->tetrahedra[t].v, sizeof v);
    for (int e = 0; e < 6; e++) {
        const int32_t a = v[edges[e][0]], b = v[edges[e][1]];
        const int a_on = s->n_boundary[a] > 0, b_on = s->n_boundary[b] > 0;
        if (a_on && b_on && !is_surface_edge(s, a, b)) continue;
        const int a_may = !s->fixed[a] && (!a_on || b_on), b_may = !s->fixed[b] && (!b_on || a_on);
        if ((a_may && try_merge(s, a, b, 0)) || (b_may && try_merge(s, b, a, 0)) ||
            (a_may && b_may && a_on == b_on && try_merge(s, a, b, 1)))
            return ++s->told.n_merged, 1;
        if (s->failed != MODAL_OK) return 0;
    }
    return 0;
}

/* The last vertex, which nothing uses, goes. */
static int take_back(improve_store *s)
{
    s->n_vertices--;
    return 0;
}

static int cut_edge(improve_store *s, int32_t a, int32_t b)
{
    static improve_change change;
    double middle[3], along[3];
    new_change(&change);
    change.n_old = improve_ring(s, a, b, change.old, IMPROVE_MOST / 2);
    if (change.n_old < 1) return 0;
    change.quality = old_quality(s, &change);
    for (int k = 0; k < 3; k++) {
        middle[k] = (improve_at(s, a)[k] + improve_at(s, b)[k]) / 2;
        along[k] = improve_at(s, b)[k] - improve_at(s, a)[k];
    }
    const double length = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
    for (int k = 0; k < 3; k++) along[k] /= length;
    const int32_t m = improve_new_vertex(s, middle);
    if (m < 0) return 0;
    for (int i = 0; i < change.n_old; i++)
        for (int half = 0; half < 2; half++) {
            const improve_tetrahedron *t = &s->tetrahedra[change.old[i]];
            memcpy(change.fresh[change.n_new], t->v, sizeof t->v);
            change.fresh[change.n_new++][improve_has(t, half ? a : b)] = m;
        }
    change.gain = added_gain;
    change.into = m;
    change.merged[0] = a;
    change.merged[1] = b;
    const place_search search = {.n = change.n_new, .v = change.fresh, .along = is_surface_edge(s, a, b) ? along : NULL};
    if (!(search_place(s, m, &search) > change.quality) || !improve_apply(s, &change)) return take_back(s);
    return 1;
}

/* The elements between `m` and the outside of the old ones, as fresh ones; the place where the worst is, whose outer face is (element, corner). */
static double fill_cone(const improve_store *s, improve_change *change, int32_t m, int32_t *worst_element, int *worst_place)
{
    double least = INFINITY;
    change->n_new = 0;
    for (int i = 0; i < change->n_old; i++) {
        const improve_tetrahedron *t = &s->tetrahedra[change->old[i]];
        for (int k = 0; k < 4; k++) {
            int place, is_inner = 0;
            const int32_t other = t->mark[k] == IMPROVE_INSIDE ? improve_neighbour(s, change->old[i], k, &place) : -1;
            for (int j = 0; j < change->n_old && other >= 0; j++) is_inner |= change->old[j] == other;
            if (is_inner) continue;
            if (change->n_new == IMPROVE_MOST) return -INFINITY;
            int32_t *fresh = change->fresh[change->n_new++];
            memcpy(fresh, t->v, sizeof t->v);
            fresh[k] = m;
            const double quality = improve_quality_of(s, fresh);
            if (quality < least) {
                least = quality;
                *worst_element = change->old[i];
                *worst_place = k;
            }
        }
    }
    return least;
}

/* A node inside a cavity that grows from the element over its worst face. */
static int add_inside(improve_store *s, int32_t t)
{
    enum { MOST_STEPS = 24 };
    static improve_change change;
    double middle[3] = {0}, best = -INFINITY, old = INFINITY;
    int n_best = 0, worst_place = 0;
    int32_t worst_element = t;
    new_change(&change);
    change.gain = added_gain;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) middle[k] += improve_at(s, s->tetrahedra[t].v[i])[k] / 4;
    const int32_t m = improve_new_vertex(s, middle);
    if (m < 0) return 0;
    change.old[change.n_old++] = t;
    for (int step = 0; step < MOST_STEPS; step++) {
        int place;
        const double quality = fill_cone(s, &change, m, &worst_element, &worst_place);
        if (step > 0 && quality > best) best = quality, n_best = change.n_old;
        const int32_t next = s->tetrahedra[worst_element].mark[worst_place] == IMPROVE_INSIDE
                                 ? improve_neighbour(s, worst_element, worst_place, &place) : -1;
        if (next < 0) break;
        change.old[change.n_old++] = next;
    }
    if (n_best == 0) return take_back(s);
    change.n_old = n_best;
    old = old_quality(s, &change);
    change.quality = old;
    fill_cone(s, &change, m, &worst_element, &worst_place);
    const place_search search = {.n = change.n_new, .v = change.fresh};
    if (!(search_place(s, m, &search) > old) || !improve_apply(s, &change)) return take_back(s);
    return 1;
}

int improve_add(improve_store *s, int32_t t)
{
    int32_t v[4];
    memcpy(v, s->tetrahedra[t].v, sizeof v);
    for (int e = 0; e < 6; e++) {
        if (cut_edge(s, v[edges[e][0]], v[edges[e][1]])) return ++s->told.n_added, 1;
        if (s->failed != MODAL_OK) return 0;
    }
    if (add_inside(s, t)) return ++s->told.n_added, 1;
    return 0;
}
