/* SPDX-License-Identifier: Apache-2.0 */
/* Layers onto the samples of an octree texture. */
#ifndef MODAL_OCTREE_PAINT_H
#define MODAL_OCTREE_PAINT_H

#include "kernels/raster/paint.h"
#include "lib/base/status.h"
#include "lib/model/layers.h"
#include "lib/model/octree.h"
#include "lib/model/volume_mesh.h"

/* What layers read besides themselves; what a layer's kind does not ask for may be NULL. */
typedef struct modal_layer_inputs {
    const modal_surface_mesh *surface; /* that the octree was built around. image: with uv; triplanar; normals */
    const modal_surface_mesh *coloured; /* colours: the same with colours of its vertices */
    const modal_surface_mesh *finer;   /* normals: whose they are */
    const float *field;                /* field: [n_vertices of the surface] */
    const modal_paint *images;         /* image: one; triplanar: three, along x, y, z; with levels, texels and `linear` */
} modal_layer_inputs;

/* What a layer did not do what one may expect of: samples, unless said. */
typedef struct modal_layer_counts {
    int64_t n_outside;    /* whose uv is outside of [0, 1]: it is wrapped */
    int64_t n_missed;     /* of strokes: that reach no sample */
    int64_t n_turned;     /* next to what faces away on the finer surface: they have the normal of their own */
} modal_layer_counts;

/* Paints one layer over what is there. Solids (checker, noise, marble, wood) and strokes are taken at the samples, colours, images by uv and
 * normals at the nearest point of the surface, images along axes at the sample with the normal there. Colours of rgba8 are mixed in linear light,
 * weighted by their alpha (T. Porter, T. Duff, Compositing digital images, 1984); numbers of the other channels, and normals, as they are.
 * A field is interpolated at the nearest point of the surface.
 * MODAL_ERROR_INPUT: colours and images in a texture that is not rgba8, normals in one of single numbers, a surface with another number of
 * triangles than the texture's, a surface without uv or area; MODAL_ERROR_MEMORY. OpenMP; the same bytes for any number of threads. */
modal_status modal_octree_paint(modal_octree *octree, const modal_layer *layer, const modal_layer_inputs *inputs, modal_layer_counts *counts,
                                modal_error *err);

/* Perlin's gradient noise (K. Perlin, Improving noise, 2002) over a lattice of unit steps, gradients by a hash of the seed: about
 * -1 to 1, 0 at lattice points, the same on every machine. */
double modal_noise(const double p[3], uint64_t seed);

#endif
