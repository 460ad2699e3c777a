/* SPDX-License-Identifier: Apache-2.0 */
/* The basis: no more of it than the motion needs. */
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "formats/basis/basis_tiles.h"
#include "lib/base/memory.h"
#include "lib/forest/deformation.h"
#include "lib/scene/needs.h"
#include "tools/modalsim/modalsim.h"

typedef struct wanted {
    const modalsim_request *r;
    const modal_scene *scene; /* or NULL: the flags */
    uint8_t *solids;   /* [shapes] whose solids are to be looked at, or NULL: none */
    uint8_t *surfaces; /* [shapes] the same of linear motion's displacements */
    int less;          /* 1: nothing is looked at that need not be */
} wanted;

/* Of a shape, and of all together: what reading and preparing takes less than about a second for. */
static const int64_t MOST_BYTES = INT64_C(64) << 20, MOST_ALL_BYTES = INT64_C(256) << 20, MOST_WORK = INT64_C(400000000);
/* Linear motion takes no time to speak of: of its solids, what prepares in a fifth of a second, unless they say how far it goes. */
static const int64_t MOST_LINEAR_WORK = INT64_C(10000000);
enum { MOST_LINEAR_SHAPES = 128 }; /* each takes a millisecond, as it has arrays to open */

/* Of linear motion: the shapes whose displacements and strains are looked at, by their counts. */
static modal_status choose_range(const modalsim_request *r, uint8_t **solids, uint8_t **surfaces, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis counts = {0};
    int64_t bytes = 0, work = 0;
    MODAL_TRY(modal_basis_read(r->basis_path, 0, &counts, err));
    if (counts.n_shapes > MOST_LINEAR_SHAPES && r->quality != MODALSIM_QUALITY_FULL) goto done;
    MODAL_TRY(modal_alloc_zero(solids, counts.n_shapes, 1, "shapes", err));
    MODAL_TRY(modal_alloc_zero(surfaces, counts.n_shapes, 1, "shapes", err));
    for (int32_t i = 0; i < counts.n_shapes; i++) {
        const modal_shape *shape = &counts.shapes[i];
        int64_t own = modal_tile_count(shape->surface.n_vertices) * MODAL_TILE * (12 * (int64_t)shape->modes.n_modes + 36);
        const int full = r->quality == MODALSIM_QUALITY_FULL;
        (*surfaces)[i] = full || (own <= MOST_BYTES && bytes + own <= MOST_ALL_BYTES);
        bytes += (*surfaces)[i] ? own : 0;
        own = modal_deformation_bytes(shape);
        (*solids)[i] = full || ((*surfaces)[i] && own <= MOST_BYTES && bytes + own <= MOST_ALL_BYTES &&
                                work + modal_deformation_work(shape) <= (r->plucks ? MOST_WORK : MOST_LINEAR_WORK));
        bytes += (*solids)[i] ? own : 0;
        work += (*solids)[i] ? modal_deformation_work(shape) : 0;
    }
done:
    modal_basis_free(&counts);
    return status;
}

static modal_status choose_parts(void *context, const modal_basis *basis, unsigned *parts, modal_error *err)
{
    static const unsigned of_need[] = {MODAL_BASIS_SURFACE, MODAL_BASIS_MATRIX, MODAL_BASIS_VOLUME,
                                       MODAL_BASIS_VOLUME_MODES, MODAL_BASIS_REDUCED}; /* of bit i */
    wanted *w = context;
    const int judges = w->r->quality != MODALSIM_QUALITY_STEPS;
    if (w->scene) modal_scene_needs(w->scene, basis, parts);
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        const unsigned needs = w->scene ? parts[i] : 0;
        parts[i] = MODAL_BASIS_MODES;
        for (int bit = 0; bit < 5; bit++)
            if (needs >> bit & 1) parts[i] |= of_need[bit];
        if (judges && !w->less) parts[i] |= MODAL_BASIS_LEFT_OUT;
        if (!w->less && w->solids && w->solids[i]) parts[i] |= MODAL_BASIS_VOLUME | MODAL_BASIS_VOLUME_MODES;
        if (w->r->amplitude > 0 || w->r->plucks || (!w->less && w->surfaces && w->surfaces[i]))
            parts[i] |= MODAL_BASIS_SURFACE | MODAL_BASIS_MATRIX;
    }
    if (w->r->n_impulses > 0) parts[basis->objects[0].shape] |= MODAL_BASIS_SURFACE;
    (void)err;
    return MODAL_OK;
}

