/* SPDX-License-Identifier: Apache-2.0 */
/* modaldeform --texture: values of an octree texture at the points, the same in every frame: vtkhdf has them once, ply and glb those that are
 * colours. */
#include <string.h>

#include "formats/sequences/sequence_glb.h"
#include "formats/sequences/sequence_ply.h"
#include "formats/sequences/sequence_vtkhdf.h"
#include "lib/base/memory.h"
#include "lib/octree/grid.h"
#include "tools/common/solid_texture.h"
#include "tools/modaldeform/modaldeform.h"

modal_status modaldeform_check_texture(const tool_arguments *a, modaldeform_request *r, modal_error *err)
{
    int shown = r->dry;
    r->texture_path = tool_value(a, "texture");
    if (!r->texture_path) return MODAL_OK;
    for (int i = 0; i < r->n_formats; i++)
        shown |= r->formats[i] == &modal_sequence_vtkhdf || r->formats[i] == &modal_sequence_ply || r->formats[i] == &modal_sequence_glb;
    if (!shown) return modal_error_set(err, MODAL_ERROR_USAGE, "--texture: only vtkhdf, ply and glb have room for it, --format %s", tool_value(a, "format"));
    if (r->volume) return modal_error_set(err, MODAL_ERROR_USAGE, "--texture: not with --output-mesh volume, it is of surfaces");
    return MODAL_OK;
}

/* Values of a shape's vertices, [n_vertices] of `bytes` each, as stored. */
static modal_status sample_shape(const modal_octree_tables *tables, const modal_surface *s, void *values, int64_t *n_outside, modal_error *err)
{
    return modal_octree_sample(tables, MODAL_OCTREE_TRILINEAR, s->rest_positions, s->n_vertices, values, NULL, n_outside, err);
}

static modal_status fill(const modaldeform_request *r, const modal_basis *b, const modal_octree_tables *tables, const uint8_t *wears, char *values,
                         int64_t *n_outside, modal_error *err)
{
    modal_status status = MODAL_OK;
    const size_t bytes = modal_octree_value_bytes(tables->grid.channels);
    const int white = tables->grid.channels == MODAL_OCTREE_RGBA8 ? 255 : 0;
    char *own = NULL;
    int64_t most = 0, first = 0, outside = 0;
    for (int32_t i = 0; i < b->n_shapes; i++)
        if (b->shapes[i].surface.n_vertices > most) most = b->shapes[i].surface.n_vertices;
    MODAL_TRY(modal_alloc(&own, most, bytes, "texture", err));
    for (int32_t i = 0, held = -1; i < b->n_objects; i++) {
        const int32_t shape = b->objects[i].shape;
        const modal_surface *s = &b->shapes[shape].surface;
        if (shape != held && wears[shape]) {
            MODAL_TRY(sample_shape(tables, s, own, &outside, err));
            *n_outside += outside;
            held = shape;
        }
        for (int64_t v = 0; v < s->n_vertices; v++) {
            char *to = values + bytes * (size_t)(first + (r->deform.stored_order ? v : s->user_vertex[v]));
            if (wears[shape]) memcpy(to, own + bytes * (size_t)v, bytes);
            else memset(to, white, bytes);
        }
        first += s->n_vertices;
    }
done:
    modal_free(&own);
    return status;
}

static modal_status check_formats(tool *t, const modaldeform_request *r, modal_octree_channels channels, modal_error *err)
{
    int n = 0;
    if (channels == MODAL_OCTREE_RGBA8) return MODAL_OK;
    for (int i = 0; i < r->n_formats; i++) {
        n += r->formats[i] == &modal_sequence_vtkhdf;
        if (r->formats[i] == &modal_sequence_ply || r->formats[i] == &modal_sequence_glb)
            tool_note(t, "--texture: of %s, left out of %s", modal_octree_channels_name(channels), r->formats[i]->name);
    }
    if (n == 0 && !r->dry)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: only vtkhdf has room for a texture of %s", r->texture_path, modal_octree_channels_name(channels));
    return MODAL_OK;
}

modal_status modaldeform_read_texture(tool *t, const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *b = &in->basis;
    modal_octree_file file = {0};
    modal_octree_tables tables = {0};
    modal_hash *hash = NULL;
    uint8_t *wears = NULL;
    int32_t n_wear = 0;
    int64_t n_outside = 0;
    if (!r->texture_path) return MODAL_OK;
    const double start = tool_seconds();
    MODAL_TRY(modal_alloc(&wears, b->n_shapes, 1, "texture", err));
    MODAL_TRY(tool_solid_texture_read(r->texture_path, b, 0, &file, wears, &n_wear, err));
    const modal_octree_channels channels = file.octree.channels;
    MODAL_TRY(check_formats(t, r, channels, err));
    MODAL_TRY(modal_octree_tables_make(&file.octree, &tables, err));
    MODAL_TRY(modal_alloc(&in->texture_values, in->n_points, modal_octree_value_bytes(channels), "texture", err));
    MODAL_TRY(fill(r, b, &tables, wears, in->texture_values, &n_outside, err));
    if (n_outside > 0) tool_warn(t, "%s: %lld vertices are outside of the texture, they get 0", r->texture_path, (long long)n_outside);
    if (n_wear < b->n_shapes)
        tool_note(t, "%s: built around %d of %d shapes; others are %s", r->texture_path, n_wear, b->n_shapes, channels == MODAL_OCTREE_RGBA8 ? "white" : "0");
    in->texture = (modal_sequence_texture){.components = channels == MODAL_OCTREE_FLOAT3 ? 3 : 1};
    if (channels == MODAL_OCTREE_RGBA8) in->texture.colours = in->texture_values;
    else in->texture.numbers = in->texture_values;
    MODAL_TRY(modal_hash_new(&hash, err));
    modal_hash_array(hash, "texture", in->texture_values, in->n_points, modal_octree_value_bytes(channels));
    modal_hash_text(hash, in->texture_hash);
    modal_hash_delete(hash);
    tool_stage(t, "texture", tool_seconds() - start, -1);
done:
    modal_octree_tables_free(&tables);
    modal_octree_file_free(&file);
    modal_free(&wears);
    return status;
}
