/* SPDX-License-Identifier: Apache-2.0 */
/* Layers onto the samples of an octree texture. */
#ifndef MODAL_OCTREE_PAINT_H
#define MODAL_OCTREE_PAINT_H

#include "lib/base/status.h"
#include "lib/model/layers.h"
#include "lib/model/octree.h"

/* What a layer of kind `colours` reads: numbers at the vertices of the surface that the octree was built around. */
typedef struct modal_vertex_values {
    int64_t n_vertices, n_triangles;
    const int32_t *triangles; /* [n_triangles, 3] */
    const uint8_t *colours;   /* [n_vertices, 4] */
} modal_vertex_values;

/* Paints one layer over what is there. Solids (checker, noise, marble, wood) and strokes are taken at the samples, colours at the
 * nearest point of the surface. Colours of rgba8 are mixed in linear light, weighted by their alpha (T. Porter, T. Duff, Compositing
 * digital images, 1984); numbers of the other channels as they are. A layer of colours needs `at` and a texture of rgba8
 * (else MODAL_ERROR_INPUT, also for another number of triangles); for others `at` may be NULL. OpenMP; the same bytes for any number of threads. */
modal_status modal_octree_paint(modal_octree *octree, const modal_layer *layer, const modal_vertex_values *at, modal_error *err);

/* Perlin's gradient noise (K. Perlin, Improving noise, 2002) over a lattice of unit steps, gradients by a hash of the seed: about
 * -1 to 1, 0 at lattice points, the same on every machine. */
double modal_noise(const double p[3], uint64_t seed);

#endif
