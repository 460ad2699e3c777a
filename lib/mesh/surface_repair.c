/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/surface_repair.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/point_table.h"
#include "lib/base/sort.h"
#include "lib/mesh/surface_check.h"

static int32_t next_corner(int32_t corner) { return corner % 3 == 2 ? corner - 2 : corner + 1; }

static modal_status merge_vertices(modal_surface_mesh *surface, modal_surface_repairs *r,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_point_table table = {0};
    int32_t *same = NULL;
    int64_t kept = 0;
    MODAL_TRY(modal_alloc(&same, surface->n_vertices, sizeof *same, "vertices", err));
    for (int32_t v = 0; v < (int32_t)surface->n_vertices; v++) {
        int32_t earlier;
        MODAL_TRY(modal_point_table_add(&table, surface->positions, v, &earlier, err));
        same[v] = earlier >= 0 ? earlier : v;
    }
    for (int64_t t = 0; t < surface->n_triangles; t++) {
        int32_t *triangle = surface->triangles + 3 * t, v[3];
        for (int k = 0; k < 3; k++) {
            v[k] = same[triangle[k]];
            r->merged_vertices += v[k] != triangle[k];
        }
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) {
            r->removed_flat++;
            continue;
        }
        memcpy(surface->triangles + 3 * kept, v, sizeof v);
        if (surface->triangle_part) surface->triangle_part[kept] = surface->triangle_part[t];
        if (surface->triangle_material) surface->triangle_material[kept] = surface->triangle_material[t];
        kept++;
    }
    surface->n_triangles = kept;
    /* Of vertices, not of corners. */
    if (r->merged_vertices > 0) {
        r->merged_vertices = 0;
        for (int64_t v = 0; v < surface->n_vertices; v++) r->merged_vertices += same[v] != v;
    }
done:
    modal_free(&same);
    modal_point_table_free(&table);
    return status;
}

static modal_status remove_duplicates(modal_surface_mesh *surface, modal_surface_repairs *r,
                                      modal_error *err)
{
    modal_status status = MODAL_OK;
    uint64_t *keys = NULL;
    int32_t *corners = NULL;
    uint8_t *is_gone = NULL;
    int64_t n = 3 * surface->n_triangles, kept = 0;
    MODAL_TRY(modal_surface_edges(surface, &keys, &corners, err));
    MODAL_TRY(modal_alloc_zero(&is_gone, surface->n_triangles, 1, "triangles", err));
    /* Two triangles of the same vertices meet at each of their edges; corners ascend within an edge. */
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && keys[end] == keys[i];) end++;
        for (int64_t a = i; a < end && end - i < 64; a++)
            for (int64_t b = a + 1; b < end; b++) {
                int32_t s = corners[a] / 3, t = corners[b] / 3;
                int32_t opposite_s = surface->triangles[next_corner(next_corner(corners[a]))],
                        opposite_t = surface->triangles[next_corner(next_corner(corners[b]))];
                if (s != t && opposite_s == opposite_t) is_gone[t] = 1;
            }
    }
    for (int64_t t = 0; t < surface->n_triangles; t++) {
        r->removed_duplicates += is_gone[t];
        if (is_gone[t]) continue;
        memmove(surface->triangles + 3 * kept, surface->triangles + 3 * t, 3 * sizeof(int32_t));
        if (surface->triangle_part) surface->triangle_part[kept] = surface->triangle_part[t];
        if (surface->triangle_material) surface->triangle_material[kept] = surface->triangle_material[t];
        kept++;
    }
    surface->n_triangles = kept;
done:
    modal_free(&keys);
    modal_free(&corners);
    modal_free(&is_gone);
    return status;
}

/* The corner on the other side of each corner's edge, where the edge has two triangles; -1 where it has
 * one, -2 where it has more. */
