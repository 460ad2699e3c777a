/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/meshes/mesh_parse.h"
#include "tests/unit/readers_compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_volume_mesh mesh;
    modal_error err = {0};
    modal_status status = modal_veg_parse((const char *)data, (int64_t)size, "fuzz", &mesh, &err);
    if (status == MODAL_OK ? !mesh_is_sound(&mesh) || err.status != MODAL_OK
                           : !mesh_is_zeroed(&mesh) || err.status != status || !*err.message)
        abort();
    modal_volume_mesh_free(&mesh);
    return 0;
}
