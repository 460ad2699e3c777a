/* SPDX-License-Identifier: Apache-2.0 */
/* How well an octree texture resolves its surface and what was painted. */
#ifndef MODAL_OCTREE_MEASURES_H
#define MODAL_OCTREE_MEASURES_H

#include "lib/base/status.h"
#include "lib/model/layers.h"
#include "lib/model/octree.h"
#include "lib/model/volume_mesh.h"

/* Share of the surface's area whose curvature radius is below two cells of `cell` m: there a cell may hold more than one sheet or a turn of it. A
 * triangle's curvature is that of its vertices' normals (S. Rusinkiewicz, Estimating curvatures and their derivatives on triangle meshes, 2004; weights of
 * N. Max, 1999). NAN for a surface without area. MODAL_ERROR_MEMORY. */
modal_status modal_octree_tight_share(const modal_surface_mesh *surface, double cell, double *share, modal_error *err);

typedef struct modal_octree_difference {
    int64_t n;      /* vertices that were compared: those in the texture, of colours the opaque ones */
    double largest; /* of 255 for colours, else in the texture's unit */
    double psnr;    /* dB, 10 log10(range^2 / mean square): 255, or that of the layer; INFINITY where nothing differs */
} modal_octree_difference;

/* What trilinear look-ups give at the vertices of the surface, beside what the layer says there: `colours` of `surface`, or of a texture of numbers `field`
 * [n_vertices]. The layer was the last that was painted, with opacity 1. MODAL_ERROR_MEMORY. */
modal_status modal_octree_compare_colours(const modal_octree *octree, const modal_surface_mesh *surface, modal_octree_difference *difference, modal_error *err);
modal_status modal_octree_compare_field(const modal_octree *octree, const modal_layer *layer, const modal_surface_mesh *surface, const float *field,
                                        modal_octree_difference *difference, modal_error *err);

#endif
