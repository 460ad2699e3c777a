/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/octree/sheets.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/octree/build.h"
#include "lib/octree/edges.h"
#include "lib/octree/overlap.h"

enum { REACH = 2 }; /* cells around a sample that a search goes through, on each side */

void modal_sheets_free(modal_sheets *s)
{
    modal_bricks_free(&s->samples);
    modal_free(&s->cell_of);
    modal_free(&s->first);
    modal_free(&s->entries);
    modal_free(&s->pieces);
    modal_free(&s->cell_samples);
    modal_free(&s->piece_cells);
    modal_free(&s->link_offsets);
    modal_free(&s->links);
    modal_free(&s->homes);
    *s = (modal_sheets){0};
}

int64_t modal_sheets_sample(const modal_sheets *s, const int64_t c[3]) { return modal_bricks_sample(&s->samples, c); }

static int32_t cell_at(const modal_sheets *s, const int64_t c[3])
{
    const int64_t sample = modal_sheets_sample(s, c);
    return sample < 0 ? -1 : s->cell_of[sample];
}

static void point_of(const modal_sheets *s, int64_t sample, int64_t c[3])
{
    for (int k = 0; k < 3; k++) c[k] = modal_morton_squeeze((uint64_t)s->octree->keys[sample] >> k);
}

/* ---- triangles of cells ---- */

typedef struct filling {
    modal_sheets *sheets;
    int64_t *counts; /* [n_cells] */
    int32_t triangle;
    int fills; /* 0: only counts */
} filling;

static void meet(void *context, int axis, int64_t u, int64_t v, int64_t first, int64_t last)
{
    filling *f = context;
    int64_t c[3];
    c[(axis + 1) % 3] = u;
    c[(axis + 2) % 3] = v;
    for (c[axis] = first; c[axis] <= last; c[axis]++) {
        const int32_t cell = cell_at(f->sheets, c);
        if (cell < 0) continue;
        const int64_t at = __atomic_fetch_add(&f->counts[cell], 1, __ATOMIC_RELAXED);
        if (f->fills) f->sheets->entries[f->sheets->first[cell] + at] = f->triangle;
    }
}

static void go_through(modal_sheets *s, int64_t *counts, int fills)
{
    const double margin = modal_octree_margin(s->octree);
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(dynamic, 256)
    for (int64_t t = 0; t < s->octree->n_triangles; t++) {
        filling f = {s, counts, (int32_t)t, fills};
        double p[9];
        modal_octree_corners(&s->frame, s->triangles + 3 * t, p);
        modal_overlap_runs(p, -margin, 1 + margin, meet, &f);
    }
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static modal_status list_triangles(modal_sheets *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *counts = NULL;
    MODAL_TRY(modal_alloc_zero(&counts, s->n_cells, sizeof *counts, "cells", err));
    MODAL_TRY(modal_alloc(&s->first, s->n_cells + 1, sizeof *s->first, "cells", err));
    go_through(s, counts, 0);
    s->first[0] = 0;
    for (int64_t i = 0; i < s->n_cells; i++) {
        s->first[i + 1] = s->first[i] + counts[i];
        counts[i] = 0;
    }
    MODAL_TRY(modal_alloc(&s->entries, s->first[s->n_cells], sizeof *s->entries, "triangles of cells", err));
    MODAL_TRY(modal_alloc(&s->pieces, s->first[s->n_cells], sizeof *s->pieces, "triangles of cells", err));
    go_through(s, counts, 1);
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < s->n_cells; i++) /* in whatever order threads came */
        qsort(s->entries + s->first[i], (size_t)(s->first[i + 1] - s->first[i]), sizeof *s->entries, ascending);
done:
    modal_free(&counts);
    return status;
}

/* ---- pieces ---- */

/* Whether the segment ab meets the cell, grown as it was when triangles were looked for. */
static int edge_meets(const double *a, const double *b, const int64_t c[3], double margin)
{
    double from = 0, to = 1;
    for (int k = 0; k < 3; k++) {
        const double low = (double)c[k] - margin, high = (double)c[k] + 1 + margin;
        modal_overlap_narrow(b[k] - a[k], low - a[k], high - a[k], &from, &to);
    }
    return from <= to;
}

