/* SPDX-License-Identifier: Apache-2.0 */
/* Packs the images of a look into textures.h5; formats/textures.md is the specification. */
#ifndef MODAL_FORMATS_TEXTURES_H5_H
#define MODAL_FORMATS_TEXTURES_H5_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/look.h"

typedef struct modal_texture_image {
    const char *name; /* as the look has it, borrowed */
    int role;         /* 0 colours, 1 normals */
    double cutoff;    /* -1: no cut-out */
    int32_t width, height;
    int32_t class, layer;
    double scale[2];
} modal_texture_image;

typedef struct modal_texture_class {
    int32_t width, height, n_layers;
    int n_levels;
    int64_t *places; /* [n_levels] byte of the file at which each level begins */
} modal_texture_class;

/* What will be in the file. */
typedef struct modal_texture_plan {
    int thesis;
    int32_t n_materials, n_images, n_classes;
    int32_t (*of_material)[2]; /* [n_materials] images of colours and normals, -1: none */
    modal_texture_image *images;
    modal_texture_class *classes;
} modal_texture_plan;

enum { MODAL_TEXTURE_LAYERS = 2048, MODAL_TEXTURE_THESIS_IMAGES = 512 };

/* The images of a look, each once in each role; their sizes are still to be set. */
modal_status modal_texture_plan_begin(modal_texture_plan *plan, const modal_look *look, int thesis, modal_error *err);
/* Classes and layers, once width and height of all images are known. MODAL_ERROR_INPUT for what the layout `thesis` cannot have. */
modal_status modal_texture_plan_end(modal_texture_plan *plan, modal_error *err);
void modal_texture_plan_free(modal_texture_plan *plan);

/* Writes `path` with all but the texels, for which there is room, and sets the places. */
modal_status modal_textures_write_head(const char *path, const modal_look *look, modal_texture_plan *plan, modal_error *err);

/* The layer of an image with all its levels, [modal_mip_bytes of its class]: writes them to the open file. Thread-safe. */
modal_status modal_textures_put(int file, const modal_texture_plan *plan, int32_t image, const uint8_t *texels, modal_error *err);

#endif
