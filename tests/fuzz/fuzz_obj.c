/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/obj.h"
#include "tests/unit/readers_compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_surface_mesh surface;
    modal_error err = {0};
    modal_status status =
        modal_obj_parse((const char *)data, (int64_t)size, "fuzz", &surface, NULL, &err);
    if (status == MODAL_OK ? !surface_is_sound(&surface) || err.status != MODAL_OK
                           : surface.positions || surface.uv || err.status != status)
        abort();
    /* the names alone are the same */
    modal_surface_mesh names;
    modal_error of_names = {0};
    const modal_status named = modal_obj_parse_names((const char *)data, (int64_t)size, "fuzz", &names, &of_names);
    if (status == MODAL_OK) {
        if (named != MODAL_OK || names.n_libraries != surface.n_libraries) abort();
        if (names.n_materials != surface.n_materials && surface.n_materials > 0) abort(); /* 0: no face followed them */
        for (int32_t i = 0; i < surface.n_materials; i++)
            if (strcmp(names.material_names[i], surface.material_names[i]) != 0) abort();
        for (int32_t i = 0; i < names.n_libraries; i++)
            if (strcmp(names.libraries[i], surface.libraries[i]) != 0) abort();
    }
    modal_surface_mesh_free(&names);
    modal_surface_mesh_free(&surface);
    return 0;
}
