/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/modaltex/modaltex_surface.h"

#include <stdio.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "formats/meshes/surface_read.h"
#include "lib/base/disk.h"
#include "lib/model/user_surface.h"

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
    if (!is_hdf5(path)) {
        if (shape > 0) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shape: %s is no basis, %lld", path, (long long)shape);
        return modal_surface_read(path, surface, &n_collapsed, err);
    }
    MODAL_TRY(modal_basis_read(path, MODAL_BASIS_SURFACE, &basis, err));
    if (shape >= basis.n_shapes) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shape: the basis has %d, %lld", basis.n_shapes, (long long)shape);
    MODAL_TRY(modal_user_surface(&basis.shapes[shape].surface, surface, err));
done:
    modal_basis_free(&basis);
    if (status != MODAL_OK) modal_surface_mesh_free(surface);
    return status;
}