typedef struct side {
    int32_t edge;
    int32_t entry; /* of the cell, from 0 */
} side;

static int by_edge(const void *a, const void *b)
{
    const side *x = a, *y = b;
    return x->edge != y->edge ? (x->edge > y->edge) - (x->edge < y->edge) : (x->entry > y->entry) - (x->entry < y->entry);
}

static int32_t root_of(int32_t *parents, int32_t i)
{
    while (parents[i] != i) i = parents[i] = parents[parents[i]];
    return i;
}

static void unite(int32_t *parents, int32_t i, int32_t j)
{
    const int32_t a = root_of(parents, i), b = root_of(parents, j);
    if (a < b) parents[b] = a;
    else parents[a] = b;
}

/* Pieces of one cell, by their first entries in it; sides has room for three of every triangle. */
static void divide(modal_sheets *s, const int32_t *edges, int32_t cell, const int64_t c[3], double margin, side *sides)
{
    const int64_t first = s->first[cell];
    const int32_t n = (int32_t)(s->first[cell + 1] - first);
    int32_t *pieces = s->pieces + first;
    int64_t m = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t t = s->entries[first + i];
        double p[9];
        pieces[i] = i;
        if (n == 1) continue;
        modal_octree_corners(&s->frame, s->triangles + 3 * (int64_t)t, p);
        for (int k = 0; k < 3; k++)
            if (edge_meets(p + 3 * k, p + 3 * ((k + 1) % 3), c, margin)) sides[m++] = (side){edges[3 * (int64_t)t + k], i};
    }
    if (m > 0) qsort(sides, (size_t)m, sizeof *sides, by_edge);
    for (int64_t i = 1; i < m; i++)
        if (sides[i].edge == sides[i - 1].edge) unite(pieces, sides[i].entry, sides[i - 1].entry);
    for (int32_t i = 0; i < n; i++) pieces[i] = root_of(pieces, i);
}

static modal_status divide_cells(modal_sheets *s, const int32_t *edges, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double margin = modal_octree_margin(s->octree);
    const int n_threads = omp_get_max_threads();
    int64_t most = 0;
    side *sides = NULL;
    for (int64_t i = 0; i < s->n_cells; i++) most = s->first[i + 1] - s->first[i] > most ? s->first[i + 1] - s->first[i] : most;
    MODAL_TRY(modal_alloc(&sides, 3 * most * n_threads, sizeof *sides, "edges of a cell", err));
#pragma omp parallel for schedule(dynamic, 1024) num_threads(modal_free_threads(n_threads))
    for (int64_t i = 0; i < s->n_cells; i++) {
        int64_t c[3];
        point_of(s, s->cell_samples[i], c);
        divide(s, edges, (int32_t)i, c, margin, sides + 3 * most * omp_get_thread_num());
    }
    int64_t n = 0;
    for (int64_t i = 0; i < s->n_cells; i++)
        for (int64_t e = s->first[i]; e < s->first[i + 1]; e++) n += s->pieces[e] == (int32_t)(e - s->first[i]);
    if (n > INT32_MAX) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "pieces of the surface: at most %d, %lld", INT32_MAX, (long long)n);
    MODAL_TRY(modal_alloc(&s->piece_cells, n, sizeof *s->piece_cells, "pieces", err));
    for (int64_t i = 0; i < s->n_cells; i++) /* a piece's first entry comes before its others */
        for (int64_t e = s->first[i]; e < s->first[i + 1]; e++) {
            const int32_t head = s->pieces[e];
            if (head != (int32_t)(e - s->first[i])) {
                s->pieces[e] = s->pieces[s->first[i] + head];
                continue;
            }
            s->piece_cells[s->n_pieces] = (int32_t)i;
            s->pieces[e] = (int32_t)s->n_pieces++;
        }
done:
    modal_free(&sides);
    return status;
}