static modal_status find_opposites(const modal_surface_mesh *surface, int32_t **opposite,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    uint64_t *keys = NULL;
    int32_t *corners = NULL;
    int64_t n = 3 * surface->n_triangles;
    MODAL_TRY(modal_surface_edges(surface, &keys, &corners, err));
    MODAL_TRY(modal_alloc(opposite, n, sizeof **opposite, "edges", err));
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && keys[end] == keys[i];) end++;
        for (int64_t k = i; k < end; k++)
            (*opposite)[corners[k]] = end - i == 2 ? corners[k == i ? i + 1 : i] : end - i == 1 ? -1 : -2;
    }
done:
    modal_free(&keys);
    modal_free(&corners);
    return status;
}

static void normal_of(const modal_surface_mesh *surface, int32_t t, double normal[3])
{
    const double *x[3];
    double e[2][3];
    for (int k = 0; k < 3; k++) x[k] = surface->positions + 3 * (int64_t)surface->triangles[3 * (int64_t)t + k];
    for (int k = 0; k < 3; k++) e[0][k] = x[1][k] - x[0][k], e[1][k] = x[2][k] - x[0][k];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        normal[k] = e[0][i] * e[1][j] - e[0][j] * e[1][i];
    }
}

static double angle_between(const modal_surface_mesh *surface, int32_t s, int32_t t)
{
    double a[3], b[3], dot = 0, aa = 0, bb = 0;
    normal_of(surface, s, a);
    normal_of(surface, t, b);
    for (int k = 0; k < 3; k++) dot += a[k] * b[k], aa += a[k] * a[k], bb += b[k] * b[k];
    return aa > 0 && bb > 0 ? acos(fmin(fmax(dot / sqrt(aa * bb), -1), 1)) : 0;
}

/* Walks from triangle to triangle through edges of two; `turn` (or NULL) gets 1 for those that must be
 * turned to agree with the first of their part. */
static modal_status walk(const modal_surface_mesh *surface, double angle, int32_t *part,
                         int32_t *n_parts, uint8_t *turn, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *opposite = NULL, *stack = NULL;
    int64_t n = surface->n_triangles, n_stack;
    MODAL_TRY(find_opposites(surface, &opposite, err));
    MODAL_TRY(modal_alloc(&stack, n, sizeof *stack, "triangles", err));
    for (int64_t t = 0; t < n; t++) part[t] = -1;
    *n_parts = 0;
    for (int32_t seed = 0; seed < (int32_t)n; seed++) {
        if (part[seed] >= 0) continue;
        part[seed] = *n_parts;
        stack[0] = seed;
        for (n_stack = 1; n_stack > 0;) {
            int32_t t = stack[--n_stack];
            for (int32_t c = 3 * t; c < 3 * t + 3; c++) {
                int32_t other = opposite[c] / 3;
                if (opposite[c] < 0 || part[other] >= 0) continue;
                if (angle < 4 && !(angle_between(surface, t, other) <= angle)) continue;
                part[other] = *n_parts;
                if (turn) turn[other] = turn[t] ^ (surface->triangles[c] == surface->triangles[opposite[c]]);
                stack[n_stack++] = other;
            }
        }
        ++*n_parts;
    }
done:
    modal_free(&opposite);
    modal_free(&stack);
    return status;
}

modal_status modal_surface_parts(const modal_surface_mesh *surface, double angle, int32_t *part,
                                 int32_t *n_parts, modal_error *err)
{
    return walk(surface, angle, part, n_parts, NULL, err);
}

/* Makes neighbours agree, then turns parts that enclose a negative volume. */
static modal_status orient(modal_surface_mesh *surface, modal_surface_repairs *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *part = NULL, n_parts = 0;
    uint8_t *turn = NULL;
    double *volume = NULL;
    int64_t n = surface->n_triangles;
    MODAL_TRY(modal_alloc(&part, n, sizeof *part, "parts", err));
    MODAL_TRY(modal_alloc_zero(&turn, n, 1, "triangles", err));
    MODAL_TRY(walk(surface, 10, part, &n_parts, turn, err));
    MODAL_TRY(modal_alloc_zero(&volume, n_parts, sizeof *volume, "parts", err));
    for (int64_t t = 0; t < n; t++) {
        double normal[3];
        const double *x = surface->positions + 3 * (int64_t)surface->triangles[3 * t],
                     *origin = surface->positions + 3 * (int64_t)surface->triangles[0];
        normal_of(surface, (int32_t)t, normal);
        for (int k = 0; k < 3; k++)
            volume[part[t]] += (turn[t] ? -1 : 1) * normal[k] * (x[k] - origin[k]);
    }
    for (int64_t t = 0; t < n; t++) {
        if (!(turn[t] ^ (volume[part[t]] < 0))) continue;
        int32_t *v = surface->triangles + 3 * t, second = v[1];
        v[1] = v[2];
        v[2] = second;
        r->turned_triangles++;
    }
done:
    modal_free(&part);
    modal_free(&turn);
    modal_free(&volume);
    return status;
}

