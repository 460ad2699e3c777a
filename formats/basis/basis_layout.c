/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/basis/basis_layout.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/memory.h"

/* ---- matrices by rows ---- */

modal_status modal_basis_layout(const modal_h5_in *in, const modal_h5_place *modes, int *plain)
{
    modal_status status = MODAL_OK;
    modal_h5_place matrix = {H5I_INVALID_HID, ""};
    char *text = NULL;
    *plain = 0;
    if (!modal_h5_has_link(modes, "modal_matrix")) return MODAL_OK;
    matrix.id = H5Dopen2(modes->id, "modal_matrix", H5P_DEFAULT);
    H5Eclear2(H5E_DEFAULT); /* that it is no dataset is found when it is read */
    snprintf(matrix.path, sizeof matrix.path, "%.160s/modal_matrix", modes->path);
    if (modal_h5_has_attribute(&matrix, "layout")) MODAL_TRY(modal_h5_read_text(in, &matrix, "layout", &text));
    if (text) *plain = strcmp(text, "vertex_major") == 0;
    if (text && !*plain && strcmp(text, "tile32") != 0) {
        char where[MODAL_H5_PATH];
        snprintf(where, sizeof where, "%.160s@layout", matrix.path);
        MODAL_TRY(modal_broken(&in->checker, where, "must be tile32 or vertex_major, is \"%.64s\"", text));
    }
done:
    modal_free(&text);
    modal_h5_leave(&matrix);
    return status;
}

void modal_basis_tile_rows(int64_t n_vertices, int64_t n_modes, const float *rows, float *tiles)
{
    const int64_t width = n_modes * 3 * MODAL_TILE;
    for (int64_t v = 0; v < modal_tile_count(n_vertices) * MODAL_TILE; v++) {
        float *to = tiles + v / MODAL_TILE * width + v % MODAL_TILE;
        for (int64_t i = 0; i < 3; i++)
            for (int64_t k = 0; k < n_modes; k++)
                to[(3 * k + i) * MODAL_TILE] = v < n_vertices ? rows[(3 * v + i) * n_modes + k] : 0.0f;
    }
}

modal_status modal_basis_read_plain(const modal_h5_in *in, const modal_h5_place *modes, int64_t n_vertices, int wanted,
                                    int64_t *n_modes, float **matrix)
{
    modal_status status = MODAL_OK;
    int64_t dims[3] = {n_vertices, 3, *n_modes}, tile = 0, size = 0;
    float *rows = NULL;
    *matrix = NULL;
    MODAL_TRY(modal_h5_read_array(in, modes, "modal_matrix", MODAL_H5_F32, 3, dims, MODAL_H5_REQUIRED,
                                  wanted && n_vertices >= 0 ? &rows : NULL));
    *n_modes = dims[2];
    if (!rows) goto done;
    if (!modal_size_multiply(dims[2], 3 * MODAL_TILE, &tile) ||
        !modal_size_multiply(modal_tile_count(n_vertices), tile, &size))
        MODAL_FAIL(in->checker.err, MODAL_ERROR_MEMORY, "%s/modal_matrix: size overflow", modes->path);
    MODAL_TRY(modal_alloc(matrix, size, sizeof **matrix, "modal matrix", in->checker.err));
    modal_basis_tile_rows(n_vertices, dims[2], rows, *matrix);
done:
    modal_free(&rows);
    return status;
}

/* ---- what others imply ---- */

modal_status modal_basis_implied(const modal_h5_in *in, const modal_h5_place *volume, modal_shape *s)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *v = &s->solid.mesh;
    char where[MODAL_H5_PATH];
    const int64_t n = v->n_elements;
    if (volume->id < 0) return MODAL_OK;
    if (v->element_type && !v->element_offsets) {
        int known = 1;
        MODAL_TRY(modal_alloc_zero(&v->element_offsets, n + 1, sizeof(int64_t), "elements", in->checker.err));
        for (int64_t e = 0; e < n && known; e++) {
            known = v->element_type[e] < MODAL_ELEMENT_TYPES;
            if (known) v->element_offsets[e + 1] = v->element_offsets[e] + modal_mesh_kind(v, e)->n_nodes;
        }
        if (!known) modal_free(&v->element_offsets);
    }
    if (!v->element_material)
        MODAL_TRY(modal_alloc_zero(&v->element_material, n, sizeof(int32_t), "elements", in->checker.err));
    if (modal_h5_has_link(volume, "inner_modes")) {
        snprintf(where, sizeof where, "%.160s/inner_modes", volume->path);
        if (modal_h5_has_link(volume, "volume_modes"))
            MODAL_TRY(modal_broken(&in->checker, where, "must not be there with volume_modes"));
        if (s->embedding.kind != MODAL_SURFACE_BOUNDARY || s->surface.n_vertices > v->n_nodes)
            MODAL_TRY(modal_broken(&in->checker, where, "is for a surface whose vertices are nodes"));
    }
done:
    return status;
}