/* The entry of a triangle in a cell, or -1. */
static int64_t find_entry(const modal_sheets *s, int32_t cell, int32_t triangle)
{
    int64_t low = s->first[cell], high = s->first[cell + 1];
    const int64_t end = high;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (s->entries[middle] < triangle) low = middle + 1;
        else high = middle;
    }
    return low < end && s->entries[low] == triangle ? low : -1;
}

int32_t modal_sheets_piece(const modal_sheets *s, const int64_t lower[3], int32_t triangle)
{
    const int32_t cell = cell_at(s, lower);
    const int64_t entry = cell < 0 ? -1 : find_entry(s, cell, triangle);
    return entry < 0 ? -1 : s->pieces[entry];
}

/* ---- links ---- */

static int ascending_pairs(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

typedef struct pairs {
    uint64_t *all; /* piece of this cell << 32 | piece of the other */
    int64_t n, capacity;
} pairs;

static modal_status join(const modal_sheets *s, int32_t a, int32_t b, pairs *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t i = s->first[a], j = s->first[b];
    while (i < s->first[a + 1] && j < s->first[b + 1]) {
        if (s->entries[i] < s->entries[j]) i++;
        else if (s->entries[i] > s->entries[j]) j++;
        else {
            const uint64_t pair = (uint64_t)s->pieces[i++] << 32 | (uint32_t)s->pieces[j++];
            if (p->n && p->all[p->n - 1] == pair) continue;
            MODAL_TRY(modal_grow(&p->all, &p->capacity, p->n + 1, sizeof *p->all, "links", err));
            p->all[p->n++] = pair;
        }
    }
done:
    return status;
}

/* The pieces of a cell with all that they are linked to, each pair once. */
static modal_status join_around(const modal_sheets *s, int64_t cell, pairs *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t c[3], n = 0;
    int d[3];
    p->n = 0;
    point_of(s, s->cell_samples[cell], c);
    for (int bit = 0; bit < MODAL_OCTREE_AROUND; bit++) {
        modal_octree_offset(bit, d);
        const int64_t there[3] = {c[0] + d[0], c[1] + d[1], c[2] + d[2]};
        const int32_t other = cell_at(s, there);
        if (other >= 0) MODAL_TRY(join(s, (int32_t)cell, other, p, err));
    }
    if (p->n) qsort(p->all, (size_t)p->n, sizeof *p->all, ascending_pairs);
    for (int64_t i = 0; i < p->n; i++)
        if (i == 0 || p->all[i] != p->all[i - 1]) p->all[n++] = p->all[i];
    p->n = n;
done:
    return status;
}

/* Counts links into link_offsets[piece + 1], or lists them. */
static modal_status go_through_links(modal_sheets *s, modal_error *err)
{
    modal_status failed = MODAL_OK;
#pragma omp parallel num_threads(MODAL_TEAM)
    {
        pairs p = {0};
        modal_error mine = {0};
        modal_status status = MODAL_OK;
#pragma omp for schedule(dynamic, 1024)
        for (int64_t cell = 0; cell < s->n_cells; cell++) {
            if (status == MODAL_OK) status = join_around(s, cell, &p, &mine);
            for (int64_t i = 0, at = 0; i < p.n && status == MODAL_OK; i++) {
                const int64_t piece = (int64_t)(p.all[i] >> 32);
                at = i && piece == (int64_t)(p.all[i - 1] >> 32) ? at + 1 : 0;
                if (s->links) s->links[s->link_offsets[piece] + at] = (int32_t)(p.all[i] & UINT32_MAX);
                else s->link_offsets[piece + 1] = at + 1;
            }
        }
        if (status != MODAL_OK) {
#pragma omp critical
            *err = mine, failed = status;
        }
        modal_free(&p.all);
    }
    return failed;
}

static modal_status link_pieces(modal_sheets *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&s->link_offsets, s->n_pieces + 1, sizeof *s->link_offsets, "links", err));
    MODAL_TRY(go_through_links(s, err));
    for (int64_t i = 0; i < s->n_pieces; i++) s->link_offsets[i + 1] += s->link_offsets[i];
    MODAL_TRY(modal_alloc(&s->links, s->link_offsets[s->n_pieces], sizeof *s->links, "links", err));
    MODAL_TRY(go_through_links(s, err));
