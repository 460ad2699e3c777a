/* SPDX-License-Identifier: Apache-2.0 */
/* The basis: no more of it than the motion needs. */
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "formats/basis/basis_tiles.h"
#include "lib/base/memory.h"
#include "lib/scene/needs.h"
#include "tools/modalsim/modalsim.h"

typedef struct wanted {
    const modalsim_request *r;
    const modal_scene *scene; /* or NULL: the flags */
} wanted;

static modal_status choose_parts(void *context, const modal_basis *basis, unsigned *parts, modal_error *err)
{
    static const unsigned of_need[] = {MODAL_BASIS_SURFACE, MODAL_BASIS_MATRIX, MODAL_BASIS_VOLUME,
                                       MODAL_BASIS_VOLUME_MODES, MODAL_BASIS_REDUCED}; /* of bit i */
    const wanted *w = context;
    (void)err;
    if (w->scene) modal_scene_needs(w->scene, basis, parts);
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        const unsigned needs = w->scene ? parts[i] : 0;
        parts[i] = MODAL_BASIS_MODES;
        for (int bit = 0; bit < 5; bit++)
            if (needs >> bit & 1) parts[i] |= of_need[bit];
    }
    if (w->r->n_impulses > 0) parts[basis->objects[0].shape] |= MODAL_BASIS_SURFACE;
    return MODAL_OK;
}

modal_status modalsim_basis_read(const modalsim_request *r, const modal_scene *scene, modal_basis *basis,
                                 int64_t *bytes, modal_error *err)
{
    wanted w = {r, scene};
    modal_status status =
        modal_basis_read_chosen(r->basis_path, choose_parts, &w, r->memory_limit, bytes, basis, err);
    if (status == MODAL_ERROR_MEMORY && r->memory_limit > 0) modal_error_context(err, "--memory-limit");
    return status;
}

modal_status modalsim_basis_tiles(const modalsim_request *r, modal_basis *basis, modal_basis_tiles **file, int32_t shape,
                                  int64_t n, const int64_t *tiles, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_shape *to = &basis->shapes[shape];
    const int64_t size = (int64_t)to->n_modes * 3 * MODAL_TILE;
    MODAL_TRY(modal_alloc(&to->matrix_tiles, n, sizeof *tiles, "tiles", err));
    MODAL_TRY(modal_alloc(&to->modal_matrix, n * size, sizeof(float), "modal matrix", err));
    memcpy(to->matrix_tiles, tiles, (size_t)n * sizeof *tiles);
    to->n_matrix_tiles = n;
    if (!*file) MODAL_TRY(modal_basis_tiles_open(file, r->basis_path, basis, NULL, err));
    for (int64_t i = 0; i < n; i++)
        MODAL_TRY(modal_basis_tiles_read(*file, shape, tiles[i], tiles[i] + 1, to->modal_matrix + i * size, err));
done:
    return status;
}
