/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/surface_check.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/point_table.h"
#include "lib/base/sort.h"

static int32_t next_corner(int32_t corner) { return corner % 3 == 2 ? corner - 2 : corner + 1; }

modal_status modal_surface_edges(const modal_surface_mesh *surface, uint64_t **keys, int32_t **corners,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n = 3 * surface->n_triangles;
    *keys = NULL;
    *corners = NULL;
    if (n > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "too many triangles, %lld", (long long)surface->n_triangles);
    MODAL_TRY(modal_alloc(keys, n, sizeof **keys, "edges", err));
    MODAL_TRY(modal_alloc(corners, n, sizeof **corners, "edges", err));
    for (int32_t c = 0; c < (int32_t)n; c++) {
        uint32_t a = (uint32_t)surface->triangles[c], b = (uint32_t)surface->triangles[next_corner(c)];
        (*keys)[c] = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
        (*corners)[c] = c;
    }
    MODAL_TRY(modal_sort_by_key(n, *keys, *corners, err));
done:
    if (status != MODAL_OK) {
        modal_free(keys);
        modal_free(corners);
    }
    return status;
}

static int32_t find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static void unite(int32_t *parent, int32_t a, int32_t b)
{
    a = find_root(parent, a);
    b = find_root(parent, b);
    if (a < b) parent[b] = a;
    else parent[a] = b;
}

static void note_edge(int32_t edge[2], uint64_t key)
{
    if (edge[0] >= 0) return;
    edge[0] = (int32_t)(key >> 32);
    edge[1] = (int32_t)(key & 0xFFFFFFFF);
}

/* Edges, and the fans around vertices: corners of one vertex that an edge of two triangles joins. */
static modal_status check_edges(const modal_surface_mesh *surface, modal_surface_summary *s,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t *vertices = surface->triangles;
    int64_t n = 3 * surface->n_triangles;
    uint64_t *keys = NULL;
    int32_t *corners = NULL, *fan = NULL, *hole = NULL, *root = NULL;
    MODAL_TRY(modal_surface_edges(surface, &keys, &corners, err));
    MODAL_TRY(modal_alloc(&fan, n, sizeof *fan, "fans", err));
    MODAL_TRY(modal_alloc(&hole, surface->n_vertices, sizeof *hole, "holes", err));
    MODAL_TRY(modal_alloc(&root, surface->n_vertices, sizeof *root, "fans", err));
    for (int32_t c = 0; c < (int32_t)n; c++) fan[c] = c;
    for (int64_t v = 0; v < surface->n_vertices; v++) hole[v] = -1, root[v] = -1;
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && keys[end] == keys[i];) end++;
        int32_t a = corners[i], b = corners[end - 1];
        if (end - i == 1) {
            s->n_open_edges++;
            note_edge(s->open_edge, keys[i]);
            for (int k = 0; k < 2; k++) {
                int32_t v = vertices[k ? next_corner(a) : a];
                if (hole[v] < 0) hole[v] = v;
            }
            unite(hole, vertices[a], vertices[next_corner(a)]);
        } else if (end - i > 2) {
            s->n_shared_edges++;
            note_edge(s->shared_edge, keys[i]);
        } else {
            int is_turned = vertices[a] == vertices[b];
            if (is_turned) {
                s->n_turned_edges++;
                note_edge(s->turned_edge, keys[i]);
            }
            unite(fan, a, is_turned ? b : next_corner(b));
            unite(fan, next_corner(a), is_turned ? next_corner(b) : b);
        }
    }
    for (int64_t v = 0; v < surface->n_vertices; v++) s->n_holes += hole[v] == v;
    /* A vertex of a shared edge has several fans for that reason; others are pinched. */
    for (int32_t c = 0; c < (int32_t)n && s->n_shared_edges == 0; c++) {
        int32_t v = vertices[c], f = find_root(fan, c);
        if (root[v] == -1) root[v] = f;
        else if (root[v] >= 0 && root[v] != f) {
            root[v] = -2; /* counted */
            s->n_pinched_vertices++;
            if (s->pinched_vertex < 0 || v < s->pinched_vertex) s->pinched_vertex = v;
        }
    }
done:
    modal_free(&keys);
    modal_free(&corners);
    modal_free(&fan);
    modal_free(&hole);
    modal_free(&root);
    return status;
}