done:
    return status;
}

/* Where samples belong. The nearest point is in a cell that its triangle meets. */
static void find_homes(modal_sheets *s)
{
    const modal_octree *o = s->octree;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < o->n_samples; i++) {
        int64_t c[3];
        double p[9], x[3], w[2];
        point_of(s, i, c);
        for (int k = 0; k < 3; k++) x[k] = (double)c[k];
        modal_octree_corners(&s->frame, s->triangles + 3 * (int64_t)o->triangles[i], p);
        modal_octree_closest(p, x, w);
        for (int k = 0; k < 3; k++) c[k] = (int64_t)floor(p[k] + w[0] * (p[3 + k] - p[k]) + w[1] * (p[6 + k] - p[k]));
        s->homes[i] = modal_sheets_piece(s, c, o->triangles[i]);
    }
}

/* The surface lies in the cube as formats/octree.md says: a file with another size or origin would have triangles go through any number of cells. */
static modal_status check_cube(const modal_sheets *s, int64_t n_triangles, modal_error *err)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, longest = 0;
    int fits = 1;
    for (int64_t t = 0; t < n_triangles; t++) {
        double p[9];
        modal_octree_corners(&s->frame, s->triangles + 3 * t, p);
        for (int i = 0; i < 9; i++) low[i % 3] = fmin(low[i % 3], p[i]), high[i % 3] = fmax(high[i % 3], p[i]);
    }
    for (int k = 0; k < 3; k++) {
        longest = fmax(longest, high[k] - low[k]);
        fits &= fabs(low[k] - MODAL_OCTREE_BEFORE) < 1;
    }
    const double room = ldexp(1.0, modal_octree_bits(s->octree)) - MODAL_OCTREE_AROUND_SURFACE;
    if (fits && fabs(longest - room) < 1) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_INPUT, "/tree: its cube is not that of the surface, whose longest side takes %g cells, not %g", longest, room);
}

modal_status modal_sheets_make(const modal_octree *o, const double *positions, int64_t n_vertices, const int32_t *triangles, int64_t n_triangles,
                               modal_sheets *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    char text[MODAL_HASH_TEXT];
    int32_t *edges = NULL;
    const int64_t width = (int64_t)1 << 3 * modal_octree_side_bits(o);
    *s = (modal_sheets){.octree = o, .triangles = triangles, .n_cells = o->n_cells,
                        .frame = {positions, {o->origin[0], o->origin[1], o->origin[2]}, ldexp(1.0, modal_octree_bits(o)) / o->size}};
    MODAL_TRY(modal_octree_sign(positions, n_vertices, triangles, n_triangles, text, err));
    if (n_triangles != o->n_triangles || strcmp(text, o->source_hash) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "another surface than the texture was built around, hash %s, not %s", text, o->source_hash);
    MODAL_TRY(check_cube(s, n_triangles, err));
    if (n_triangles > INT32_MAX / 3) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "triangles: at most %d, %lld", INT32_MAX / 3, (long long)n_triangles);
    MODAL_TRY(modal_bricks_of_keys(o->keys, o->n_samples, &s->samples, err));
    MODAL_TRY(modal_alloc(&s->cell_of, o->n_samples, sizeof *s->cell_of, "cells", err));
    MODAL_TRY(modal_alloc(&s->cell_samples, s->n_cells, sizeof *s->cell_samples, "cells", err));
    for (int64_t i = o->node_offsets[o->depth - 1] * width, cell = 0; i < o->n_nodes * width; i++) {
        if (o->cells[i] >= 0) continue;
        const int64_t sample = modal_octree_leaf_sample(o->cells[i]);
        const int begins = modal_octree_leaf_begins(o->cells[i]);
        s->cell_of[sample] = begins ? (int32_t)cell : -1;
        if (begins) s->cell_samples[cell++] = (int32_t)sample;
    }
    MODAL_TRY(list_triangles(s, err));
    MODAL_TRY(modal_alloc(&edges, 3 * n_triangles, sizeof *edges, "edges", err));
    MODAL_TRY(modal_surface_edges(positions, n_vertices, triangles, n_triangles, edges, NULL, err));
    MODAL_TRY(divide_cells(s, edges, err));
    MODAL_TRY(modal_alloc(&s->homes, o->n_samples, sizeof *s->homes, "samples", err));
    MODAL_TRY(link_pieces(s, err));
    find_homes(s);
