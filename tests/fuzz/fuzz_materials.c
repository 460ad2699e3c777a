/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/json/materials.h"
#include "lib/model/material.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_material_file file;
    modal_error err = {0};
    modal_status status = modal_materials_parse((const char *)data, size, "fuzz", &file, &err);
    if (status != err.status || (status != MODAL_OK && !err.message[0])) abort();
    for (int32_t i = 0; i < file.n_materials; i++)
        if (!file.materials[i].name || modal_material_check(&file.materials[i], NULL) != MODAL_OK) abort();
    for (int32_t g = 0; g < file.n_groups; g++)
        if (file.group_materials[g] < 0 || file.group_materials[g] >= file.n_materials) abort();
    if (status == MODAL_OK && (file.n_materials < 1 || file.default_material >= file.n_materials)) abort();
    modal_material_file_free(&file);
    return 0;
}