static double fan_area(const modal_surface_mesh *surface, const int32_t *loop, int n, int apex)
{
    double area = 0;
    const double *a = surface->positions + 3 * (int64_t)loop[apex];
    for (int i = 1; i + 1 < n; i++) {
        const double *b = surface->positions + 3 * (int64_t)loop[(apex + i) % n],
                     *c = surface->positions + 3 * (int64_t)loop[(apex + i + 1) % n];
        double square = 0;
        for (int k = 0; k < 3; k++) {
            int p = (k + 1) % 3, q = (k + 2) % 3;
            double x = (b[p] - a[p]) * (c[q] - a[q]) - (b[q] - a[q]) * (c[p] - a[p]);
            square += x * x;
        }
        area += sqrt(square);
    }
    return area;
}

/* From an open edge, around the vertex that it begins at, to the open edge that ends there: the next one
 * around the hole, which runs against its triangles. -1 where other faults are in the way. */
static int32_t next_open_edge(const modal_surface_mesh *surface, const int32_t *opposite, int32_t corner)
{
    int32_t vertex = surface->triangles[corner], at = next_corner(next_corner(corner));
    for (int i = 0; i < 1000 && opposite[at] >= 0; i++) {
        if (surface->triangles[opposite[at]] != vertex) return -1; /* turned */
        at = next_corner(next_corner(opposite[at]));
    }
    return opposite[at] == -1 ? at : -1;
}

typedef struct filler {
    const modal_surface_mesh *surface;
    int32_t *opposite, *added;
    int64_t n_added, capacity, n_filled;
} filler;

/* The fan of least area over the hole's own vertices. */
static modal_status fill(filler *f, const int32_t *loop, const int32_t *edges, int length, modal_error *err)
{
    modal_status status = MODAL_OK;
    int best = 0;
    for (int apex = 1; apex < length; apex++)
        if (fan_area(f->surface, loop, length, apex) < fan_area(f->surface, loop, length, best)) best = apex;
    for (int i = 1; i + 1 < length; i++) {
        MODAL_TRY(modal_grow(&f->added, &f->capacity, f->n_added + 1, 3 * sizeof *f->added, "triangles", err));
        int32_t *triangle = f->added + 3 * f->n_added++;
        triangle[0] = loop[best];
        triangle[1] = loop[(best + i) % length];
        triangle[2] = loop[(best + i + 1) % length];
    }
    for (int i = 0; i < length; i++) f->opposite[edges[i]] = -2; /* no more open */
    f->n_filled++;
done:
    return status;
}

/* Goes around from an open edge. Where several holes meet at a vertex the way leads through all of them:
 * what lies between two visits of a vertex is one of them. */
static modal_status fill_from(filler *f, int32_t corner, modal_error *err)
{
    enum { LONGEST = 8 * MODAL_PINHOLE_EDGES };
    modal_status status = MODAL_OK;
    int32_t way[LONGEST], edges[LONGEST], loop[LONGEST];
    int n = 0, depth = 0;
    for (int32_t at = corner; n == 0 || at != corner; at = next_open_edge(f->surface, f->opposite, at)) {
        if (n == LONGEST || at < 0) return MODAL_OK;
        way[n++] = at;
    }
    for (int i = 0; i < n; i++) {
        edges[depth] = way[i];
        loop[depth++] = f->surface->triangles[next_corner(way[i])];
        int32_t end = f->surface->triangles[way[i]];
        int first = depth - 1;
        while (first >= 0 && loop[first] != end) first--;
        if (first < 0) continue;
        int length = depth - first;
        if (length >= 3 && length <= MODAL_PINHOLE_EDGES)
            MODAL_TRY(fill(f, loop + first, edges + first, length, err));
        depth = first;
    }
done:
    return status;
}

