/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of volume meshes in other programs' formats; PARSE is one of them. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/mesh_parse.h"
#include "tests/unit/readers_compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef PAIR
/* Both of TetGen's files, with a zero byte between them. */
static modal_status parse(const char *data, int64_t size, modal_volume_mesh *mesh, modal_error *err)
{
    const char *zero = memchr(data, 0, (size_t)size);
    int64_t first = zero ? zero - data : size, second = zero ? size - first - 1 : 0;
    return modal_tetgen_parse(data, first, "fuzz", data + size - second, second, "fuzz", mesh, err);
}
#else
static modal_status parse(const char *data, int64_t size, modal_volume_mesh *mesh, modal_error *err)
{
    return PARSE(data, size, "fuzz", mesh, err);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_volume_mesh mesh;
    modal_error err = {0};
    modal_status status = parse((const char *)data, (int64_t)size, &mesh, &err);
    if (status == MODAL_OK ? !mesh_is_sound(&mesh) || err.status != MODAL_OK
                           : !mesh_is_zeroed(&mesh) || err.status != status || !*err.message)
        abort();
    modal_volume_mesh_free(&mesh);
    return 0;
}
