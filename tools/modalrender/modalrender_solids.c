/* SPDX-License-Identifier: Apache-2.0 */
/* The octree textures of a look, as a scene takes them (lib/render/scene.h). */
#include <string.h>

#include "lib/base/memory.h"
#include "lib/texture/mips.h"
#include "tools/common/solid_texture.h"
#include "tools/modalrender/modalrender.h"

void modalrender_choose_textures(const modalrender_request *r, modal_look *look)
{
    for (int32_t i = 0; i < look->n_materials && r->texture != MODALRENDER_AUTO; i++)
        for (int role = 0; role < 2; role++) {
            modal_look_material *m = &look->materials[i];
            const char *solid = modal_look_solid(m, role), *image = modal_look_image(m, role);
            if (!solid || !image) continue;
            if (r->texture == MODALRENDER_ATLAS) modal_free(role ? &m->normal_octree : &m->octree);
            else modal_free(role ? &m->normal_image : &m->image);
        }
}

/* Normals of rgba8 as numbers: means of those are not means of light. */
static modal_status unpack_normals(modal_octree *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *numbers = NULL;
    const uint8_t *bytes = o->values;
    if (o->channels == MODAL_OCTREE_FLOAT3) return MODAL_OK;
    MODAL_TRY(modal_alloc(&numbers, 3 * o->n_samples, sizeof *numbers, "normals", err));
    for (int64_t i = 0; i < o->n_samples; i++)
        for (int k = 0; k < 3; k++) numbers[3 * i + k] = ((float)bytes[4 * i + k] - 128) / 127;
    modal_free(&o->values);
    modal_free(&o->mipmaps);
    o->values = numbers;
    o->channels = MODAL_OCTREE_FLOAT3;
done:
    return status;
}

/* The image that a file holds, with its levels, for colours. */
static modal_status take_image(modal_octree_file *file, modalrender_solid *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (!file->atlas.image || to->role) return MODAL_OK;
    to->atlas = file->atlas;
    file->atlas = (modal_octree_atlas){0};
    const int64_t row = 4 * (int64_t)to->atlas.width;
    MODAL_TRY(modal_alloc(&to->texels, modal_mip_bytes(to->atlas.width, to->atlas.height), 1, "an image", err));
    for (int64_t y = 0; y < to->atlas.height; y++) memcpy(to->texels + y * row, to->atlas.image + (to->atlas.height - 1 - y) * row, (size_t)row);
    modal_free(&to->atlas.image);
    MODAL_TRY(modal_mip_make(MODAL_MIP_COLOURS, to->cutoff, to->atlas.width, to->atlas.height, to->texels, err));
done:
    return status;
}

/* on_ground: it is around the ground, which is no surface of the basis. */
static modal_status read_one(const modalrender_input *in, const char *name, int on_ground, double cutoff, modalrender_texture texture,
                             modalrender_solid *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_octree_file file = {0};
    char *path = NULL;
    const int role = to->role;
    int32_t n_wear;
    MODAL_TRY(tool_look_image(&in->look, name, &path, err));
    MODAL_TRY(modal_alloc(&to->wears, in->basis.n_shapes, 1, "textures", err));
    MODAL_TRY(tool_solid_texture_read(path, &in->basis, on_ground, &file, to->wears, &n_wear, err));
    modal_octree *o = &file.octree;
    to->name = name, to->cutoff = cutoff;
    if (o->channels != MODAL_OCTREE_RGBA8 && (role == 0 || o->channels != MODAL_OCTREE_FLOAT3))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %s need rgba8%s, not %s", name, role ? "normals" : "colours", role ? " or float3" : "",
                   modal_octree_channels_name(o->channels));
    if (o->normals != role)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %s, where %s are needed (/@content of octree.h5; modaltex paint --normals makes normals)", name,
                   role ? "colours or numbers" : "normals", role ? "normals" : "colours");
    if (role) MODAL_TRY(unpack_normals(o, err));
    if (!o->mipmaps) MODAL_TRY(modal_octree_make_mipmaps(o, err));
    if (cutoff >= 0) MODAL_TRY(modal_octree_keep_cover(o, cutoff, err));
    MODAL_TRY(modal_octree_pyramid_make(o, &to->pyramid, err));
    if (texture != MODALRENDER_OCTREE) MODAL_TRY(take_image(&file, to, err));
done:
    modal_octree_file_free(&file);
    modal_free(&path);
    return status;
}

