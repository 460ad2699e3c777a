/* SPDX-License-Identifier: Apache-2.0 */
/* The octree textures of a look, as a scene takes them (lib/render/scene.h). */
#include <string.h>

#include "lib/base/memory.h"
#include "tools/common/solid_texture.h"
#include "tools/modalrender/modalrender.h"

static modal_status read_one(const modalrender_input *in, const char *name, int role, modalrender_solid *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_octree_file file = {0};
    char *path = NULL;
    int32_t n_wear;
    MODAL_TRY(tool_look_image(&in->look, name, &path, err));
    MODAL_TRY(modal_alloc(&to->wears, in->basis.n_shapes, 1, "textures", err));
    MODAL_TRY(tool_solid_texture_read(path, &in->basis, &file, to->wears, &n_wear, err));
    if (file.octree.channels != MODAL_OCTREE_RGBA8 && (role == 0 || file.octree.channels != MODAL_OCTREE_FLOAT3))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %s need rgba8%s, not %s", name, role ? "normals" : "colours", role ? " or float3" : "",
                   modal_octree_channels_name(file.octree.channels));
    MODAL_TRY(modal_octree_tables_make(&file.octree, &to->tables, err));
    to->name = name;
done:
    modal_octree_file_free(&file);
    modal_free(&path);
    return status;
}

/* The number of the texture, read where it is a new one. */
static modal_status find(modalrender_input *in, const char *name, int role, int32_t *number, modal_error *err)
{
    for (*number = 0; *number < in->n_solids; ++*number)
        if (strcmp(in->solids[*number].name, name) == 0 && (role == 1 || in->solids[*number].tables.grid.channels == MODAL_OCTREE_RGBA8)) return MODAL_OK;
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
    for (int32_t i = 0; i < look->n_materials; i++)
        for (int role = 0; role < 2; role++) {
            const char *name = role ? look->materials[i].normal_image : look->materials[i].image;
            int32_t number;
            if (!modal_look_is_solid(name)) continue;
            MODAL_TRY(find(in, name, role, &number, err));
            in->textures.of_material[i][role] = -2 - number;
        }
    if (in->n_solids == 0) return MODAL_OK;
    for (int32_t i = 0; i < in->n_solids; i++) {
        const modalrender_solid *s = &in->solids[i];
        in->scene_solids[i] = (modal_render_solid){&s->tables, s->wears, s->name};
        bytes += modal_octree_tables_bytes(&s->tables);
    }
    in->images.n_solids = in->n_solids;
    in->images.solids = in->scene_solids;
    tool_stage(t, "textures", tool_seconds() - start, bytes);
done:
    return status;
}

void modalrender_free_solids(modalrender_input *in)
{
    for (int32_t i = 0; i < in->n_solids; i++) {
        modal_octree_tables_free(&in->solids[i].tables);
        modal_free(&in->solids[i].wears);
    }
    in->n_solids = 0;
}