/* Vertices: used, at one place; components. */
static modal_status check_vertices(const modal_surface_mesh *surface, modal_surface_summary *s,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *parent = NULL;
    modal_point_table table = {0};
    MODAL_TRY(modal_alloc(&parent, surface->n_vertices, sizeof *parent, "components", err));
    for (int64_t v = 0; v < surface->n_vertices; v++) parent[v] = -1;
    for (int64_t c = 0; c < 3 * surface->n_triangles; c++)
        parent[surface->triangles[c]] = surface->triangles[c];
    for (int64_t c = 0; c < 3 * surface->n_triangles; c += 3)
        for (int k = 1; k < 3; k++) unite(parent, surface->triangles[c], surface->triangles[c + k]);
    for (int32_t v = 0; v < (int32_t)surface->n_vertices; v++) {
        int32_t earlier;
        if (parent[v] < 0) {
            s->n_unused++;
            continue;
        }
        s->n_components += parent[v] == v;
        MODAL_TRY(modal_point_table_add(&table, surface->positions, v, &earlier, err));
        if (earlier >= 0 && s->n_duplicate_vertices++ == 0) {
            s->duplicate_vertex[0] = earlier;
            s->duplicate_vertex[1] = v;
        }
    }
done:
    modal_free(&parent);
    modal_point_table_free(&table);
    return status;
}

/* Triangles of the same vertices: sorted by two of them, then by the third. */
static modal_status check_duplicates(const modal_surface_mesh *surface, modal_surface_summary *s,
                                     modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n = surface->n_triangles;
    uint64_t *keys = NULL;
    int32_t *order = NULL;
    MODAL_TRY(modal_alloc(&keys, n, sizeof *keys, "triangles", err));
    MODAL_TRY(modal_alloc(&order, n, sizeof *order, "triangles", err));
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < n; i++) {
            int32_t t = pass ? order[i] : (int32_t)i;
            const int32_t *v = surface->triangles + 3 * (int64_t)t;
            int32_t low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0], third = v[2];
            int32_t least = third < low ? third : low, most = third > high ? third : high;
            int32_t middle = low + (high - least) + (third - most); /* the one that is left */
            keys[i] = pass ? (uint64_t)(uint32_t)least << 32 | (uint32_t)middle : (uint32_t)most;
            order[i] = t;
        }
        MODAL_TRY(modal_sort_by_key(n, keys, order, err));
    }
    for (int64_t i = 1; i < n; i++) {
        const int32_t *a = surface->triangles + 3 * (int64_t)order[i - 1],
                      *b = surface->triangles + 3 * (int64_t)order[i];
        int same = 0;
        for (int k = 0; k < 3; k++) same += b[k] == a[0] || b[k] == a[1] || b[k] == a[2];
        if (same < 3) continue;
        if (s->n_duplicates++ == 0 || order[i] < s->duplicate[1]) {
            s->duplicate[0] = order[i - 1];
            s->duplicate[1] = order[i];
        }
    }
done:
    modal_free(&keys);
    modal_free(&order);
    return status;
}

static void measure(const modal_surface_mesh *surface, modal_surface_summary *s)
{
    double sum = 0;
    s->shortest_edge = INFINITY;
    for (int k = 0; k < 3; k++) s->box_min[k] = INFINITY, s->box_max[k] = -INFINITY;
    for (int64_t t = 0; t < surface->n_triangles; t++) {
        const double *x[3];
        double edges[2][3], normal[3], longest = 0, volume = 0, square = 0;
        for (int k = 0; k < 3; k++) x[k] = surface->positions + 3 * (int64_t)surface->triangles[3 * t + k];
        for (int k = 0; k < 3; k++) {
            double length = 0;
            for (int j = 0; j < 3; j++) {
                double d = x[(k + 1) % 3][j] - x[k][j];
                length += d * d;
                s->box_min[j] = fmin(s->box_min[j], x[k][j]);
                s->box_max[j] = fmax(s->box_max[j], x[k][j]);
                if (k < 2) edges[k][j] = x[k + 1][j] - x[0][j];
            }
            length = sqrt(length);
            longest = fmax(longest, length);
            s->shortest_edge = fmin(s->shortest_edge, length);
            s->longest_edge = fmax(s->longest_edge, length);
            sum += length;
        }
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            normal[k] = edges[0][i] * edges[1][j] - edges[0][j] * edges[1][i];
            square += normal[k] * normal[k];
            /* From the first corner of the surface, which loses fewer digits far from the origin. */
            volume += normal[k] * (x[0][k] - surface->positions[3 * (int64_t)surface->triangles[0] + k]);
        }
        s->area += sqrt(square) / 2;
        s->volume += volume / 6;
        if (!(sqrt(square) > 1e-12 * longest * longest)) {
            if (s->n_flat++ == 0) s->flat = (int32_t)t;
        }
    }
    s->mean_edge = surface->n_triangles > 0 ? sum / (3.0 * (double)surface->n_triangles) : 0;
}

