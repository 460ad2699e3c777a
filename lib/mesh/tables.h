/* SPDX-License-Identifier: Apache-2.0 */
/* Who is whose neighbour on a triangle surface. */
#ifndef MODAL_MESH_TABLES_H
#define MODAL_MESH_TABLES_H

#include <stdint.h>

#include "lib/base/status.h"

/* CSR: row v is values[offsets[v] .. offsets[v + 1]). */
typedef struct modal_surface_tables {
    int64_t *face_offsets; /* [n + 1] */
    int32_t *faces;        /* [3 n_triangles] triangles at each vertex, ascending */
    int64_t *ring_offsets; /* [n + 1] */
    int32_t *ring;         /* vertices that share an edge with each vertex, ascending, each once */
    uint8_t *boundary;     /* [n] 1 where an edge of the vertex belongs to one triangle only */
} modal_surface_tables;

/* The triangles at each vertex: face_offsets [n + 1], all 0 before, and faces [3 n_triangles]. Vertices are in range. O(n + n_triangles). */
void modal_surface_faces(int64_t n, int64_t n_triangles, const int32_t *triangles, int64_t *face_offsets, int32_t *faces);

/* Builds the tables of n vertices and triangles [n_triangles, 3]. Edges of three and more triangles
 * and vertices of no triangle are fine (the latter have empty rows and no boundary flag).
 * MODAL_ERROR_INPUT: a vertex index out of range or twice in a triangle, more triangles than int32
 * counts. On an error *tables is zeroed; otherwise modal_surface_tables_free. O(n + n_triangles). */
modal_status modal_surface_tables_build(int64_t n, int64_t n_triangles, const int32_t *triangles,
                                        modal_surface_tables *tables, modal_error *err);

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_surface_tables_free(modal_surface_tables *tables);

#endif