/* The shapes whose solids are looked at, by their counts. */
static modal_status choose_solids(const modalsim_request *r, uint8_t **solids, int32_t *n_passed, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis counts = {0};
    int64_t bytes = 0;
    MODAL_TRY(modal_basis_read(r->basis_path, 0, &counts, err));
    MODAL_TRY(modal_alloc_zero(solids, counts.n_shapes, 1, "shapes", err));
    for (int32_t i = 0; i < counts.n_shapes; i++) {
        const modal_shape *shape = &counts.shapes[i];
        const int64_t own = modal_deformation_bytes(shape);
        const int fits = own <= MOST_BYTES && bytes + own <= MOST_ALL_BYTES && modal_deformation_work(shape) <= MOST_WORK;
        (*solids)[i] = r->quality == MODALSIM_QUALITY_FULL || fits;
        bytes += (*solids)[i] ? own : 0;
        *n_passed += !(*solids)[i];
    }
done:
    modal_basis_free(&counts);
    return status;
}

modal_status modalsim_basis_read(const modalsim_request *r, const modal_scene *scene, modal_basis *basis,
                                 int64_t *bytes, int32_t *n_passed, modal_error *err)
{
    modal_status status = MODAL_OK;
    wanted w = {.r = r, .scene = scene};
    *n_passed = 0;
    if (scene && !scene->response.given && r->quality != MODALSIM_QUALITY_STEPS)
        MODAL_TRY(choose_solids(r, &w.solids, n_passed, err));
    if (!scene && (r->quality != MODALSIM_QUALITY_STEPS || r->plucks)) MODAL_TRY(choose_range(r, &w.solids, &w.surfaces, err));
    status = modal_basis_read_chosen(r->basis_path, choose_parts, &w, r->memory_limit, bytes, basis, err);
    if (status == MODAL_ERROR_MEMORY && r->memory_limit > 0 && (w.solids || w.surfaces) &&
        (!scene || r->quality == MODALSIM_QUALITY_AUTO)) {
        *err = (modal_error){0};
        w.less = 1;
        status = modal_basis_read_chosen(r->basis_path, choose_parts, &w, r->memory_limit, bytes, basis, err);
        if (status == MODAL_OK) *n_passed = basis->n_shapes;
    }
    if (status == MODAL_ERROR_MEMORY && r->memory_limit > 0) modal_error_context(err, "--memory-limit");
done:
    modal_free(&w.solids);
    modal_free(&w.surfaces);
    return status;
}

modal_status modalsim_basis_tiles(const modalsim_request *r, modal_basis *basis, modal_basis_tiles **file, int32_t shape,
                                  int64_t n, const int64_t *tiles, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_shape *to = &basis->shapes[shape];
    const int64_t size = (int64_t)to->modes.n_modes * 3 * MODAL_TILE;
    MODAL_TRY(modal_alloc(&to->modes.matrix_tiles, n, sizeof *tiles, "tiles", err));
    MODAL_TRY(modal_alloc(&to->modes.modal_matrix, n * size, sizeof(float), "modal matrix", err));
    memcpy(to->modes.matrix_tiles, tiles, (size_t)n * sizeof *tiles);
    to->modes.n_matrix_tiles = n;
    if (!*file) MODAL_TRY(modal_basis_tiles_open(file, r->basis_path, basis, NULL, err));
    for (int64_t i = 0; i < n; i++)
        MODAL_TRY(modal_basis_tiles_read(*file, shape, tiles[i], tiles[i] + 1, to->modes.modal_matrix + i * size, err));
done:
    return status;
}
