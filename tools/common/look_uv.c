/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "formats/meshes/surface_read.h"
#include "lib/base/memory.h"
#include "lib/model/user_surface.h"
#include "tools/common/look.h"

static int is_same(const modal_surface_mesh *a, const modal_surface_mesh *b)
{
    return a->n_vertices == b->n_vertices && a->n_triangles == b->n_triangles &&
           memcmp(a->positions, b->positions, 3 * (size_t)a->n_vertices * sizeof *a->positions) == 0 &&
           memcmp(a->triangles, b->triangles, 3 * (size_t)a->n_triangles * sizeof *a->triangles) == 0;
}

/* The shape's surface gets the texture coordinates of a file with the same one, in the user's order. */
static modal_status put_uv(const modal_surface_mesh *from, modal_surface *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_free(&to->uv);
    modal_free(&to->triangle_uv);
    to->n_uv = 0;
    MODAL_TRY(modal_alloc(&to->uv, 2 * from->n_uv, sizeof *to->uv, "uv", err));
    MODAL_TRY(modal_alloc(&to->triangle_uv, 3 * to->n_triangles, sizeof *to->triangle_uv, "uv", err));
    memcpy(to->uv, from->uv, 2 * (size_t)from->n_uv * sizeof *to->uv);
    for (int64_t t = 0; t < to->n_triangles; t++)
        memcpy(to->triangle_uv + 3 * t, from->triangle_uv + 3 * (int64_t)to->user_triangle[t], 3 * sizeof *to->triangle_uv);
    to->n_uv = from->n_uv;
done:
    if (status != MODAL_OK) modal_free(&to->uv);
    return status;
}

static modal_status take_file(const tool_look *look, const char *name, modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh file = {0}, own = {0};
    char *path = NULL;
    int found = 0;
    MODAL_TRY(tool_look_image(look, name, &path, err));
    MODAL_TRY(modal_surface_read(path, &file, NULL, err));
    if (!file.triangle_uv || file.n_uv == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: has no texture coordinates", path);
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        MODAL_TRY(modal_user_surface(&basis->shapes[i].surface, &own, err));
        if (is_same(&file, &own)) {
            MODAL_TRY(put_uv(&file, &basis->shapes[i].surface, err));
            found = 1;
        }
        modal_surface_mesh_free(&own);
    }
    if (!found) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no shape has the same vertices and triangles, as its texture coordinates need", path);
done:
    modal_surface_mesh_free(&file);
    modal_surface_mesh_free(&own);
    modal_free(&path);
    return status;
}

modal_status tool_look_uv(const tool_look *look, const char *path, modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < look->look.n_uv; i++) {
        status = take_file(look, look->look.uv[i], basis, err);
        if (status == MODAL_OK) continue;
        if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s: /uv/%d", path, i);
        break;
    }
    return status;
}
