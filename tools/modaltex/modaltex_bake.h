/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex bake: what it writes. */
#ifndef TOOLS_MODALTEX_BAKE_H
#define TOOLS_MODALTEX_BAKE_H

#include "lib/octree/atlas.h"
#include "tools/common/output.h"

/* The atlas as it goes into a file: rows downwards, alpha 255 unless something covered has less. */
typedef struct modaltex_picture {
    int32_t width, height;
    int bits, alpha; /* 8 or 16; nonzero: alpha counts */
    void *texels;    /* [height, width, 4] u8 or u16 */
} modaltex_picture;

/* bits 16: of an atlas of numbers by the range, and what push-pull has filled to 8 bits. The caller frees it. MODAL_ERROR_MEMORY. */
modal_status modaltex_picture_make(const modal_atlas *atlas, const modal_atlas_request *request, int bits, modaltex_picture *picture, modal_error *err);
void modaltex_picture_free(modaltex_picture *picture);

/* Into the output's temporary file; errors name its path. */
modal_status modaltex_write_png(const tool_output *output, const modaltex_picture *picture, modal_error *err);
/* A look whose only material shows `image`, or turns its normals by it; `charts` (or NULL) is a surface with the texture coordinates. Both as
 * names beside the look. */
modal_status modaltex_write_look(const tool_output *output, const char *image, int normals, const char *charts, modal_error *err);
/* The surface with its texture coordinates; numbers are read back as they are. */
modal_status modaltex_write_obj(const tool_output *output, const modal_surface_mesh *surface, modal_error *err);

#endif