done:
    modal_free(&edges);
    return status;
}

/* ---- what is near ---- */

static int is_linked(const modal_sheets *s, int32_t a, int32_t b)
{
    for (int64_t i = s->link_offsets[a]; i < s->link_offsets[a + 1]; i++)
        if (s->links[i] == b) return 1;
    return 0;
}

static int has_reached(const modal_sheets_near *near, int32_t piece)
{
    for (int i = 0; i < near->n; i++)
        if (near->pieces[i] == piece) return 1;
    return 0;
}

/* Breadth first. A piece outside of the box is reached and not gone on from: it may be where a search ends. */
static void search(modal_sheets_near *near)
{
    const modal_sheets *s = near->sheets;
    int64_t c[3], at[3];
    point_of(s, near->sample, at);
    near->searched = 1;
    near->pieces[near->n++] = s->homes[near->sample];
    for (int i = 0; i < near->n; i++) {
        const int32_t piece = near->pieces[i];
        int in = 1;
        point_of(s, s->cell_samples[s->piece_cells[piece]], c);
        for (int k = 0; k < 3; k++) in &= c[k] >= at[k] - REACH && c[k] < at[k] + REACH;
        for (int64_t l = s->link_offsets[piece]; (in || i == 0) && l < s->link_offsets[piece + 1]; l++)
            if (near->n < MODAL_SHEETS_NEAR && !has_reached(near, s->links[l])) near->pieces[near->n++] = s->links[l];
    }
}

int modal_sheets_is_near(modal_sheets_near *near, int32_t piece)
{
    const modal_sheets *s = near->sheets;
    const int32_t home = s->homes[near->sample];
    if (home < 0 || piece < 0) return 0;
    if (home == piece || (!near->searched && is_linked(s, home, piece))) return 1;
    if (!near->searched) search(near);
    return has_reached(near, piece);
}

void modal_sheets_corners(const modal_sheets *s, int32_t piece, int64_t samples[8])
{
    int64_t lower[3], all[8];
    int n = 0;
    point_of(s, s->cell_samples[s->piece_cells[piece]], lower);
    for (int k = 0; k < 8; k++) {
        const int64_t c[3] = {lower[0] + (k & 1), lower[1] + (k >> 1 & 1), lower[2] + (k >> 2)};
        modal_sheets_near near = {.sheets = s, .sample = modal_sheets_sample(s, c)};
        all[k] = near.sample;
        samples[k] = modal_sheets_is_near(&near, piece) ? near.sample : -1;
        n += samples[k] >= 0;
    }
    if (n == 0) memcpy(samples, all, sizeof all);
}

void modal_sheets_weights(const int64_t samples[8], const double x[3], double weights[8])
{
    double sum = 0, f[3];
    int n = 0;
    for (int k = 0; k < 3; k++) f[k] = fmin(1, fmax(0, x[k])); /* off by rounding */
    for (int k = 0; k < 8; k++) {
        weights[k] = samples[k] < 0 ? 0 : (k & 1 ? f[0] : 1 - f[0]) * (k & 2 ? f[1] : 1 - f[1]) * (k & 4 ? f[2] : 1 - f[2]);
        sum += weights[k];
        n += samples[k] >= 0;
    }
    for (int k = 0; k < 8; k++) weights[k] = sum > 1e-9 ? weights[k] / sum : samples[k] < 0 ? 0 : 1.0 / n;
}
