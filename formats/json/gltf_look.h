/* SPDX-License-Identifier: Apache-2.0 */
/* Materials of a binary glTF file (.glb, version 2.0) as those of a look (formats/look.md). */
#ifndef MODAL_FORMATS_GLTF_LOOK_H
#define MODAL_FORMATS_GLTF_LOOK_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/look.h"

/* An image inside of the file, under the name that the look's materials call it by: bytes [first, first + length) of the file. */
typedef struct modal_gltf_image {
    char *name;
    int64_t first, length;
} modal_gltf_image;

typedef struct modal_gltf_images {
    int32_t n;
    int64_t capacity;
    modal_gltf_image *list;
} modal_gltf_images;

/* Appends the materials to an empty look, in the order of the file.
 *   name                    or "material N"; where an earlier one has the name, " 2", " 3", ... follows
 *   baseColorFactor         diffuse and opacity; baseColorTexture: image
 *   roughnessFactor r       shininess 2 / r^4 - 2, at most 10000 (the reverse of what the writer of GLB does)
 *   normalTexture           normal image
 *   alphaMode, alphaCutoff  OPAQUE, MASK, BLEND: opaque, cutout, blend; doubleSided: two_sided
 *   a sampler's wrapS and wrapT, which must be alike, and alike for both images of a material
 * Metals are shown as paint; emission, occlusion, the scale of normals and further extensions of materials have no place in a look and are left out.
 * Images inside of the file get names of files, NAME.png or NAME.jpg, which are unlike each other; letters, digits, ., _ and - of their own
 * names are kept. An image with a uri is a path beside the file, which with any_path may lead anywhere.
 *
 * Refused with MODAL_ERROR_INPUT "NAME:LINE: /materials/0/...: what" (lines of the JSON chunk): other versions, sizes and indices that do not fit,
 * data: URIs, a second set of uv, KHR_texture_transform, required extensions that change images or materials, no materials. After an error the look
 * and the images have what was read before it; the caller frees both always. Thread-safe. */
modal_status modal_gltf_look_parse(const char *data, int64_t length, const char *name, int any_path, modal_look *look, modal_gltf_images *images,
                                   modal_error *err);
void modal_gltf_images_free(modal_gltf_images *images);

#endif
