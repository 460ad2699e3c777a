/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the file of materials; formats/materials.md is the specification. */
#ifndef MODAL_FORMATS_MATERIALS_H
#define MODAL_FORMATS_MATERIALS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

typedef struct modal_material_file {
    int32_t n_materials;
    modal_material *materials; /* [n_materials] in the order of the file; all pass the check */
    char **fibre_files;       /* [n_materials] the fibres' directions by element, beside the file of materials; NULL: none */
    int32_t n_groups;
    char **group_names;       /* [n_groups] of the mesh, in the order of the file */
    int32_t *group_materials; /* [n_groups] indices of materials */
    int32_t default_material; /* of elements in none of the groups, or -1 */
} modal_material_file;

/* `file` is overwritten; the caller frees it; after an error it is zeroed. MODAL_ERROR_INPUT
 * "m.json:12: /materials/spruce/young: what, value": no JSON, an unknown or missing key, a value of the
 * wrong type, a material that modal_material_check refuses, a group or default of an unknown material.
 * MODAL_ERROR_SYSTEM: a file that cannot be read. */
modal_status modal_materials_read(const char *path, modal_material_file *file, modal_error *err);

/* The same for text in memory, [length] bytes. */
modal_status modal_materials_parse(const char *text, size_t length, const char *path,
                                   modal_material_file *file, modal_error *err);

/* Frees everything inside and zeroes the struct; a zeroed struct is fine. */
void modal_material_file_free(modal_material_file *file);

#endif
