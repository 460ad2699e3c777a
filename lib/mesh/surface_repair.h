/* SPDX-License-Identifier: Apache-2.0 */
/* What can be put right on a surface without guessing its shape. */
#ifndef MODAL_MESH_SURFACE_REPAIR_H
#define MODAL_MESH_SURFACE_REPAIR_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

enum { MODAL_PINHOLE_EDGES = 8 }; /* holes of more edges are left open */

typedef struct modal_surface_repairs {
    int64_t merged_vertices;    /* at exactly the same place as an earlier one */
    int64_t removed_duplicates; /* triangles of the same vertices as an earlier one */
    int64_t removed_flat;       /* triangles that had a vertex twice after merging */
    int64_t turned_triangles;   /* turned so that neighbours agree and closed parts face outwards */
    int64_t filled_holes, added_triangles; /* chains of up to MODAL_PINHOLE_EDGES open edges */
    int64_t removed_vertices;   /* that no triangle uses */
} modal_surface_repairs;

/* Does these, in this order, in place; vertices and triangles keep their order otherwise, new triangles
 * come last and are in no named part. Texture coordinates are dropped. Positions never change. On an error the surface is in a
 * state between; it can still be freed. */
modal_status modal_surface_repair(modal_surface_mesh *surface, modal_surface_repairs *repairs,
                                  modal_error *err);

/* Numbers the parts that are connected through edges of two triangles: part [n_triangles]; returns
 * their number in *n_parts. Neighbours whose normals differ by more than `angle` radians are not
 * connected (a surface patch; use a large number for none). */
modal_status modal_surface_parts(const modal_surface_mesh *surface, double angle, int32_t *part,
                                 int32_t *n_parts, modal_error *err);

#endif
