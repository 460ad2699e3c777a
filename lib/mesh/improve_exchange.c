/* SPDX-License-Identifier: Apache-2.0 */
/* improve.h: the elements around an edge, two at a face, and flat ones on the surface. */
#include <math.h>
#include <string.h>

#include "lib/mesh/improve_private.h"

enum { MOST_RING = 14 };

/* The other vertices of the elements at the edge, in the order around it from a to b; *n of them. */
typedef struct ring {
    int n, is_open; /* open: the first and the last are on the boundary */
    int32_t vertices[MOST_RING + 1];
    int32_t elements[MOST_RING];
} ring;

static int find_ring(const improve_store *s, int32_t a, int32_t b, ring *r)
{
    int32_t from[MOST_RING], to[MOST_RING];
    const int n = improve_ring(s, a, b, r->elements, MOST_RING);
    if (n < 1) return 0;
    for (int i = 0; i < n; i++) {
        const improve_tetrahedron *t = &s->tetrahedra[r->elements[i]];
        const int at_a = improve_has(t, a), at_b = improve_has(t, b);
        int rest[2], m = 0;
        for (int k = 0; k < 4; k++)
            if (k != at_a && k != at_b) rest[m++] = k;
        /* (a, b, from, to) as the element is: an even permutation of its corners */
        const int order[4] = {at_a, at_b, rest[0], rest[1]};
        int inversions = 0;
        for (int p = 0; p < 4; p++)
            for (int q = p + 1; q < 4; q++) inversions += order[p] > order[q];
        from[i] = t->v[rest[inversions & 1]];
        to[i] = t->v[rest[1 - (inversions & 1)]];
    }
    int first = 0;
    r->is_open = 0;
    for (int i = 0; i < n; i++) {
        int is_end = 1;
        for (int j = 0; j < n; j++) is_end &= to[j] != from[i];
        if (is_end) first = i, r->is_open = 1;
    }
    r->vertices[0] = from[first];
    r->n = 1;
    for (int i = 0, at = first; i < n; i++) {
        r->vertices[r->n++] = to[at];
        int next = -1;
        for (int j = 0; j < n; j++)
            if (from[j] == to[at]) next = j;
        if (next < 0 && i < n - 1) return 0; /* several fans meet at the edge */
        at = next;
    }
    if (!r->is_open) {
        if (r->vertices[r->n - 1] != r->vertices[0]) return 0;
        r->n--;
    }
    return 1;
}

static double least_of(const improve_store *s, const int32_t *elements, int n)
{
    double least = INFINITY;
    for (int i = 0; i < n; i++) least = fmin(least, improve_quality_of(s, s->tetrahedra[elements[i]].v));
    return least;
}

static double pair_quality(const improve_store *s, int32_t a, int32_t b, int32_t x, int32_t y, int32_t z, double above)
{
    const int32_t upper[4] = {x, y, z, b}, lower[4] = {x, z, y, a};
    const double quality = improve_quality_of(s, upper);
    return quality > above ? fmin(quality, improve_quality_of(s, lower)) : quality;
}

static void emit(improve_change *change, const ring *r, int (*cut)[MOST_RING + 1], int i, int j, int32_t a, int32_t b)
{
    if (j - i < 2) return;
    const int k = cut[i][j];
    const int32_t x = r->vertices[i], y = r->vertices[k], z = r->vertices[j];
    const int32_t pair[2][4] = {{x, y, z, b}, {x, z, y, a}};
    memcpy(change->fresh[change->n_new], pair, sizeof pair);
    change->n_new += 2;
    emit(change, r, cut, i, k, a, b);
    emit(change, r, cut, k, j, a, b);
}

/* The triangles of the ring's polygon, each with both ends of the edge, whose worst element is best (Klincsek). Returns its
 * quality, and the change. */
