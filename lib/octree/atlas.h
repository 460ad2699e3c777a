/* SPDX-License-Identifier: Apache-2.0 */
/* Octree textures as images by texture coordinates. */
#ifndef MODAL_OCTREE_ATLAS_H
#define MODAL_OCTREE_ATLAS_H

#include "kernels/octree_bake/octree_bake.h"
#include "lib/model/volume_mesh.h"
#include "lib/octree/mipmaps.h"

typedef struct modal_atlas_request {
    const modal_surface_mesh *surface; /* with uv; u and v go from 0 to 1 over the image, v upwards */
    int32_t width, height;             /* 1 to MODAL_BAKE_SIDE */
    int by_footprint; /* nonzero: texels that are larger than cells get means: the level of each triangle by its areas */
    int fill;         /* nonzero: what nothing covers gets colours by push_pull; else 0 */
} modal_atlas_request;

/* Owns its arrays. */
typedef struct modal_atlas {
    int32_t width, height;
    uint32_t *texels;  /* [height, width] r g b a, r in the lowest byte; the lowest row first */
    uint32_t *covered; /* [height, (width + 31) / 32] bit x % 32 of word x / 32 */
    modal_octree_bake_counts counts;
    int64_t n_beyond; /* triangles with uv outside of [0, 1], by more than 1e-6: what of them is in the image is there */
    int64_t n_flat;   /* triangles without area in the image: they have no texels */
} modal_atlas;

/* Bakes a texture of rgba8 by the back end `cpu`; the same bytes for any number of threads. The pyramid has mips where by_footprint says so.
 * Errors: MODAL_ERROR_INPUT: uv that are not finite, or farther from the image than 2^16 texels; MODAL_ERROR_MEMORY. The caller frees the
 * atlas; after an error it is zeroed. */
modal_status modal_atlas_bake(const modal_octree_pyramid *pyramid, const modal_atlas_request *request, modal_atlas *atlas, modal_error *err);
void modal_atlas_free(modal_atlas *atlas);

#endif