modal_status modal_surface_check(const modal_surface_mesh *surface, modal_surface_summary *summary,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_summary s = {.n_vertices = surface->n_vertices, .n_triangles = surface->n_triangles};
    for (int k = 0; k < 2; k++)
        s.open_edge[k] = s.shared_edge[k] = s.turned_edge[k] = s.duplicate[k] = s.intersection[k] = s.overlap[k] =
            s.duplicate_vertex[k] = -1;
    s.flat = s.pinched_vertex = -1;
    MODAL_TRY(check_edges(surface, &s, err));
    MODAL_TRY(check_vertices(surface, &s, err));
    MODAL_TRY(check_duplicates(surface, &s, err));
    measure(surface, &s);
    modal_surface_pairs crossing, overlapping;
    MODAL_TRY(modal_surface_intersections(surface, &crossing, &overlapping, err));
    s.n_intersections = crossing.count;
    s.n_overlaps = overlapping.count;
    memcpy(s.intersection, crossing.first, sizeof s.intersection);
    memcpy(s.overlap, overlapping.first, sizeof s.overlap);
    *summary = s;
done:
    return status;
}

int modal_surface_is_sound(const modal_surface_summary *s)
{
    return s->n_triangles > 0 && s->n_open_edges == 0 && s->n_shared_edges == 0 &&
           s->n_turned_edges == 0 && s->n_duplicates == 0 && s->n_flat == 0 && s->n_intersections == 0 && s->n_overlaps == 0 &&
           s->n_duplicate_vertices == 0 && s->n_pinched_vertices == 0;
}

static const double *at(const modal_surface_mesh *surface, int32_t vertex)
{
    return surface->positions + 3 * (int64_t)vertex;
}

static modal_status fault_at_edge(const modal_surface_mesh *surface, const char *what,
                                  int64_t n, const int32_t edge[2], modal_error *err)
{
    const double *x = at(surface, edge[0]), *y = at(surface, edge[1]);
    return modal_error_set(err, MODAL_ERROR_INPUT,
                           "%s, %lld; the first from vertex %d to %d, near %.4g %.4g %.4g", what,
                           (long long)n, edge[0], edge[1], (x[0] + y[0]) / 2, (x[1] + y[1]) / 2,
                           (x[2] + y[2]) / 2);
}

static modal_status fault_at_triangles(const modal_surface_mesh *surface, const char *what, int64_t n, int32_t a, int32_t b, modal_error *err)
{
    const double *x = at(surface, surface->triangles[3 * (int64_t)a]);
    if (b < 0)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s, %lld; the first is %d, near %.4g %.4g %.4g",
                               what, (long long)n, a, x[0], x[1], x[2]);
    return modal_error_set(err, MODAL_ERROR_INPUT, "%s, %lld; the first are %d and %d, near %.4g %.4g %.4g",
                           what, (long long)n, a, b, x[0], x[1], x[2]);
}

modal_status modal_surface_explain(const modal_surface_mesh *surface, const modal_surface_summary *s, modal_error *err)
{
    if (s->n_triangles == 0) return modal_error_set(err, MODAL_ERROR_INPUT, "no triangles");
    if (s->n_duplicates > 0)
        return fault_at_triangles(surface, "duplicate triangles", s->n_duplicates, s->duplicate[0],
                                  s->duplicate[1], err);
    if (s->n_shared_edges > 0)
        return fault_at_edge(surface, "not manifold: edges of three or more triangles",
                             s->n_shared_edges, s->shared_edge, err);
    if (s->n_open_edges > 0)
        return fault_at_edge(surface, "not closed: edges of one triangle", s->n_open_edges,
                             s->open_edge, err);
    if (s->n_turned_edges > 0)
        return fault_at_edge(surface, "not oriented: edges whose triangles face different ways",
                             s->n_turned_edges, s->turned_edge, err);
    if (s->n_intersections > 0)
        return fault_at_triangles(surface, "self-intersecting: pairs of triangles that cross",
                                  s->n_intersections, s->intersection[0], s->intersection[1], err);
    if (s->n_overlaps > 0)
        return fault_at_triangles(surface, "self-intersecting: pairs of triangles that overlap in one plane",
                                  s->n_overlaps, s->overlap[0], s->overlap[1], err);
    if (s->n_flat > 0)
        return fault_at_triangles(surface, "triangles without area", s->n_flat, s->flat, -1, err);
    if (s->n_duplicate_vertices > 0)
        return fault_at_edge(surface, "vertices at the place of another one", s->n_duplicate_vertices,
                             s->duplicate_vertex, err);
    if (s->n_pinched_vertices > 0) {
        const double *x = at(surface, s->pinched_vertex);
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "not manifold: vertices where parts touch, %lld; the first is %d, near "
                               "%.4g %.4g %.4g",
                               (long long)s->n_pinched_vertices, s->pinched_vertex, x[0], x[1], x[2]);
    }
    return MODAL_OK;
}
