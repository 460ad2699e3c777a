/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a scene; formats/scene.md is the specification. */
#ifndef MODAL_FORMATS_SCENE_H
#define MODAL_FORMATS_SCENE_H

#include <stddef.h>

#include "lib/model/scene.h"

/* Reads and checks all that can be checked without the basis. Files that the scene names are looked for
 * beside it. `scene` is overwritten; the caller frees it with modal_scene_free; after an error it is
 * zeroed. MODAL_ERROR_INPUT "scene.json:12: /wind/seed: what, value"; MODAL_ERROR_SYSTEM for a file that
 * cannot be read. */
modal_status modal_scene_read(const char *path, modal_scene *scene, modal_error *err);

/* The same with some of its values changed, each as modal_json_set has it: "/wind/seed=17". MODAL_ERROR_USAGE "--set: ..". */
modal_status modal_scene_read_changed(const char *path, int n_sets, const char *const *sets, modal_scene *scene, modal_error *err);

/* The same for text in memory, [length] bytes. */
modal_status modal_scene_parse(const char *text, size_t length, const char *path, modal_scene *scene,
                               modal_error *err);

#endif
