/* SPDX-License-Identifier: Apache-2.0 */
/* Points carried by a solid: the element of each and the weights of its nodes. */
#ifndef MODAL_MESH_EMBED_H
#define MODAL_MESH_EMBED_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

typedef struct modal_embed_summary {
    int64_t n_outside;       /* points farther from the solid than the tolerance */
    double farthest_outside; /* m, the largest distance of those, 0 where there are none */
    int64_t farthest_point;  /* the first point of that distance, -1 where there are none */
} modal_embed_summary;

/* Of n points: the nodes that carry point i and their weights, sum 1, are
 * [offsets[i] .. offsets[i + 1]), all the nodes of its element, in their order there. */
typedef struct modal_point_embedding {
    int64_t *offsets;  /* [n + 1] */
    int32_t *nodes;    /* [offsets[n]] */
    double *weights;   /* [offsets[n]] */
    int32_t *elements; /* [n] */
} modal_point_embedding;

void modal_point_embedding_free(modal_point_embedding *embedding);

/* Carries each of the points [n, 3] by the element that contains it, with the element's own shape
 * functions at the point (lib/mesh/element_shape.h): what the element holds exactly, the point has
 * exactly. The element itself counts, with the curved sides of its shape functions, not the chords between
 * its nodes: a point between a curved side and its chord is inside. An element contains the points that are
 * not farther from it than the tolerance, 1e-14 of the diagonal of the solid's box and 2^-50 of its largest
 * coordinate, which is rounding; of several the one of lowest index is taken: points on a common face, edge
 * or node have one answer.
 *
 * A point outside goes with the nearest element, of those within the tolerance of the least distance the
 * one of lowest index. Its weights are no shape functions, which grow fast out there, but their linear
 * extrapolation from the nearest point of the element (lib/mesh/element_nearest.h): the motion goes on from
 * the surface without a jump, and every linear field and every rigid motion is reproduced outside as well.
 * Some weights are negative or above 1; the farther a point is, in units of its element, the more it
 * magnifies the motion: see farthest_outside. In a linear tetrahedron that is the barycentric extrapolation
 * of VegaFEM's .interp files.
 *
 * A distorted element that passes modal_volume_mesh_check may still be folded between its quadrature
 * points. A point in the fold is in several places of the element at once and gets one of them; a part that
 * is not found counts as outside.
 *
 * The mesh must have passed modal_volume_mesh_check. The caller frees the embedding, which is zero after
 * an error; summary may be NULL. MODAL_ERROR_INPUT: no elements, a point that is not finite, or one so far
 * away that its squared distance overflows. O(log elements) a point, with a bounding volume tree built in
 * each call; OpenMP, the same bytes for any number of threads. */
modal_status modal_embed_points(const modal_volume_mesh *mesh, int64_t n, const double *points,
                                modal_point_embedding *embedding, modal_embed_summary *summary,
                                modal_error *err);

#endif
