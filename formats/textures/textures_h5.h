/* SPDX-License-Identifier: Apache-2.0 */
/* The packed images of a look, in memory and as textures.h5; formats/textures.md is the specification. Writing is thread-safe where
 * it says so, the rest is not (HDF5). */
#ifndef MODAL_FORMATS_TEXTURES_H5_H
#define MODAL_FORMATS_TEXTURES_H5_H

#include <stdint.h>

#include "formats/h5/findings.h"
#include "lib/base/status.h"
#include "lib/model/look.h"

typedef struct modal_texture_image {
    const char *name; /* as the look has it; in `text`, or borrowed from the look */
    int role;         /* 0 colours, 1 normals */
    double cutoff;    /* -1: no cut-out */
    int32_t width, height; /* of the image, without its repeats in the layout `thesis` */
    int32_t class, layer;
    double scale[2];
} modal_texture_image;

typedef struct modal_texture_class {
    int32_t width, height, n_layers;
    int n_levels;
    int64_t *places;  /* [n_levels] byte of the file at which each level begins; NULL: not written */
    uint8_t **levels; /* [n_levels] of [n_layers, h, w, 4]; NULL: not in memory. The first is all of them, one after the other */
} modal_texture_class;

/* What is in a textures.h5, or will be. */
typedef struct modal_textures {
    int thesis;
    int32_t n_materials, n_images, n_classes;
    float (*values)[16];          /* [n_materials] formats/textures.md, /materials/values */
    const char **names;           /* [n_materials] in `text`, or borrowed from the look */
    int32_t (*of_material)[2];    /* [n_materials] images of colours and normals, -1: none */
    modal_texture_image *images;  /* [n_images] */
    modal_texture_class *classes; /* [n_classes] */
    char *text[2];                /* names of materials and of images that were read */
} modal_textures;

enum { MODAL_TEXTURE_LAYERS = 2048, MODAL_TEXTURE_THESIS_IMAGES = 512, MODAL_TEXTURE_SIDE = 16384 };

/* The materials of a look, and its images, each once in each role, but for octree textures; their sizes are still to be set. Borrows names of the look. */
modal_status modal_textures_begin(modal_textures *textures, const modal_look *look, int thesis, modal_error *err);
/* Classes and layers, once width and height of all images are known. MODAL_ERROR_INPUT for what the layout `thesis` cannot have. */
modal_status modal_textures_place(modal_textures *textures, modal_error *err);
/* Room for all texels in memory. */
modal_status modal_textures_hold(modal_textures *textures, modal_error *err);
/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_textures_free(modal_textures *textures);

/* Writes `path` with all but the texels, for which there is room, and sets the places. */
modal_status modal_textures_write_head(const char *path, modal_textures *textures, modal_error *err);

/* A file with its head, open for the texels. */
typedef struct modal_textures_file {
    int file, direct; /* descriptors; direct: past the page cache, -1: not there */
} modal_textures_file;

/* Reserves the file's room on the disk and opens it. MODAL_ERROR_SYSTEM; the file is closed after one. */
modal_status modal_textures_open(modal_textures_file *file, const char *path, modal_error *err);
void modal_textures_close(modal_textures_file *file);
/* Where in a block of MODAL_DISK_BLOCK bytes the texels of an image should begin, so that they can go past the page cache. */
int64_t modal_textures_alignment(const modal_textures *textures, int32_t image);

/* The layer of an image with all its levels, [modal_mip_bytes of its class]: into the open file, or (NULL) into memory.
 * Thread-safe for different images. */
modal_status modal_textures_put(const modal_textures_file *file, const modal_textures *textures, int32_t image, const uint8_t *texels,
                                modal_error *err);

/* Bytes of all levels of all layers. */
int64_t modal_textures_bytes(const modal_textures *textures);

/* Reads and checks a file, with the texels (`texels` not 0) or without. The caller frees it; after an error it is zeroed. The length of
 * the file bounds the memory. MODAL_ERROR_INPUT names the file and the place. */
modal_status modal_textures_read(const char *path, int texels, modal_textures *textures, modal_error *err);

/* The texels of one image of a file whose head `textures` is: level 0 [height, width, 4], with `all` all levels, [modal_mip_bytes], which the layout
 * `thesis` does not have of an image: MODAL_ERROR_USAGE. MODAL_ERROR_INPUT: the file is another one meanwhile. */
modal_status modal_textures_read_image(const char *path, const modal_textures *textures, int32_t image, int all, uint8_t *texels,
                                       modal_error *err);

/* Appends to the findings every rule that the file breaks; as modal_basis_check. Texels are read layer by layer. */
modal_status modal_textures_check(const char *path, modal_findings *findings, modal_error *err);

#endif
