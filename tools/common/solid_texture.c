/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/solid_texture.h"

#include <string.h>

#include "lib/model/user_surface.h"
#include "lib/octree/build.h"

modal_status tool_solid_texture_read(const char *path, const modal_basis *basis, int anywhere, modal_octree_file *file, uint8_t *wears,
                                     int32_t *n_wear, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh mesh = {0};
    char text[MODAL_HASH_TEXT];
    *n_wear = 0;
    MODAL_TRY(modal_octree_read(path, file, err));
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        wears[i] = 0;
        if (basis->shapes[i].surface.n_triangles != file->octree.n_triangles) continue;
        MODAL_TRY(modal_user_surface(&basis->shapes[i].surface, &mesh, err));
        MODAL_TRY(modal_octree_sign(mesh.positions, mesh.n_vertices, mesh.triangles, mesh.n_triangles, text, err));
        modal_surface_mesh_free(&mesh);
        wears[i] = strcmp(text, file->octree.source_hash) == 0;
        *n_wear += wears[i];
    }
    if (*n_wear == 0 && !anywhere)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: built around no surface of the basis, hash %s", path, file->octree.source_hash);
done:
    modal_surface_mesh_free(&mesh);
    return status;
}