/* Closes the holes of few edges. */
static modal_status fill_pinholes(modal_surface_mesh *surface, modal_surface_repairs *r,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *longer = NULL, *part = NULL;
    filler f = {.surface = surface};
    MODAL_TRY(find_opposites(surface, &f.opposite, err));
    for (int32_t corner = 0; corner < (int32_t)(3 * surface->n_triangles); corner++)
        if (f.opposite[corner] == -1) MODAL_TRY(fill_from(&f, corner, err));
    r->filled_holes = f.n_filled;
    r->added_triangles = f.n_added;
    if (f.n_added == 0) goto done;
    MODAL_TRY(modal_alloc(&longer, 3 * (surface->n_triangles + f.n_added), sizeof *longer, "triangles", err));
    memcpy(longer, surface->triangles, 3 * (size_t)surface->n_triangles * sizeof *longer);
    memcpy(longer + 3 * surface->n_triangles, f.added, 3 * (size_t)f.n_added * sizeof *longer);
    int32_t **of_triangles[] = {&surface->triangle_part, &surface->triangle_material};
    for (int i = 0; i < 2; i++) {
        if (!*of_triangles[i]) continue;
        MODAL_TRY(modal_alloc(&part, surface->n_triangles + f.n_added, sizeof *part, "parts", err));
        memcpy(part, *of_triangles[i], (size_t)surface->n_triangles * sizeof *part);
        for (int64_t t = 0; t < f.n_added; t++) part[surface->n_triangles + t] = -1;
        modal_free(of_triangles[i]);
        *of_triangles[i] = part;
    }
    modal_free(&surface->triangles);
    surface->triangles = longer;
    longer = NULL;
    surface->n_triangles += f.n_added;
done:
    modal_free(&longer);
    modal_free(&f.opposite);
    modal_free(&f.added);
    return status;
}

static modal_status remove_unused(modal_surface_mesh *surface, modal_surface_repairs *r,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *number = NULL;
    int64_t kept = 0;
    MODAL_TRY(modal_alloc_zero(&number, surface->n_vertices, sizeof *number, "vertices", err));
    for (int64_t c = 0; c < 3 * surface->n_triangles; c++) number[surface->triangles[c]] = 1;
    for (int64_t v = 0; v < surface->n_vertices; v++) {
        if (!number[v]) continue;
        memmove(surface->positions + 3 * kept, surface->positions + 3 * v, 3 * sizeof(double));
        if (surface->colours) memmove(surface->colours + 4 * kept, surface->colours + 4 * v, 4);
        number[v] = (int32_t)kept++;
    }
    for (int64_t c = 0; c < 3 * surface->n_triangles; c++)
        surface->triangles[c] = number[surface->triangles[c]];
    r->removed_vertices = surface->n_vertices - kept - r->merged_vertices;
    surface->n_vertices = kept;
done:
    modal_free(&number);
    return status;
}

modal_status modal_surface_repair(modal_surface_mesh *surface, modal_surface_repairs *repairs,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    memset(repairs, 0, sizeof *repairs);
    modal_free(&surface->uv);
    modal_free(&surface->triangle_uv);
    modal_free(&surface->triangle_normal);
    surface->n_uv = 0;
    MODAL_TRY(merge_vertices(surface, repairs, err));
    MODAL_TRY(remove_duplicates(surface, repairs, err));
    MODAL_TRY(orient(surface, repairs, err));
    MODAL_TRY(fill_pinholes(surface, repairs, err));
    /* A part may be closed only now: it faces outwards. */
    if (repairs->filled_holes > 0) MODAL_TRY(orient(surface, repairs, err));
    MODAL_TRY(remove_unused(surface, repairs, err));
done:
    return status;
}
