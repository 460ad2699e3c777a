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
    modal_free(&forces->quartic);
}

void modal_surface_free(modal_surface *surface)
{
    modal_free(&surface->rest_positions);
    modal_free(&surface->triangles);
    modal_free(&surface->user_vertex);
    modal_free(&surface->user_triangle);
    modal_free(&surface->uv);
    modal_free(&surface->triangle_uv);
    modal_free(&surface->face_offsets);
    modal_free(&surface->faces);
    modal_free(&surface->boundary);
    memset(surface, 0, sizeof *surface);
}

void modal_left_out_free(modal_left_out *left_out)
{
    modal_reduced_forces_free(&left_out->forces);
    modal_free(&left_out->slow_eigenvalues);
    modal_free(&left_out->slow_participation);
    modal_free(&left_out->slow_scales);
    modal_free(&left_out->slow_bytes);
    modal_free(&left_out->slow_matrix);
    left_out->n = left_out->n_slow = 0;
}

void modal_modes_free(modal_modes *modes)
{
    modal_free(&modes->modal_matrix);
    modal_free(&modes->matrix_tiles);
    modal_free(&modes->eigenvalues);
    modal_free(&modes->frequencies);
    modal_free(&modes->modal_masses);
    modal_free(&modes->residuals);
    modal_free(&modes->orthogonality);
    modal_free(&modes->sturm_count);
    modal_free(&modes->participation);
    modal_free(&modes->rigid_eigenvalues);
    modal_reduced_forces_free(&modes->reduced_forces);
    modal_left_out_free(&modes->left_out);
    memset(modes, 0, sizeof *modes);
}

void modal_solid_free(modal_solid *solid)
{
    modal_volume_mesh_free(&solid->mesh);
    modal_free(&solid->fixed_nodes);
    modal_free(&solid->fixed_components);
    modal_free(&solid->volume_modes);
    modal_free(&solid->volume_modes_float);
    modal_free(&solid->inner_modes);
    memset(solid, 0, sizeof *solid);
}

void modal_embedding_free(modal_embedding *embedding)
{
    modal_free(&embedding->offsets);
    modal_free(&embedding->nodes);
    modal_free(&embedding->weights);
    memset(embedding, 0, sizeof *embedding);
}

int32_t modal_look_count(const modal_shape_look *look)
{
    int32_t count = 0;
    for (int64_t i = 0; i < look->names_bytes; i++) count += look->material_names[i] == '\n';
    return count;
}

const char *modal_look_name(const modal_shape_look *look, int32_t number, int64_t *length)
{
    const char *name = (const char *)look->material_names, *end = name ? name + look->names_bytes : NULL;
    for (; name < end; number--) {
        const char *stop = memchr(name, '\n', (size_t)(end - name));
        if (!stop) return NULL;
        if (number == 0) {
            *length = stop - name;
            return name;
        }
        name = stop + 1;
    }
    return NULL;
}

void modal_shape_look_free(modal_shape_look *look)
{
    modal_free(&look->triangle_material);
    modal_free(&look->material_names);
    modal_free(&look->triangle_normal);
    memset(look, 0, sizeof *look);
}

void modal_shape_free(modal_shape *shape)
{
    modal_free(&shape->name);
    modal_free(&shape->file);
    modal_free(&shape->file_problem);
    modal_surface_free(&shape->surface);
    modal_modes_free(&shape->modes);
    modal_solid_free(&shape->solid);
    modal_embedding_free(&shape->embedding);
    modal_shape_look_free(&shape->look);
    memset(shape, 0, sizeof *shape);
}

const float *modal_shape_tile(const modal_shape *s, int64_t tile)
{
    int64_t low = 0, high = s->modes.n_matrix_tiles; /* the first that is not before */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (s->modes.matrix_tiles[middle] < tile)
            low = middle + 1;
        else
            high = middle;
    }
    assert(s->modes.modal_matrix && (!s->modes.matrix_tiles || (low < s->modes.n_matrix_tiles && s->modes.matrix_tiles[low] == tile)));
    return s->modes.modal_matrix + (s->modes.matrix_tiles ? low : tile) * s->modes.n_modes * 3 * MODAL_TILE;
}

void modal_provenance_free(modal_provenance *provenance)
{
    modal_free(&provenance->tool);
    modal_free(&provenance->version);
    modal_free(&provenance->arguments);
    modal_free(&provenance->inputs);
    modal_free(&provenance->back_end);
    modal_free(&provenance->quality);
    modal_free(&provenance->assumed_material);
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

static modal_status copy_step(modal_provenance *to, const modal_provenance *from, modal_error *err)
{
    modal_status status = MODAL_OK;
    *to = (modal_provenance){0};
    MODAL_TRY(modal_copy_text(&to->tool, from->tool, SIZE_MAX, err));
    MODAL_TRY(modal_copy_text(&to->version, from->version, SIZE_MAX, err));
    MODAL_TRY(modal_copy_text(&to->arguments, from->arguments, SIZE_MAX, err));
    MODAL_TRY(modal_copy_text(&to->inputs, from->inputs, SIZE_MAX, err));
    MODAL_TRY(modal_copy_text(&to->back_end, from->back_end, SIZE_MAX, err));
    if (from->quality) MODAL_TRY(modal_copy_text(&to->quality, from->quality, SIZE_MAX, err));
    if (from->assumed_material) MODAL_TRY(modal_copy_text(&to->assumed_material, from->assumed_material, SIZE_MAX, err));
done:
    if (status != MODAL_OK) modal_provenance_free(to);
    return status;
}

const char *modal_provenance_assumed(const modal_provenance *steps, int32_t n_steps)
{
    for (int32_t i = 0; i < n_steps; i++)
        if (steps[i].assumed_material) return steps[i].assumed_material;
    return NULL;
}

modal_status modal_provenance_append_copies(modal_provenance **list, int32_t *count, const modal_provenance *steps, int32_t n_steps,
                                            modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_provenance *longer = NULL;
    int32_t n_copied = 0;
    if (n_steps == 0) return MODAL_OK;
    if (n_steps > INT32_MAX - *count) MODAL_FAIL(err, MODAL_ERROR_INPUT, "provenance: more than 2^31 steps");
    MODAL_TRY(modal_alloc(&longer, (int64_t)*count + n_steps, sizeof *longer, "provenance", err));
    for (; n_copied < n_steps; n_copied++) MODAL_TRY(copy_step(&longer[*count + n_copied], &steps[n_copied], err));
    if (*count > 0) memcpy(longer, *list, (size_t)*count * sizeof *longer);
    modal_free(list);
    *list = longer;
    *count += n_steps;
    return MODAL_OK;
done:
    for (int32_t i = 0; i < n_copied; i++) modal_provenance_free(&longer[*count + i]);
    modal_free(&longer);
    return status;
}

modal_status modal_provenance_append(modal_provenance **list, int32_t *count, const char *tool,
                                     const char *version, const char *arguments,
                                     const char *inputs, const char *back_end, modal_error *err)
{
    /* only read, and copied */
    const modal_provenance step = {.tool = (char *)tool, .version = (char *)version, .arguments = (char *)arguments, .inputs = (char *)inputs,
                                   .back_end = (char *)back_end};
    return modal_provenance_append_copies(list, count, &step, 1, err);
}

int64_t modal_basis_mode_offsets(const modal_basis *basis, int64_t *offsets)
{
    int64_t total = 0;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        if (offsets) offsets[i] = total;
        total += basis->shapes[basis->objects[i].shape].modes.n_modes;
    }
    if (offsets) offsets[basis->n_objects] = total;
    return total;
}