static double plan_edge(const improve_store *s, int32_t a, int32_t b, improve_change *change)
{
    ring r;
    double best[MOST_RING + 1][MOST_RING + 1];
    int cut[MOST_RING + 1][MOST_RING + 1];
    if (!find_ring(s, a, b, &r) || (!r.is_open && r.n < 3)) return -1;
    const int n = r.n, n_elements = r.is_open ? n - 1 : n;
    change->quality = least_of(s, r.elements, n_elements);
    for (int length = 1; length < n; length++)
        for (int i = 0; i + length < n; i++) {
            const int j = i + length;
            best[i][j] = length == 1 ? INFINITY : -INFINITY;
            for (int k = i + 1; k < j; k++) {
                double quality = fmin(best[i][k], best[k][j]);
                if (quality > best[i][j] && quality > change->quality)
                    quality = fmin(quality, pair_quality(s, a, b, r.vertices[i], r.vertices[k], r.vertices[j], best[i][j]));
                if (quality > best[i][j]) best[i][j] = quality, cut[i][j] = k;
            }
        }
    if (!(best[0][n - 1] > change->quality)) return -1;
    change->n_old = n_elements;
    memcpy(change->old, r.elements, (size_t)n_elements * sizeof *r.elements);
    change->n_new = 0;
    change->may_expose = n == 2;
    emit(change, &r, cut, 0, n - 1, a, b);
    return best[0][n - 1];
}

/* Two elements at a face become three around a new edge. */
static double plan_face(const improve_store *s, int32_t t, int k, improve_change *change)
{
    int place;
    const improve_tetrahedron *own = &s->tetrahedra[t];
    if (own->mark[k] != IMPROVE_INSIDE) return -1;
    const int32_t other = improve_neighbour(s, t, k, &place);
    if (other < 0) return -1;
    const int32_t a = own->v[k], d = s->tetrahedra[other].v[place];
    double quality = INFINITY;
    change->n_old = 2;
    change->old[0] = t;
    change->old[1] = other;
    change->n_new = 3;
    change->may_expose = 0;
    change->quality = least_of(s, change->old, 2);
    for (int i = 0; i < 3; i++) {
        const int32_t fresh[4] = {a, d, own->v[improve_faces[k][i]], own->v[improve_faces[k][(i + 1) % 3]]};
        memcpy(change->fresh[i], fresh, sizeof fresh);
        quality = fmin(quality, improve_quality_of(s, fresh));
    }
    return quality > change->quality ? quality : -1;
}

/* The element is taken off the surface. */
static int peel(improve_store *s, int32_t t, improve_change *change)
{
    const improve_tetrahedron *own = &s->tetrahedra[t];
    int n = 0, at = 0;
    for (int k = 0; k < 4; k++)
        if (own->mark[k] >= 0) n++, at = k;
    if (n == 0 || n == 4 || (n == 1 && (s->n_boundary[own->v[at]] > 0 || s->fixed[own->v[at]]))) return 0;
    for (int k = 0; k < 4 && n == 3; k++) /* the corner goes */
        if (own->mark[k] < 0 && s->fixed[own->v[k]]) return 0;
    change->n_old = 1;
    change->old[0] = t;
    change->n_new = 0;
    change->may_expose = 1;
    change->quality = improve_quality_of(s, own->v);
    return improve_apply(s, change);
}

int improve_exchange(improve_store *s, int32_t t)
{
    static const uint8_t edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    static improve_change change;
    double quality[10];
    int32_t v[4];
    memcpy(v, s->tetrahedra[t].v, sizeof v);
    change.gain = improve_gain;
    change.into = change.moved = change.merged[0] = change.merged[1] = change.merged[2] = -1;
    if (peel(s, t, &change)) return ++s->told.n_peeled, 1;
    for (int i = 0; i < 10; i++)
        quality[i] = i < 6 ? plan_edge(s, v[edges[i][0]], v[edges[i][1]], &change) : plan_face(s, t, i - 6, &change);
    for (int tries = 0; tries < 10; tries++) { /* the best first */
        int best = 0;
        for (int i = 1; i < 10; i++)
            if (quality[i] > quality[best]) best = i;
        if (!(quality[best] > 0)) return 0;
        quality[best] = -1;
        if (best < 6)
            plan_edge(s, v[edges[best][0]], v[edges[best][1]], &change);
        else
            plan_face(s, t, best - 6, &change);
        if (improve_apply(s, &change)) return best < 6 ? ++s->told.n_edges : ++s->told.n_faces, 1;
        if (s->failed != MODAL_OK) return 0;
    }
    return 0;
}
