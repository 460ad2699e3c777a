/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/basis.h"

#include <assert.h>
#include <string.h>

#include "lib/base/memory.h"

void modal_reduced_forces_free(modal_reduced_forces *forces)
{
    modal_free(&forces->linear);
    modal_free(&forces->quadratic);
    modal_free(&forces->cubic);
}

void modal_shape_free(modal_shape *shape)
{
    modal_free(&shape->name);
    modal_free(&shape->file);
    modal_free(&shape->file_problem);
    modal_free(&shape->rest_positions);
    modal_free(&shape->triangles);
    modal_free(&shape->user_vertex);
    modal_free(&shape->user_triangle);
    modal_free(&shape->uv);
    modal_free(&shape->triangle_uv);
    modal_free(&shape->face_offsets);
    modal_free(&shape->faces);
    modal_free(&shape->ring_offsets);
    modal_free(&shape->ring);
    modal_free(&shape->boundary);
    modal_free(&shape->modal_matrix);
    modal_free(&shape->matrix_tiles);
    modal_free(&shape->eigenvalues);
    modal_free(&shape->frequencies);
    modal_free(&shape->modal_masses);
    modal_free(&shape->residuals);
    modal_free(&shape->orthogonality);
    modal_free(&shape->sturm_count);
    modal_free(&shape->participation);
    modal_free(&shape->rigid_eigenvalues);
    modal_reduced_forces_free(&shape->reduced_forces);
    modal_volume_mesh_free(&shape->volume);
    modal_free(&shape->fixed_nodes);
    modal_free(&shape->fixed_components);
    modal_free(&shape->volume_modes);
    modal_free(&shape->volume_modes_float);
    modal_free(&shape->inner_modes);
    modal_free(&shape->embedding_offsets);
    modal_free(&shape->embedding_nodes);
    modal_free(&shape->embedding_weights);
    memset(shape, 0, sizeof *shape);
}

const float *modal_shape_tile(const modal_shape *s, int64_t tile)
{
    int64_t low = 0, high = s->n_matrix_tiles; /* the first that is not before */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (s->matrix_tiles[middle] < tile)
            low = middle + 1;
        else
            high = middle;
    }
    assert(s->modal_matrix && (!s->matrix_tiles || (low < s->n_matrix_tiles && s->matrix_tiles[low] == tile)));
    return s->modal_matrix + (s->matrix_tiles ? low : tile) * s->n_modes * 3 * MODAL_TILE;
}

void modal_provenance_free(modal_provenance *provenance)
{
    modal_free(&provenance->tool);
    modal_free(&provenance->version);
    modal_free(&provenance->arguments);
    modal_free(&provenance->inputs);
    modal_free(&provenance->back_end);
}

void modal_basis_free(modal_basis *basis)
{
    for (int32_t i = 0; i < basis->n_shapes; i++) modal_shape_free(&basis->shapes[i]);
    for (int32_t i = 0; i < basis->n_provenance; i++) modal_provenance_free(&basis->provenance[i]);
    modal_free(&basis->shapes);
    modal_free(&basis->objects);
    modal_free(&basis->provenance);
    memset(basis, 0, sizeof *basis);
}

modal_status modal_provenance_append(modal_provenance **list, int32_t *count, const char *tool,
                                     const char *version, const char *arguments,
                                     const char *inputs, const char *back_end, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_provenance *longer = NULL, step = {0};
    MODAL_TRY(modal_copy_text(&step.tool, tool, SIZE_MAX, err));
    MODAL_TRY(modal_copy_text(&step.version, version, SIZE_MAX, err));
    MODAL_TRY(modal_copy_text(&step.arguments, arguments, SIZE_MAX, err));
    MODAL_TRY(modal_copy_text(&step.inputs, inputs, SIZE_MAX, err));
    MODAL_TRY(modal_copy_text(&step.back_end, back_end, SIZE_MAX, err));
    MODAL_TRY(modal_alloc(&longer, *count + 1, sizeof *longer, "provenance", err));
    if (*count > 0) memcpy(longer, *list, (size_t)*count * sizeof *longer);
    longer[*count] = step;
    memset(&step, 0, sizeof step);
    modal_free(list);
    *list = longer;
    (*count)++;
done:
    modal_provenance_free(&step);
    return status;
}

int64_t modal_basis_mode_offsets(const modal_basis *basis, int64_t *offsets)
{
    int64_t total = 0;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        if (offsets) offsets[i] = total;
        total += basis->shapes[basis->objects[i].shape].n_modes;
    }
    if (offsets) offsets[basis->n_objects] = total;
    return total;
}
