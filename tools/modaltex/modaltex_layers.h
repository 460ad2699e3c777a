/* SPDX-License-Identifier: Apache-2.0 */
/* Files that layers name. */
#ifndef TOOLS_MODALTEX_LAYERS_H
#define TOOLS_MODALTEX_LAYERS_H

#include "lib/octree/paint.h"
#include "lib/texture/mips.h"

/* Of one layer. */
typedef struct modaltex_layer_files {
    modal_surface_mesh mesh; /* whose colours or normals are painted */
    char *paths[3];          /* what was read, for provenance */
    uint8_t *texels[3];
    float *field;            /* at the surface's vertices */
    modal_paint images;
    modal_paint_image heads[3];
    modal_paint_level levels[3 * MODAL_MIP_LEVELS];
    float linear[256];
} modaltex_layer_files;

/* Reads what the layer names, of `field` for the surface in `inputs`, beside LAYERS (no symbolic link leads out of its folder), or with
 * layers_path NULL wherever it is. `inputs` gets what is of this layer; it borrows from `files`, which the caller frees, also after an
 * error. MODAL_ERROR_INPUT, MODAL_ERROR_SYSTEM with the name. */
modal_status modaltex_layer_files_read(const char *layers_path, const modal_layer *layer, const modal_octree *octree, modaltex_layer_files *files,
                                       modal_layer_inputs *inputs, modal_error *err);
void modaltex_layer_files_free(modaltex_layer_files *files);

/* MODAL_ERROR_INPUT "NAME: another surface ..." where the texture was not built around this one. */
modal_status modaltex_surface_check(const char *name, const modal_surface_mesh *surface, const modal_octree *octree, modal_error *err);

#endif
