/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a triangle surface bounds a solid, and if not, where and why. */
#ifndef MODAL_MESH_SURFACE_CHECK_H
#define MODAL_MESH_SURFACE_CHECK_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

/* Counts, and of each kind of fault the first example: two vertices of an edge, two triangles, a
 * vertex or a triangle by index; -1 where there is none. */
typedef struct modal_surface_summary {
    int64_t n_vertices, n_triangles;
    int64_t n_unused;             /* vertices in no triangle */
    int64_t n_duplicate_vertices; /* at exactly the place of an earlier one, both in triangles */
    int64_t n_duplicates;         /* triangles of the same three vertices as an earlier one */
    int64_t n_flat;               /* triangles without area: height <= 1e-12 longest edge */
    int64_t n_open_edges;         /* edges of one triangle */
    int64_t n_holes;              /* closed chains of them */
    int64_t n_shared_edges;       /* edges of three and more triangles */
    int64_t n_turned_edges;       /* edges whose two triangles run along them the same way */
    int64_t n_pinched_vertices;   /* whose triangles form several fans */
    int64_t n_intersections;      /* pairs of triangles, an edge of one through the other */
    int64_t n_overlaps;           /* pairs of triangles in one plane with an area in common, duplicates apart */
    int32_t n_components;         /* that share no vertex */
    int32_t open_edge[2], shared_edge[2], turned_edge[2], duplicate[2], intersection[2], overlap[2];
    int32_t flat, pinched_vertex, duplicate_vertex[2];
    double area, volume; /* m^2; m^3, signed: positive where triangles are counter-clockwise from outside */
    double box_min[3], box_max[3]; /* of the vertices in triangles */
    double shortest_edge, mean_edge, longest_edge;
} modal_surface_summary;

/* Looks at everything; indices must be in range and differ within a triangle. Intersections and
 * overlaps are found exactly; a vertex that only touches a triangle is none.
 * O(n log n) for surfaces of ordinary shape, OpenMP; the same result for any number of threads.
 * MODAL_ERROR_MEMORY; MODAL_ERROR_INPUT for more than 2^31 / 3 triangles. */
modal_status modal_surface_check(const modal_surface_mesh *surface, modal_surface_summary *summary,
                                 modal_error *err);

/* 1 where the surface bounds solids: no open, shared or turned edge, no duplicate, no intersection, no overlap. */
int modal_surface_is_sound(const modal_surface_summary *summary);

/* Why it does not: `what: where`, the gravest fault. MODAL_ERROR_INPUT; MODAL_OK where modal_surface_is_sound. */
modal_status modal_surface_explain(const modal_surface_mesh *surface, const modal_surface_summary *summary, modal_error *err);

/* How many, and the triangles of the first pair by index; -1 without one. */
typedef struct modal_surface_pairs {
    int64_t count;
    int32_t first[2];
} modal_surface_pairs;

/* Pairs of triangles that cross, and pairs that lie in one plane and have an area in common, neighbours that are folded
 * onto each other among them. Two triangles cross where an edge of one goes from one side of the other to the other side,
 * through its inside, an edge or a corner (P. Guigue, O. Devillers, "Fast and Robust Triangle-Triangle Overlap Test Using
 * Orientation Predicates", 2003). All signs are exact. An edge that only ends on the other triangle does not cross it. */
modal_status modal_surface_intersections(const modal_surface_mesh *surface, modal_surface_pairs *crossing,
                                         modal_surface_pairs *overlapping, modal_error *err);

/* The same; in_pair [n_triangles] becomes 1 for both triangles of a pair, of one pair at least of each triangle that is in some, 0 elsewhere. */
modal_status modal_surface_intersections_where(const modal_surface_mesh *surface, modal_surface_pairs *crossing,
                                               modal_surface_pairs *overlapping, uint8_t *in_pair, modal_error *err);

/* Edges [3 n_triangles] sorted by their vertices: keys (lesser vertex << 32 | greater), corners 3 t + k,
 * the edge from corner k to the next one of triangle t. The caller frees both. */
modal_status modal_surface_edges(const modal_surface_mesh *surface, uint64_t **keys, int32_t **corners,
                                 modal_error *err);

#endif
