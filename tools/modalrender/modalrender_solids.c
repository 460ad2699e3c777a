/* SPDX-License-Identifier: Apache-2.0 */
/* The octree textures of a look, as a scene takes them (lib/render/scene.h). */
#include <string.h>

#include "lib/base/memory.h"
#include "tools/common/solid_texture.h"
#include "tools/modalrender/modalrender.h"

modal_status modalrender_choose_textures(const modalrender_request *r, modal_look *look, modal_error *err)
{
    for (int32_t i = 0; i < look->n_materials && r->texture != MODALRENDER_AUTO; i++)
        for (int role = 0; role < 2; role++) {
            modal_look_material *m = &look->materials[i];
            const char *solid = modal_look_solid(m, role), *image = modal_look_image(m, role);
            if (r->texture == MODALRENDER_ATLAS && solid && !image)
                return modal_error_set(err, MODAL_ERROR_INPUT, "material %s: --texture atlas: no image beside %s; modaltex bake makes one", m->name, solid);
            if (!solid || !image) continue;
            if (r->texture == MODALRENDER_ATLAS) modal_free(role ? &m->normal_octree : &m->octree);
            else modal_free(role ? &m->normal_image : &m->image);
        }
    return MODAL_OK;
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

static modal_status read_one(const modalrender_input *in, const char *name, int role, modalrender_solid *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_octree_file file = {0};
    char *path = NULL;
    int32_t n_wear;
    MODAL_TRY(tool_look_image(&in->look, name, &path, err));
    MODAL_TRY(modal_alloc(&to->wears, in->basis.n_shapes, 1, "textures", err));
    MODAL_TRY(tool_solid_texture_read(path, &in->basis, &file, to->wears, &n_wear, err));
    modal_octree *o = &file.octree;
    if (o->channels != MODAL_OCTREE_RGBA8 && (role == 0 || o->channels != MODAL_OCTREE_FLOAT3))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %s need rgba8%s, not %s", name, role ? "normals" : "colours", role ? " or float3" : "",
                   modal_octree_channels_name(o->channels));
    if (role) MODAL_TRY(unpack_normals(o, err));
    if (!o->mipmaps) MODAL_TRY(modal_octree_make_mipmaps(o, err));
    MODAL_TRY(modal_octree_pyramid_make(o, &to->pyramid, err));
    to->name = name;
    to->role = role;
done:
    modal_octree_file_free(&file);
    modal_free(&path);
    return status;
}

/* The number of the texture, read where it is a new one. */
static modal_status find(modalrender_input *in, const char *name, int role, int32_t *number, modal_error *err)
{
    for (*number = 0; *number < in->n_solids; ++*number)
        if (strcmp(in->solids[*number].name, name) == 0 && in->solids[*number].role == role) return MODAL_OK;
    if (in->n_solids == MODAL_RENDER_SOLIDS)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: more than %d octree textures", name, MODAL_RENDER_SOLIDS);
    return read_one(in, name, role, &in->solids[in->n_solids++], err);
}

modal_status modalrender_read_solids(tool *t, modalrender_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_look *look = &in->look.look;
    const double start = tool_seconds();
    int64_t bytes = 0;
    MODAL_TRY(modal_alloc_zero(&in->solids, MODAL_RENDER_SOLIDS, sizeof *in->solids, "textures", err));
    MODAL_TRY(modal_alloc(&in->solids_of_material, look->n_materials, sizeof *in->solids_of_material, "textures", err));
    for (int32_t i = 0; i < look->n_materials; i++)
        for (int role = 0; role < 2; role++) {
            const char *name = modal_look_solid(&look->materials[i], role);
            in->solids_of_material[i][role] = -1;
            if (name) MODAL_TRY(find(in, name, role, &in->solids_of_material[i][role], err));
        }
    if (in->n_solids == 0) return MODAL_OK;
    for (int32_t i = 0; i < in->n_solids; i++) {
        const modalrender_solid *s = &in->solids[i];
        in->scene_solids[i] = (modal_render_solid){&s->pyramid, s->wears, s->name};
        bytes += modal_octree_pyramid_bytes(&s->pyramid);
    }
    in->images.n_solids = in->n_solids;
    in->images.solids = in->scene_solids;
    in->images.solids_of_material = (const int32_t(*)[2])in->solids_of_material;
    tool_stage(t, "textures", tool_seconds() - start, bytes);
done:
    return status;
}

void modalrender_free_solids(modalrender_input *in)
{
    for (int32_t i = 0; i < in->n_solids; i++) {
        modal_octree_pyramid_free(&in->solids[i].pyramid);
        modal_free(&in->solids[i].wears);
    }
    modal_free(&in->solids);
    modal_free(&in->solids_of_material);
    in->n_solids = 0;
}
