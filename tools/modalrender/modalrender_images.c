/* SPDX-License-Identifier: Apache-2.0 */
/* The images of a look, decoded, as a scene takes them (lib/render/scene.h): first those of files, then those that octree textures hold. */
#include "lib/base/memory.h"
#include "lib/texture/mips.h"
#include "tools/modalrender/modalrender.h"

/* The arrays of modal_render_images while they are filled. */
typedef struct image_list {
    modal_paint_image *images;
    modal_paint_level *levels;
    const uint8_t **parts;
    int64_t *part_texels;
    int64_t n_texels;
} image_list;

static modal_status make_room(const modal_textures *textures, const modalrender_input *in, modal_render_images *to, image_list *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t n_levels = 0, n_held = 0;
    for (int32_t i = 0; i < textures->n_images; i++) n_levels += textures->classes[textures->images[i].class].n_levels;
    for (int32_t i = 0; i < in->n_solids; i++) n_held += in->solids[i].texels != NULL;
    MODAL_TRY(modal_alloc(&l->images, textures->n_images + n_held, sizeof *l->images, "images", err));
    to->images = l->images;
    MODAL_TRY(modal_alloc(&l->levels, n_levels + MODAL_MIP_LEVELS * n_held, sizeof *l->levels, "images", err));
    to->levels = l->levels;
    MODAL_TRY(modal_alloc(&l->parts, textures->n_classes + n_held, sizeof *l->parts, "images", err));
    to->parts = l->parts;
    MODAL_TRY(modal_alloc(&l->part_texels, textures->n_classes + n_held, sizeof *l->part_texels, "images", err));
    to->part_texels = l->part_texels;
done:
    return status;
}

/* A class is a part; layers of a level stand one after the other. */
static void add_class(const modal_textures *textures, int32_t k, modal_render_images *to, image_list *l)
{
    const modal_texture_class *class = &textures->classes[k];
    int64_t texels = 0;
    for (int i = 0, w = class->width, h = class->height; i < class->n_levels; i++, w = w > 1 ? w / 2 : 1, h = h > 1 ? h / 2 : 1) texels += (int64_t)w * h;
    for (int32_t i = 0; i < textures->n_images; i++) {
        if (textures->images[i].class != k) continue;
        int64_t at = l->n_texels;
        l->images[i] = (modal_paint_image){to->n_levels, class->n_levels};
        for (int n = 0, w = class->width, h = class->height; n < class->n_levels; n++, w = w > 1 ? w / 2 : 1, h = h > 1 ? h / 2 : 1) {
            l->levels[to->n_levels++] = (modal_paint_level){at + (int64_t)textures->images[i].layer * w * h, w, h};
            at += (int64_t)w * h * class->n_layers;
        }
    }
    l->parts[to->n_parts] = class->levels[0], l->part_texels[to->n_parts++] = texels * class->n_layers;
    l->n_texels += texels * class->n_layers;
}

/* The image that an octree texture holds is a part by itself. */
static void add_held(const modalrender_solid *solid, modal_render_images *to, image_list *l)
{
    int32_t widths[MODAL_MIP_LEVELS], heights[MODAL_MIP_LEVELS];
    const int n_levels = modal_mip_sizes(solid->atlas.width, solid->atlas.height, widths, heights);
    int64_t at = l->n_texels;
    l->images[solid->image] = (modal_paint_image){to->n_levels, n_levels};
    for (int i = 0; i < n_levels; at += (int64_t)widths[i] * heights[i], i++) l->levels[to->n_levels++] = (modal_paint_level){at, widths[i], heights[i]};
    l->parts[to->n_parts] = solid->texels, l->part_texels[to->n_parts++] = at - l->n_texels;
    l->n_texels = at;
}

modal_status modalrender_read_images(tool *t, const modalrender_request *r, modalrender_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_textures *textures = &in->textures;
    modal_render_images *to = &in->images;
    image_list list = {0};
    int any = 0;
    const double start = tool_seconds();
    modalrender_choose_textures(r, &in->look.look);
    for (int32_t i = 0; i < 2 * in->look.look.n_materials; i++)
        any |= modal_look_image(&in->look.look.materials[i / 2], i % 2) || modal_look_solid(&in->look.look.materials[i / 2], i % 2);
    if (!any) return MODAL_OK;
    MODAL_TRY(tool_textures_make(&in->look, 0, NULL, r->threads, r->memory_limit, &t->progress, textures, err));
    tool_stage(t, "images", tool_seconds() - start, -1);
    MODAL_TRY(modalrender_read_solids(t, r, in, err));
    MODAL_TRY(make_room(textures, in, to, &list, err));
    for (int32_t k = 0; k < textures->n_classes; k++) add_class(textures, k, to, &list);
    to->n_images = textures->n_images;
    for (int32_t i = 0; i < in->n_solids; i++) {
        if (!in->solids[i].texels) continue;
        add_held(&in->solids[i], to, &list);
        to->n_images++;
    }
    to->of_material = (const int32_t(*)[2])textures->of_material;
done:
    if (status != MODAL_OK) modalrender_free_images(in);
    return status;
}

void modalrender_free_images(modalrender_input *in)
{
    void *all[] = {(void *)(uintptr_t)in->images.images, (void *)(uintptr_t)in->images.levels, (void *)(uintptr_t)in->images.parts,
                   (void *)(uintptr_t)in->images.part_texels}; /* ours */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) modal_free(&all[i]);
    in->images = (modal_render_images){0};
    modalrender_free_solids(in);
    modal_textures_free(&in->textures);
}
