/* SPDX-License-Identifier: Apache-2.0 */
/* --look FILE: a look, or a model whose materials are one. */
#ifndef TOOLS_COMMON_LOOK_H
#define TOOLS_COMMON_LOOK_H

#include <limits.h>

#include "formats/json/gltf_look.h"
#include "formats/textures/textures_h5.h"
#include "lib/base/status.h"
#include "lib/model/look.h"
#include "lib/model/volume_mesh.h"
#include "tools/common/options.h"

#define TOOL_OPTION_LOOK                                                                                                       \
    {"look", 0, "FILE", NULL, "Materials and images: a look (formats/look.md), an .obj with its .mtl, a .mtl, a .glb or a textures.h5.", TOOL_READS}
#define TOOL_OPTION_ANY_PATH                                                                                                   \
    {"any-path", 0, NULL, NULL, "Images may lie anywhere, not only in the folder of the look or below it.", 0}

/* A textures.h5 that has images of a look. */
typedef struct tool_look_pack {
    char *path;
    char *name; /* that the look has for the file: FILE.h5 of FILE.h5/IMAGE; NULL: the file is the look, and images have their own names */
    modal_textures head; /* without texels */
} tool_look_pack;

/* A look and the folder of its images. */
typedef struct tool_look {
    modal_look look;
    char folder[PATH_MAX + 1]; /* as modal_path_folder gives it */
    int any_path;
    char *glb; /* a .glb, whose images are these; NULL: none, images are files */
    modal_gltf_images inside;
    int32_t n_packs;
    int64_t packs_capacity;
    tool_look_pack *packs; /* [n_packs] */
} tool_look;

/* Reads a look: FILE.obj with the .mtl files that it names, FILE.mtl, FILE.glb, FILE.h5, or else JSON. `folder`: where names of images begin, NULL: the folder
 * of the file. `surface` (or NULL): gets the surface of an .obj, which the caller frees. The files that the look names count as read (tools/common/files.h),
 * whether the run opens them or not. Errors name the file. */
modal_status tool_look_read(const char *path, const char *folder, int any_path, tool_look *look, modal_surface_mesh *surface,
                            modal_error *err);
void tool_look_free(tool_look *look);

/* Shapes of the basis get the texture coordinates of the surface files that the look names (`uv`), by their vertices and triangles; `path` is the look's.
 * Call it before anything is made of the basis's own. MODAL_ERROR_INPUT: a file without texture coordinates, or one that no shape fits. */
modal_status tool_look_uv(const tool_look *look, const char *path, modal_basis *basis, modal_error *err);

/* The materials of a textures.h5 become the look's, its images keep their names. */
modal_status tool_look_read_packed(const char *path, tool_look *look, modal_error *err);
/* Finds the images that the look's materials name inside of a textures.h5: FILE.h5/NAME, or FILE.h5 for that of the material of the same name. */
modal_status tool_look_find_packed(tool_look *look, modal_error *err);
/* Where an image is packed, best in that role and with that cutoff; NULL: it is in none. */
const tool_look_pack *tool_look_packed(const tool_look *look, const char *name, int role, double cutoff, int32_t *image);
/* A PNG of its level 0; the caller frees it. */
modal_status tool_look_packed_png(const tool_look_pack *pack, int32_t image, char **bytes, int64_t *length, modal_error *err);
void tool_look_free_packs(tool_look *look);

/* The bytes of an image that lies inside of a .glb, which the look keeps; NULL: it is a file. */
const void *tool_look_image_inside(const tool_look *look, const char *name, int64_t *length);
/* The path of an image that is a file; the caller frees it. MODAL_ERROR_INPUT "NAME: cannot open ...", also for one inside of a .glb or packed. */
modal_status tool_look_image(const tool_look *look, const char *name, char **path, modal_error *err);
/* An image's bytes, of a packed one a PNG; the caller frees them. */
modal_status tool_look_image_load(const tool_look *look, const char *name, char **bytes, int64_t *length, modal_error *err);

#endif