/* The number of the texture, read where it is a new one. */
static modal_status find(const modalrender_request *r, modalrender_input *in, const modal_look_material *m, int role, int32_t *number, modal_error *err)
{
    const char *name = modal_look_solid(m, role);
    const double cutoff = role == 0 && m->alpha == MODAL_ALPHA_CUTOUT ? m->cutoff : -1;
    for (*number = 0; *number < in->n_solids; ++*number) {
        const modalrender_solid *s = &in->solids[*number];
        if (strcmp(s->name, name) == 0 && s->role == role && s->cutoff == cutoff) return MODAL_OK;
    }
    if (in->n_solids == MODAL_RENDER_SOLIDS)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: more than %d octree textures", name, MODAL_RENDER_SOLIDS);
    modalrender_solid *to = &in->solids[in->n_solids++];
    to->role = role;
    return read_one(in, name, m == in->look.look.materials + in->look.look.ground_material, cutoff, r->texture, to, err);
}

/* Where a material's texture holds an image of its colours, and the material has none: the image, by the texture's charts, which the ground
 * has not. */
static modal_status take_held(tool *t, const modalrender_request *r, modalrender_input *in, int32_t material, modal_error *err)
{
    const modal_look_material *m = &in->look.look.materials[material];
    int32_t *solids = in->solids_of_material[material], *images = in->textures.of_material[material];
    const modalrender_solid *solid = solids[0] >= 0 ? &in->solids[solids[0]] : NULL;
    in->charts_of_material[material] = -1;
    if (material == in->look.look.ground_material) {
        /* the texture itself */
    } else if (solid && solid->texels && images[0] < 0 && images[1] < 0) {
        images[0] = solid->image;
        in->charts_of_material[material] = solids[0];
    } else if (solid && solid->texels && images[0] < 0) {
        tool_warn(t, "material %s: the image in %s is not taken: %s needs the surface's texture coordinates", m->name, solid->name, modal_look_image(m, 1));
    }
    for (int role = 0; role < 2 && r->texture == MODALRENDER_ATLAS; role++) {
        if (solids[role] >= 0 && images[role] < 0)
            return modal_error_set(err, MODAL_ERROR_INPUT, "material %s: --texture atlas: no image of %s; modaltex bake makes one", m->name,
                                   in->solids[solids[role]].name);
        solids[role] = -1;
    }
    return MODAL_OK;
}

modal_status modalrender_read_solids(tool *t, const modalrender_request *r, modalrender_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_look *look = &in->look.look;
    const double start = tool_seconds();
    int64_t bytes = 0;
    int32_t n_held = 0;
    MODAL_TRY(modal_alloc_zero(&in->solids, MODAL_RENDER_SOLIDS, sizeof *in->solids, "textures", err));
    MODAL_TRY(modal_alloc(&in->solids_of_material, look->n_materials, sizeof *in->solids_of_material, "textures", err));
    MODAL_TRY(modal_alloc(&in->charts_of_material, look->n_materials, sizeof *in->charts_of_material, "textures", err));
    for (int32_t i = 0; i < look->n_materials; i++)
        for (int role = 0; role < 2; role++) {
            in->solids_of_material[i][role] = -1;
            if (modal_look_solid(&look->materials[i], role)) MODAL_TRY(find(r, in, &look->materials[i], role, &in->solids_of_material[i][role], err));
        }
    if (in->n_solids == 0) return MODAL_OK;
    for (int32_t i = 0; i < in->n_solids; i++) {
        modalrender_solid *s = &in->solids[i];
        s->image = s->texels ? in->textures.n_images + n_held++ : -1;
        in->scene_solids[i] = (modal_render_solid){&s->pyramid, s->wears, s->name, s->texels ? &s->atlas : NULL};
        bytes += modal_octree_pyramid_bytes(&s->pyramid);
    }
    for (int32_t i = 0; i < look->n_materials; i++) MODAL_TRY(take_held(t, r, in, i, err));
    in->images.n_solids = in->n_solids;
    in->images.solids = in->scene_solids;
    in->images.solids_of_material = (const int32_t(*)[2])in->solids_of_material;
    in->images.charts_of_material = in->charts_of_material;
    tool_stage(t, "textures", tool_seconds() - start, bytes);
done:
    return status;
}

void modalrender_free_solids(modalrender_input *in)
{
    for (int32_t i = 0; i < in->n_solids; i++) {
        modal_octree_pyramid_free(&in->solids[i].pyramid);
        modal_free(&in->solids[i].wears);
        modal_free(&in->solids[i].texels);
        modal_octree_atlas_free(&in->solids[i].atlas);
    }
    modal_free(&in->solids);
    modal_free(&in->solids_of_material);
    modal_free(&in->charts_of_material);
    in->n_solids = 0;
}
