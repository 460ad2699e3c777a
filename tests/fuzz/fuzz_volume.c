/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of volume meshes in other programs' formats; PARSE is one of them. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/meshes/mesh_parse.h"
#include "tests/unit/readers_compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef PAIR
/* TetGen's files .node, .ele and, where there is a second one, .face, with a zero byte between them. */
static modal_status parse(const char *data, int64_t size, modal_volume_mesh *mesh, modal_error *err)
{
    const char *end = data + size, *starts[3] = {data, end, NULL}, *ends[3] = {end, end, end};
    for (int i = 0; i < 2 && starts[i] && starts[i] < end; i++) {
        const char *zero = memchr(starts[i], 0, (size_t)(end - starts[i]));
        if (!zero) break;
        ends[i] = zero;
        starts[i + 1] = zero + 1;
    }
    const modal_tetgen_files files = {.node = {starts[0], "fuzz", ends[0] - starts[0]},
                                      .ele = {starts[1], "fuzz", ends[1] - starts[1]},
                                      .face = {starts[2], "fuzz", starts[2] ? end - starts[2] : 0}};
    return modal_tetgen_parse(&files, mesh, err);
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
