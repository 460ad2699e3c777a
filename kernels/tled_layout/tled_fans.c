/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tled_layout/tled_fans.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"

enum { RING = 64 }; /* tetrahedra about an edge that are looked at at once; more of them form more than one fan */

typedef struct fan_edge {
    double length2;
    uint64_t key;   /* smaller corner << 32 | larger one */
    int32_t first, n; /* its tetrahedra in `around` */
} fan_edge;

typedef struct use {
    uint64_t key;
    int32_t element;
} use;

struct modal_tled_fans {
    int32_t most;
    use *uses;       /* [6 most] */
    fan_edge *edges; /* [6 most] */
    uint8_t *taken;  /* [most] */
};

modal_status modal_tled_fans_new(modal_tled_fans **fans, int32_t most, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_fans *f = NULL;
    *fans = NULL;
    MODAL_TRY(modal_alloc_zero(&f, 1, sizeof *f, "fans", err));
    f->most = most;
    MODAL_TRY(modal_alloc(&f->uses, 6 * (int64_t)most, sizeof *f->uses, "edges of a patch", err));
    MODAL_TRY(modal_alloc(&f->edges, 6 * (int64_t)most, sizeof *f->edges, "edges of a patch", err));
    MODAL_TRY(modal_alloc(&f->taken, most, 1, "tetrahedra of a patch", err));
    *fans = f;
    f = NULL;
done:
    modal_tled_fans_delete(f);
    return status;
}

modal_tled_fans *modal_tled_fans_delete(modal_tled_fans *fans)
{
    if (!fans) return NULL;
    modal_free(&fans->uses);
    modal_free(&fans->edges);
    modal_free(&fans->taken);
    modal_free(&fans);
    return NULL;
}

static int by_key(const void *a, const void *b)
{
    const use *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->element < y->element ? -1 : x->element > y->element;
}

static int by_length(const void *a, const void *b)
{
    const fan_edge *x = a, *y = b;
    if (x->length2 != y->length2) return x->length2 > y->length2 ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static int32_t find_edges(modal_tled_fans *f, int32_t n, const int32_t (*corners)[4], const double (*positions)[3])
{
    int32_t n_uses = 0, n_edges = 0;
    for (int32_t e = 0; e < n; e++)
        for (int a = 0; a < 4; a++)
            for (int b = a + 1; b < 4; b++) {
                const uint32_t p = (uint32_t)corners[e][a], q = (uint32_t)corners[e][b];
                f->uses[n_uses++] = (use){p < q ? (uint64_t)p << 32 | q : (uint64_t)q << 32 | p, e};
            }
    qsort(f->uses, (size_t)n_uses, sizeof *f->uses, by_key);
    for (int32_t i = 0; i < n_uses;) {
        int32_t end = i + 1;
        while (end < n_uses && f->uses[end].key == f->uses[i].key) end++;
        const double *p = positions[f->uses[i].key >> 32], *q = positions[f->uses[i].key & 0xffffffffu];
        double length2 = 0;
        for (int k = 0; k < 3; k++) length2 += (p[k] - q[k]) * (p[k] - q[k]);
        f->edges[n_edges++] = (fan_edge){length2, f->uses[i].key, i, end - i};
        i = end;
    }
    qsort(f->edges, (size_t)n_edges, sizeof *f->edges, by_length);
    return n_edges;
}

/* A tetrahedron about the edge (a, b) as (a, b, from, to) with its own orientation. */
typedef struct wedge {
    int32_t element, from, to;
    int next; /* the wedge that begins where this one ends, or -1 */
    int first; /* nothing ends where it begins */
} wedge;

static wedge turn(const int32_t corners[4], int32_t element, int32_t a, int32_t b)
{
    int order[4], n = 2, swaps = 0;
    for (int k = 0; k < 4; k++) {
        if (corners[k] == a) order[0] = k;
        else if (corners[k] == b) order[1] = k;
        else order[n++] = k;
    }
    for (int i = 0; i < 4; i++)
        for (int k = i + 1; k < 4; k++) swaps += order[i] > order[k];
    const int odd = swaps & 1;
    return (wedge){element, corners[order[odd ? 3 : 2]], corners[order[odd ? 2 : 3]], -1, 1};
}

/* The wedges of an edge that are in no fan yet, linked. */
static int free_wedges(const modal_tled_fans *f, const fan_edge *edge, const int32_t (*corners)[4], wedge ring[RING])
{
    int n = 0;
    for (int32_t i = edge->first; i < edge->first + edge->n && n < RING; i++) {
        const int32_t e = f->uses[i].element;
        if (!f->taken[e]) ring[n++] = turn(corners[e], e, (int32_t)(edge->key >> 32), (int32_t)(edge->key & 0xffffffffu));
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (i != k && ring[i].to == ring[k].from && ring[i].next < 0 && ring[k].first)
                ring[i].next = k, ring[k].first = 0; /* one to one, whatever the mesh: runs visit nothing twice */
    return n;
}

/* Where a run of `length` wedges begins: at the start of an open run, else anywhere in a closed one; -1: there is none. */
static int find_run(const wedge ring[RING], int n, int length)
{
    for (int open = 1; open >= 0; open--)
        for (int i = 0; i < n; i++) {
            if (open && !ring[i].first) continue;
            int run = 1;
            for (int k = i; run < length && ring[k].next >= 0 && ring[k].next != i; k = ring[k].next) run++;
            if (run >= length) return i;
        }
    return -1;
}

int32_t modal_tled_fans_make(modal_tled_fans *f, int32_t n, const int32_t (*corners)[4], const double (*positions)[3],
                             int longest, modal_tled_fan *out)
{
    const int32_t n_edges = longest > 1 ? find_edges(f, n, corners, positions) : 0;
    int32_t made = 0;
    wedge ring[RING];
    memset(f->taken, 0, (size_t)n);
    for (int length = longest; length > 1; length--)
        for (int32_t i = 0; i < n_edges; i++) {
            if (f->edges[i].n < length) continue;
            for (int n_ring = free_wedges(f, &f->edges[i], corners, ring); n_ring >= length;
                 n_ring = free_wedges(f, &f->edges[i], corners, ring)) {
                int k = find_run(ring, n_ring, length);
                if (k < 0) break;
                modal_tled_fan *fan = &out[made++];
                *fan = (modal_tled_fan){.n = length};
                fan->corners[0] = (int32_t)(f->edges[i].key >> 32);
                fan->corners[1] = (int32_t)(f->edges[i].key & 0xffffffffu);
                fan->corners[2] = ring[k].from;
                for (int w = 0; w < length; w++, k = ring[k].next) {
                    fan->corners[3 + w] = ring[k].to;
                    fan->elements[w] = ring[k].element;
                    f->taken[ring[k].element] = 1;
                }
            }
        }
    for (int32_t e = 0; e < n; e++)
        if (!f->taken[e]) {
            out[made] = (modal_tled_fan){.n = 1, .elements = {e}};
            memcpy(out[made++].corners, corners[e], sizeof corners[e]);
        }
    return made;
}
