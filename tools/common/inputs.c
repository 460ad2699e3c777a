/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/inputs.h"
#include "tools/common/pipes.h"

#include <stdio.h>
#include <string.h>

#include "formats/json/materials.h"
#include "lib/base/hash.h"
#include "lib/base/memory.h"

modal_status tool_add_input(const char *path, char **inputs, int64_t *used, int64_t *room, modal_error *err)
{
    modal_status status = MODAL_OK;
    char hash[MODAL_HASH_TEXT];
    MODAL_TRY(modal_hash_file(path, hash, err));
    const int64_t length = (int64_t)strlen(path) + MODAL_HASH_TEXT + 4;
    MODAL_TRY(modal_grow(inputs, room, *used + length, 1, "provenance", err));
    *used += snprintf(*inputs + *used, (size_t)length, "%s%s  %s", *used ? "\n" : "", hash, tool_pipe_shown(path));
done:
    return status;
}

modal_status tool_add_material_inputs(const char *path, char **inputs, int64_t *used, int64_t *room, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_material_file file = {0};
    MODAL_TRY(tool_add_input(path, inputs, used, room, err));
    MODAL_TRY(modal_materials_read(path, &file, err));
    for (int32_t i = 0; i < file.n_materials; i++)
        if (file.fibre_files[i]) MODAL_TRY(tool_add_input(file.fibre_files[i], inputs, used, room, err));
done:
    modal_material_file_free(&file);
    return status;
}
