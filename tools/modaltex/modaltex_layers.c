/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/modaltex/modaltex_layers.h"

#include <limits.h>
#include <string.h>

#include "formats/images/image.h"
#include "formats/meshes/surface_read.h"
#include "formats/meshes/text_reader.h"
#include "formats/sequences/sequence_read.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"
#include "lib/octree/build.h"

void modaltex_layer_files_free(modaltex_layer_files *f)
{
    modal_surface_mesh_free(&f->mesh);
    for (int k = 0; k < 3; k++) {
        modal_free(&f->paths[k]);
        modal_free(&f->texels[k]);
    }
    modal_free(&f->images.texels);
    modal_free(&f->field);
    *f = (modaltex_layer_files){0};
}

modal_status modaltex_surface_check(const char *name, const modal_surface_mesh *s, const modal_octree *o, modal_error *err)
{
    char text[MODAL_HASH_TEXT];
    const modal_status status = modal_octree_sign(s->positions, s->n_vertices, s->triangles, s->n_triangles, text, err);
    if (status != MODAL_OK || strcmp(text, o->source_hash) == 0) return status;
    return modal_error_set(err, MODAL_ERROR_INPUT, "%s: another surface than the texture was built around, hash %s, not %s", name, text, o->source_hash);
}

static modal_status find_path(const char *layers_path, const char *name, char **path, modal_error *err)
{
    char folder[PATH_MAX + 1];
    if (!layers_path) return modal_copy_text(path, name, SIZE_MAX, err);
    if (!modal_path_folder(layers_path, 1, folder)) return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: its folder cannot be opened", layers_path);
    const modal_status status = modal_path_find(folder, name, 0, path, err);
    if (status != MODAL_OK) modal_error_context(err, "%s", name);
    return status;
}

/* Decodes image k and makes its levels. *head says its size. */
static modal_status read_image(const char *path, const char *name, modaltex_layer_files *f, int k, modal_image_head *head, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *bytes = NULL;
    int64_t length = 0;
    MODAL_TRY(modal_file_load(path, &bytes, &length, err));
    MODAL_TRY(modal_image_head_read(bytes, length, name, head, err));
    MODAL_TRY(modal_alloc(&f->texels[k], modal_mip_bytes(head->width, head->height), 1, "an image", err));
    MODAL_TRY(modal_image_decode(bytes, length, name, f->texels[k], err));
    MODAL_TRY(modal_mip_make(MODAL_MIP_COLOURS, -1, head->width, head->height, f->texels[k], err));
done:
    modal_free(&bytes);
    return status;
}

/* All images in one array of texels, as look-ups want them; one image for three axes is there once. */
static modal_status gather_images(modaltex_layer_files *f, const modal_image_head *heads, int n_files, int n_images, modal_error *err)
{
    uint8_t *texels = NULL;
    int64_t first = 0, bytes = 0;
    int32_t n_levels = 0;
    for (int k = 0; k < n_files; k++) bytes += modal_mip_bytes(heads[k].width, heads[k].height);
    const modal_status status = modal_alloc(&texels, bytes, 1, "images", err);
    if (status != MODAL_OK) return status;
    for (int k = 0; k < n_files; k++) {
        int32_t widths[MODAL_MIP_LEVELS], heights[MODAL_MIP_LEVELS];
        const int n = modal_mip_sizes(heads[k].width, heads[k].height, widths, heights);
        const int64_t own = modal_mip_bytes(heads[k].width, heads[k].height);
        memcpy(texels + 4 * first, f->texels[k], (size_t)own);
        modal_free(&f->texels[k]);
        f->heads[k] = (modal_paint_image){n_levels, n};
        for (int j = 0; j < n; j++) {
            f->levels[n_levels++] = (modal_paint_level){first, widths[j], heights[j]};
            first += (int64_t)widths[j] * heights[j];
        }
    }
    for (int k = n_files; k < n_images; k++) f->heads[k] = f->heads[0];
    for (int i = 0; i < 256; i++) f->linear[i] = modal_srgb_to_linear((uint8_t)i);
    f->images = (modal_paint){.images = f->heads, .levels = f->levels, .texels = texels, .linear = f->linear};
    return MODAL_OK;
}

/* The frame's values at the vertices of the surface, whose the sequence must be. */
static modal_status read_field(const char *path, const modal_layer *layer, const modal_surface_mesh *s, modaltex_layer_files *f, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sequence_surface q;
    modal_sequence_reader *reader = NULL;
    MODAL_TRY(modal_sequence_reader_open(&reader, path, &q, err));
    if (q.n_points != s->n_vertices || q.n_triangles != s->n_triangles)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: of another surface, %lld points and %lld triangles, not %lld and %lld", path, (long long)q.n_points,
                   (long long)q.n_triangles, (long long)s->n_vertices, (long long)s->n_triangles);
    for (int64_t i = 0; i < 3 * s->n_triangles; i++)
        if (q.triangles[i] != s->triangles[i])
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: of another surface, or in another order (modaldeform --order user): triangle %lld", path,
                       (long long)(i / 3));
    if (layer->frame >= q.n_frames)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: has frames 0 to %lld, %lld", path, (long long)q.n_frames - 1, (long long)layer->frame);
    MODAL_TRY(modal_alloc(&f->field, s->n_vertices, sizeof *f->field, "field", err));
    MODAL_TRY(modal_sequence_reader_field(reader, layer->field, layer->frame, f->field, err));
done:
    modal_sequence_reader_close(reader);
    return status;
}

modal_status modaltex_layer_files_read(const char *layers_path, const modal_layer *layer, const modal_octree *o, modaltex_layer_files *f,
                                       modal_layer_inputs *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_image_head heads[3];
    int64_t n_collapsed = 0;
    const int is_image = layer->kind == MODAL_LAYER_IMAGE || layer->kind == MODAL_LAYER_TRIPLANAR;
    *f = (modaltex_layer_files){0};
    for (int k = 0; k < layer->n_files; k++) {
        MODAL_TRY(find_path(layers_path, layer->files[k], &f->paths[k], err));
        if (is_image) MODAL_TRY(read_image(f->paths[k], layer->files[k], f, k, &heads[k], err));
    }
    if (layer->kind == MODAL_LAYER_FIELD) {
        MODAL_TRY(read_field(f->paths[0], layer, in->surface, f, err));
        in->field = f->field;
    } else if (is_image) {
        MODAL_TRY(gather_images(f, heads, layer->n_files, layer->kind == MODAL_LAYER_TRIPLANAR ? 3 : 1, err));
        in->images = &f->images;
    } else if (layer->n_files > 0) {
        MODAL_TRY(modal_surface_read(f->paths[0], &f->mesh, &n_collapsed, err));
        if (layer->kind == MODAL_LAYER_NORMALS) in->finer = &f->mesh;
        else in->coloured = &f->mesh;
    }
    if (layer->kind == MODAL_LAYER_COLOURS) {
        if (!f->mesh.colours)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: its vertices have no colours (red, green, blue of a .ply, bytes or floats)", layer->files[0]);
        if (f->mesh.n_clamped > 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: colours that are floats must be in 0 .. 1; vertices that are not: %lld", layer->files[0],
                       (long long)f->mesh.n_clamped);
        MODAL_TRY(modaltex_surface_check(layer->files[0], &f->mesh, o, err));
    }
done:
    return status;
}
