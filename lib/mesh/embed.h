/* SPDX-License-Identifier: Apache-2.0 */
/* Points carried by a solid: the tetrahedron of each and its barycentric weights. */
#ifndef MODAL_MESH_EMBED_H
#define MODAL_MESH_EMBED_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/mesh/volume_mesh.h"

typedef struct modal_embed_summary {
    int64_t n_outside;       /* points farther from the solid than the tolerance */
    double farthest_outside; /* m, the largest distance of those, 0 where there are none */
    int64_t farthest_point;  /* the first point of that distance, -1 where there are none */
} modal_embed_summary;

/* For each of the points [n, 3]: nodes [n, 4] of the tetrahedron that contains it, or of the nearest
 * one (by the distance between point and tetrahedron), and weights [n, 4], its barycentric
 * coordinates in that tetrahedron, sum 1. Elements that are no linear tetrahedra are cut into such
 * (lib/mesh/element_split.h), so that a vertex is always carried by four nodes: the motion between them
 * is interpolated linearly, also in quadratic elements, whose curved faces leave a sliver outside (or
 * inside) of their tetrahedra; points in it are carried as points outside are. Parts of a distorted
 * element without volume are passed over. elements [n] gets the element; it and summary may be NULL.
 * Of all tetrahedra whose distance is within 1e-12 of the mesh's bounding box diagonal of the
 * least, the one of lowest index is taken: points on a common face, edge or node have one answer.
 *
 * The weights of a point outside are those of the point itself, not of the nearest point: some are
 * negative or above 1, and a field is extrapolated linearly, as VegaFEM's .interp files do. So every
 * linear field, and every rigid motion, is reproduced outside as well; but the farther a point is,
 * in units of its tetrahedron, the more it magnifies the motion: see farthest_outside.
 *
 * The mesh must have passed modal_volume_mesh_check. MODAL_ERROR_INPUT: no elements, or a point
 * that is not finite. O(log elements) a point, with a bounding volume tree built in each call;
 * OpenMP, the same bytes for any number of threads. Outputs are undefined after an error. */
modal_status modal_embed_points(const modal_volume_mesh *mesh, int64_t n, const double *points,
                                int32_t *elements, int32_t *nodes, double *weights,
                                modal_embed_summary *summary, modal_error *err);

/* Distance between a point and one tetrahedron x [4, 3] of positive volume; 0 inside. */
double modal_tetrahedron_distance(const double *const x[4], const double point[3]);

/* Barycentric coordinates of a point, anywhere, in one tetrahedron x [4, 3]; sum 1. */
void modal_tetrahedron_weights(const double *const x[4], const double point[3], double weights[4]);

#endif
