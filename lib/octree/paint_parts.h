/* SPDX-License-Identifier: Apache-2.0 */
/* What the kinds of layers share (lib/octree/paint.h). */
#ifndef MODAL_OCTREE_PAINT_PARTS_H
#define MODAL_OCTREE_PAINT_PARTS_H

#include "lib/octree/paint.h"

/* m, of a sample. */
void modal_paint_position(const modal_octree *octree, int64_t sample, double x[3]);

/* Of the corners of a sample's triangle at the nearest point. */
void modal_paint_weights(const modal_octree *octree, int64_t sample, double weights[3]);

/* A colour in linear light covers `cover` times its alpha of a sample of rgba8. */
void modal_paint_over(const modal_octree *octree, int64_t sample, const double linear[3], double alpha, double cover);

/* Unit normals of the vertices [n_vertices, 3], 0 where there is none; the caller frees them. N. Max, Weights for Computing Vertex Normals
 * from Facet Normals, 1999. MODAL_ERROR_MEMORY. */
modal_status modal_paint_vertex_normals(const modal_surface_mesh *surface, double **normals, modal_error *err);

/* The kinds that have a file of their own; what they need is there (modal_octree_paint checks). */
void modal_paint_image_layer(modal_octree *octree, const modal_layer *layer, const modal_layer_inputs *inputs, modal_layer_counts *counts);
modal_status modal_paint_triplanar(modal_octree *octree, const modal_layer *layer, const modal_layer_inputs *inputs, modal_error *err);
modal_status modal_paint_normals(modal_octree *octree, const modal_layer *layer, const modal_layer_inputs *inputs, modal_layer_counts *counts,
                                 modal_error *err);

#endif
