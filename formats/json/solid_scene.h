/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a scene of one solid; formats/solid_scene.md is the specification. */
#ifndef MODAL_FORMATS_SOLID_SCENE_H
#define MODAL_FORMATS_SOLID_SCENE_H

#include <stddef.h>

#include "lib/model/solid_scene.h"

/* Reads and checks all that can be checked without the mesh. CSV files that the scene names are looked for beside it.
 * `scene` is overwritten; the caller frees it with modal_solid_scene_free; after an error it is zeroed. MODAL_ERROR_INPUT
 * "scene.json:12: /forces/0/force: what, value"; MODAL_ERROR_SYSTEM for a file that cannot be read. */
modal_status modal_solid_scene_read(const char *path, modal_solid_scene *scene, modal_error *err);

/* The same for text in memory, [length] bytes. */
modal_status modal_solid_scene_parse(const char *text, size_t length, const char *path, modal_solid_scene *scene,
                                     modal_error *err);

#endif
