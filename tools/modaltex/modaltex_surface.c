/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/modaltex/modaltex_surface.h"

#include <stdio.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "formats/meshes/surface_read.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

static int is_hdf5(const char *path)
{
    char start[8] = "";
    FILE *file = modal_disk_stream(path);
    if (!file) return 0;
    const size_t n = fread(start, 1, sizeof start, file);
    fclose(file);
    return n == sizeof start && memcmp(start, "\x89HDF\r\n\x1a\n", sizeof start) == 0;
}

modal_status modaltex_surface_read(const char *path, int64_t shape, modal_surface_mesh *surface, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis basis = {0};
    int64_t n_collapsed = 0;
    *surface = (modal_surface_mesh){0};
    if (!is_hdf5(path)) return modal_surface_read(path, surface, &n_collapsed, err);
    MODAL_TRY(modal_basis_read(path, MODAL_BASIS_SURFACE, &basis, err));
    if (shape >= basis.n_shapes) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shape: the basis has %d, %lld", basis.n_shapes, (long long)shape);
    const modal_surface *s = &basis.shapes[shape].surface;
    MODAL_TRY(modal_alloc(&surface->positions, 3 * s->n_vertices, sizeof *surface->positions, "surface", err));
    MODAL_TRY(modal_alloc(&surface->triangles, 3 * s->n_triangles, sizeof *surface->triangles, "surface", err));
    surface->n_vertices = s->n_vertices;
    surface->n_triangles = s->n_triangles;
    for (int64_t v = 0; v < s->n_vertices; v++)
        memcpy(surface->positions + 3 * (int64_t)s->user_vertex[v], s->rest_positions + 3 * v, 3 * sizeof *s->rest_positions);
    if (s->uv) {
        MODAL_TRY(modal_alloc(&surface->uv, 2 * s->n_uv, sizeof *surface->uv, "uv", err));
        MODAL_TRY(modal_alloc(&surface->triangle_uv, 3 * s->n_triangles, sizeof *surface->triangle_uv, "uv", err));
        surface->n_uv = s->n_uv;
        memcpy(surface->uv, s->uv, 2 * (size_t)s->n_uv * sizeof *s->uv);
        for (int64_t t = 0; t < s->n_triangles; t++)
            memcpy(surface->triangle_uv + 3 * (int64_t)s->user_triangle[t], s->triangle_uv + 3 * t, 3 * sizeof *s->triangle_uv);
    }
    for (int64_t t = 0; t < s->n_triangles; t++)
        for (int k = 0; k < 3; k++) surface->triangles[3 * (int64_t)s->user_triangle[t] + k] = s->user_vertex[s->triangles[3 * t + k]];
done:
    modal_basis_free(&basis);
    if (status != MODAL_OK) modal_surface_mesh_free(surface);
    return status;
}
