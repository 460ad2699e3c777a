/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/meshes/mesh_parse.h"
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
    modal_surface_mesh_free(&surface);
    return 0;
}
