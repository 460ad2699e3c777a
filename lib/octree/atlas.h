/* SPDX-License-Identifier: Apache-2.0 */
/* Octree textures as images by texture coordinates. */
#ifndef MODAL_OCTREE_ATLAS_H
#define MODAL_OCTREE_ATLAS_H

#include "kernels/octree_bake/octree_bake.h"
#include "kernels/push_pull/push_pull.h"
#include "kernels/registry.h"
#include "lib/model/octree_atlas.h"
#include "lib/model/volume_mesh.h"
#include "lib/octree/mipmaps.h"

typedef struct modal_atlas_request {
    const modal_surface_mesh *surface; /* with uv; u and v go from 0 to 1 over the image, v upwards */
    int32_t width, height;             /* 1 to MODAL_BAKE_SIDE */
    int by_footprint; /* nonzero: texels that are larger than cells get means: the level of each triangle by its areas */
    int fill;         /* nonzero: what nothing covers gets colours by push_pull; else 0 */
    int tangents;     /* nonzero, of a texture of normals, float3 or rgba8: texels are normals in the frame of tangent, bitangent and normal */
    double range[2];  /* of textures of numbers: what becomes 0 and 255; what is beyond becomes these */
} modal_atlas_request;

/* Owns its arrays. */
typedef struct modal_atlas {
    int32_t width, height;
    uint32_t *texels;  /* [height, width] r g b a, r in the lowest byte; the lowest row first */
    uint32_t *covered; /* [height, (width + 31) / 32] bit x % 32 of word x / 32 */
    int32_t *triangles; /* [height, width] whose point a texel shows, -1: none */
    int components;     /* of numbers: 1 or 3 */
    float *numbers;     /* [height, width, components] of textures of numbers, before the range; else NULL */
    modal_octree_bake_counts counts;
    int64_t n_beyond; /* triangles with uv outside of [0, 1], by more than 1e-6: what of them is in the image is there */
    int64_t n_flat;   /* triangles without area in the image: they have no texels */
    int64_t n_behind; /* of tangents: texels whose normal is not on the outer side */
} modal_atlas;

/* Bakes by octree_bake and push_pull on an open device; on a CPU the same bytes for any number of threads. A texture of numbers shows them by the
 * range, float as grey and float3 as red, green and blue, without gamma. The pyramid has mips where by_footprint says so.
 * Errors: MODAL_ERROR_INPUT: uv that are not finite, or farther from the image than 2^16 texels; MODAL_ERROR_MEMORY; those of the device. The
 * caller frees the atlas; after an error it is zeroed. */
modal_status modal_atlas_bake(const modal_device *device, const modal_octree_pyramid *pyramid, const modal_atlas_request *request, modal_atlas *atlas,
                              modal_error *err);
void modal_atlas_free(modal_atlas *atlas);

/* Normals of a texture of normals, which the atlas has (of rgba8 as 128 + 127 n), become those of an image: along the tangent of growing u, the
 * bitangent of growing v and the normal, as 128 + 127 n; numbers, too. The normal is that of the vertices at rest, weighted by area and interpolated; the
 * tangent is the triangle's, as in kernels/shade. *n_behind counts texels whose normal is on the inner side. Part of modal_atlas_bake.
 * MODAL_ERROR_MEMORY. */
modal_status modal_atlas_to_tangents(const modal_atlas_request *request, modal_atlas *atlas, int64_t *n_behind, modal_error *err);

/* What of the surface each texel of a baked atlas shows: sets all of *kept but the image. A row is left out where no cell is met, as of another surface
 * than the octree's. MODAL_ERROR_MEMORY. The caller frees it, also after an error. */
modal_status modal_atlas_keep(const modal_octree *octree, const modal_atlas_request *request, const modal_atlas *atlas, modal_octree_atlas *kept,
                              modal_error *err);

/* The two operations of a bake with their arrays on a device, for benches. */
typedef struct modal_atlas_work {
    modal_device device;
    modal_stream *stream;
    modal_octree_bake_task bake;
    modal_push_pull_task fill; /* of the bake's values, which are rgba8 */
    modal_octree_mip mips[MODAL_OCTREE_MIPS];
    int n_arrays;
    void *arrays[10 + 3 * (MODAL_OCTREE_MIPS + 1)]; /* what is freed */
} modal_atlas_work;

/* Borrows the pyramid. atlas->n_beyond and n_flat are counted. Errors as modal_atlas_bake. Give it to _free also after an error. */
modal_status modal_atlas_work_new(modal_atlas_work *work, const modal_device *device, const modal_octree_pyramid *pyramid,
                                  const modal_atlas_request *request, modal_atlas *atlas, modal_error *err);
void modal_atlas_work_free(modal_atlas_work *work);

#endif
